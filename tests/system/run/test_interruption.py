"""Ctrl-C, kill -9 and resume: a folder always reads back, and a resumed study is equal."""

import json
import os
import random
import signal
import time
from pathlib import Path

import psutil
import pytest
from command import (
    SMALL,
    codes,
    digests,
    kill_group,
    outcomes,
    results,
    start,
    tameshi,
    tameshi_process,
    wait_until,
)

from tameshi.record import store
from tameshi.record.events import read_events

LONG = SMALL.replace('"120 ms"', '"400 s"').replace('interval = "10 ms"', 'interval = "10 s"')
"""Minutes of a modelled disk's work: about a second of real time per run."""
WHILE = {"simulated": LONG, "measured": SMALL.replace('"120 ms"', '"400 ms"')}


def readable(out: Path) -> None:
    """Read back every file of a study folder after an interruption."""
    for folder in out.glob("runs/*"):
        run = store.read_run(folder)
        if run:
            run.series()
            run.latencies()
        else:
            read_events(folder)
    for name in ("results.json", "order.json", "summary.json"):
        if (out / name).exists():
            json.loads((out / name).read_text())


def killed_and_resumed(
    study: Path, options: list[str], out: Path, kills: int, rng: random.Random
) -> None:
    """Kill the study this often at random times, then let it finish."""
    begun = time.monotonic()
    timed = tameshi_process("run", study, *options, "--out", out.with_name("timed"))
    assert timed.returncode == 0, timed.stderr
    length = time.monotonic() - begun
    for _ in range(kills):
        process = start("run", study, *options, "--out", out)
        try:
            process.wait(timeout=rng.uniform(0, length))
        except Exception:
            kill_group(process)
        readable(out)
    for _ in range(200):
        done = tameshi("run", study, *options, "--out", out)
        if "another run of Tameshi" not in done.stderr:
            break
        time.sleep(0.05)
    assert done.returncode == 0, done.stderr
    readable(out)


def assert_resumes(study, tmp_path: Path, kills: int, seed: int) -> None:
    path = study(LONG)
    out = tmp_path / "killed"
    killed_and_resumed(path, [], out, kills, random.Random(seed))
    undisturbed = tmp_path / "timed"
    assert digests(out) == digests(undisturbed)
    assert (out / "results.json").read_bytes() == (undisturbed / "results.json").read_bytes()


def test_killed_simulated_study_resumes_to_same_digests(study, tmp_path):
    assert_resumes(study, tmp_path, kills=4, seed=1)


@pytest.mark.soak
def test_study_survives_twenty_random_kills(study, tmp_path):
    assert_resumes(study, tmp_path, kills=20, seed=2)


def test_killed_measured_study_resumes(study, tmp_path):
    options = ["--world", "measured", f"--on=disk={tmp_path}"]
    killed_and_resumed(study(WHILE["measured"]), options, tmp_path / "out", 3, random.Random(3))
    cells = results(tmp_path / "out")["cells"]
    assert [c["runs"]["complete"] for c in cells] == [2] * 4


@pytest.mark.parametrize("world", ["simulated", "measured"])
def test_ctrl_c_leaves_partial_result_that_resumes(study, tmp_path, world):
    text = WHILE[world].replace('"400 s"', '"80000 s"').replace('"400 ms"', '"4 s"')
    path, out = study(text.replace("repetitions = 2", "repetitions = 1")), tmp_path / "out"
    options = ["--world", world, *([f"--on=disk={tmp_path}"] if world == "measured" else [])]
    process = start("run", path, *options, "--out", out, "--jobs", "1")
    lines = '"phase_ramped"'
    wait_until(
        lambda: any(lines in p.read_text() for p in out.glob("runs/*/events.jsonl")), process
    )
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    printed, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "the same command resumes" in errors
    assert "Report:" in printed
    statuses = [outcome["status"] for outcome in outcomes(out)]
    assert statuses == ["partial"]
    cells = results(out)["cells"]
    assert cells[0]["estimates"]
    assert cells[0]["verdict"]["level"] != "valid"
    assert "stopped" in codes(cells[0]["verdict"])
    readable(out)


def test_ctrl_c_while_a_worker_starts_fails_no_run(study, tmp_path):
    path, out = study(LONG), tmp_path / "out"
    process = start("run", path, "--out", out, "--jobs", "1")
    wait_until(lambda: any(out.glob("runs/*/environment.json")), process)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "failed" not in errors and "failed" not in [o["status"] for o in outcomes(out)]
    done = tameshi("run", path, "--out", out)
    assert done.returncode == 0, done.stderr
    assert [outcome["status"] for outcome in outcomes(out)] == ["complete"] * 4


def test_killed_worker_fails_its_run_and_others_continue(study, tmp_path):
    out = tmp_path / "out"
    process = start("run", study(LONG), "--out", out, "--jobs", "1")
    wait_until(
        lambda: any('"phase_begin"' in p.read_text() for p in out.glob("runs/*/events.jsonl")),
        process,
    )
    (server,) = psutil.Process(process.pid).children()
    (worker,) = server.children()
    worker.kill()
    _, errors = process.communicate()
    assert process.returncode == 1
    statuses = sorted(outcome["status"] for outcome in outcomes(out))
    assert statuses == ["complete"] * 3 + ["failed"]
    assert "was killed by signal 9" in errors
    assert tameshi("run", study(LONG), "--out", out).returncode == 0
    assert [outcome["status"] for outcome in outcomes(out)] == ["complete"] * 4


def test_two_runs_do_not_share_a_folder(study, tmp_path):
    out = tmp_path / "out"
    process = start("run", study(LONG), "--out", out)
    wait_until(lambda: any(out.glob("runs/*/events.jsonl")), process)
    second = tameshi("run", study(LONG), "--out", out)
    process.communicate()
    assert second.returncode == 2
    assert "another run of Tameshi works in this folder" in second.stderr


def test_the_check_for_readable_folders_can_fail(study, tmp_path):
    """A canary: detect a torn outcome, which no kill may leave."""
    out = tmp_path / "out"
    assert tameshi("run", study(), "--out", out).returncode == 0
    outcome = next(out.glob("runs/*/outcome.json"))
    outcome.write_text(outcome.read_text()[:-20])
    with pytest.raises(store.DamagedRun):
        readable(out)
