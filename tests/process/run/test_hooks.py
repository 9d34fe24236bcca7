"""Commands of the user at their times in a measured run."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from command import SMALL, outcomes, tameshi

from tameshi import guard
from tameshi.core.errors import BadInput
from tameshi.record.events import read_events
from tameshi.run.hooks import Hook, Hooks
from tameshi.study.bindings import read_bindings

STUDY = (
    SMALL.replace("repetitions = 2", "repetitions = 1").replace('["0 %", "100 %"]', '["100 %"]')
    + '[event.fail_member]\nat = "30 ms"\nphase = "p"\nfail = { member = 0 }\n'
)
SECOND_NS = 10**9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    guard.claim_folder(tmp_path / "run")
    return tmp_path / "run"


def measured(study: Path, tmp_path: Path, *options: str) -> list[str]:
    study.write_text(STUDY)
    place = ["--world", "measured", f"--on=disk={tmp_path}", "--out", str(tmp_path / "out")]
    return ["run", str(study), *place, *options]


def events(out: Path) -> list[dict]:
    (path,) = out.glob("runs/*/events.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_bound_command_runs_at_its_time_in_its_phase(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = f"sh -c 'echo $TAMESHI_EVENT; touch {mark}'"
    done = tameshi(*measured(tmp_path / "s.toml", tmp_path, f"--event=fail_member={command}"))
    assert done.returncode == 0, done.stderr
    assert mark.exists() and "fail_member runs sh -c" in done.stdout
    assert "can't be run" not in done.stdout, "a bound event is no refusal"
    kinds = events(tmp_path / "out")
    begin = next(event["t_ns"] for event in kinds if event["kind"] == "phase_begin")
    (hook,) = [event for event in kinds if event["kind"] == "hook_begin"]
    assert hook["event"] == "fail_member" and hook["t_ns"] >= begin + 30_000_000
    assert [event["status"] for event in kinds if event["kind"] == "hook_end"] == [0]
    (log,) = (tmp_path / "out").glob("runs/*/hooks.log")
    assert log.read_text() == "fail_member\n"
    assert [outcome["status"] for outcome in outcomes(tmp_path / "out")] == ["complete"]


def test_a_command_that_fails_fails_the_run(tmp_path: Path) -> None:
    done = tameshi(*measured(tmp_path / "s.toml", tmp_path, "--event=fail_member=sh -c 'exit 3'"))
    assert done.returncode == 1
    (outcome,) = outcomes(tmp_path / "out")
    assert outcome["status"] == "failed"
    assert (
        "event `fail_member`: its command ended with status 3"
        in outcome["reason"]["values"]["text"]
    )


def test_event_without_command_says_how_to_bind(tmp_path: Path) -> None:
    done = tameshi(*measured(tmp_path / "s.toml", tmp_path))
    assert done.returncode == 2 and "--event fail_member=COMMAND" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_no_study_names_a_command(tmp_path: Path) -> None:
    options = measured(tmp_path / "s.toml", tmp_path, "--event=fail_member=true")
    named = STUDY.replace("fail = { member = 0 }", f'command = ["touch", "{tmp_path}/x"]')
    (tmp_path / "s.toml").write_text(named)
    done = tameshi(*options)
    assert done.returncode == 2 and "no study names a command" in done.stderr.replace("\n", " ")
    assert not (tmp_path / "out").exists() and not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--event=other=true"], "the study names no such event"),
        (["--event=fail_member=no-such-program-here x"], "there is no such program to run"),
        (["--event=fail_member=sh 'x"], "this command can't be read"),
    ],
)
def test_invalid_binding_is_bad_input(tmp_path: Path, options: list[str], said: str) -> None:
    done = tameshi(*measured(tmp_path / "s.toml", tmp_path, *options))
    assert done.returncode == 2 and said in done.stderr.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_a_bindings_file_may_name_a_command_and_an_option_wins(tmp_path: Path) -> None:
    file = tmp_path / "bindings.toml"
    file.write_text('[event]\na = "true one two"\nb = "true"\n')
    bound = read_bindings(file, [], [], ["b=false"])
    assert bound.event == {"a": ("true", "one", "two"), "b": ("false",)}
    file.write_text('[event]\na = ["true"]\n')
    with pytest.raises(BadInput, match="a binding is a string"):
        read_bindings(file, [], [])


# --- Without a run -----------------------------------------------------------------------------


def ended(folder: Path, hook: Hook, seconds: float = 0, *, stopped: bool = False) -> list[dict]:
    with Hooks(folder, time.monotonic_ns(), [hook], lambda: stopped):
        time.sleep(seconds)
    return read_events(folder)


def test_command_outlasting_run_is_killed_and_fails_run(folder: Path) -> None:
    failure = ended(folder, Hook("slow", 0, None, ("sleep", "600")), 0.3)
    assert [event["kind"] for event in failure] == ["hook_begin", "hook_end", "error"]
    assert failure[1]["status"] == -9 and "outlasted the run" in failure[2]["message"]


@pytest.mark.parametrize("phases", [None, (7,)])
def test_event_after_run_end_fails_the_run(folder: Path, phases: tuple[int, ...] | None) -> None:
    (error,) = ended(folder, Hook("late", 600 * SECOND_NS, phases, ("true",)))
    assert error["kind"] == "error" and "ended before its time" in error["message"]


def test_stop_by_user_is_no_failure(folder: Path) -> None:
    assert ended(folder, Hook("late", 600 * SECOND_NS, None, ("true",)), stopped=True) == []
