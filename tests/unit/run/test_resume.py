"""Resume of a study: kept runs, and runs made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tameshi.core import compiled
from tameshi.core.environment import environment
from tameshi.core.spec_types import World
from tameshi.record import store
from tameshi.record.events import append_event
from tameshi.run import dispatcher, preflight
from tameshi.run.dispatcher import Session, run_all
from tameshi.run.display import for_console
from tameshi.run.tasks import Task, tasks_of
from tameshi.study.bindings import Bindings
from tameshi.study.file import read_study
from tameshi.workflow.prepare import prepare

STUDY = """
title = "Resumed"
question = "Which runs remain?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
until = { time = "120 ms" }
[run]
repetitions = 2
"""
WORLDS = (World.simulated, World.measured)


@dataclass
class Resumed:
    """Study folder whose runs this test seals without executing them."""

    study: Path
    folder: Path
    target: Path
    made: list[str] = field(default_factory=list)
    """Identities of the runs that the last resume made."""
    status: str = "complete"
    """Final status of a run."""

    def tasks(self, world: World) -> list[Task]:
        """Return the runs of the study as `tameshi run` plans them on this machine."""
        storage = {"disk": self.target} if world is World.measured else {}
        prepared = prepare(read_study(self.study), [world], Bindings(storage), quick=False)
        return tasks_of(prepared.examined[world], prepared.plans[world].runs)

    def resume(self, world: World = World.simulated) -> list[str]:
        """Run what remains; return the statuses of all runs."""
        self.made.clear()
        session = Session(self.folder, -1, for_console(Console(file=StringIO())), lambda: None)
        runs = run_all(session, self.tasks(world), jobs=1)
        return [run.outcome["status"] for run in runs]

    def seal(self, _session: Session, task: Task) -> None:
        """Replace `run_one`."""
        folder = store.run_folder(self.folder, task.identity)
        store.begin_run(folder, task.spec, task.identity, task.examined.environment)
        append_event(folder, 0, "run_end", status=self.status, digest=None)
        store.seal(folder)
        self.made.append(task.identity)


def test_spec_of_an_older_record_is_read_without_its_refusals(resumed: Resumed) -> None:
    task = resumed.tasks(World.simulated)[0]
    folder = store.run_folder(resumed.folder, task.identity)
    store.begin_run(folder, task.spec, task.identity, {})
    older = json.loads((folder / "spec.json").read_bytes()) | {"unsupported": []}
    (folder / "spec.json").write_text(json.dumps(older))
    append_event(folder, 0, "run_end", status="complete", digest=None)
    assert store.seal(folder).spec == task.spec
    run = store.read_run(folder)
    assert run is not None and run.spec == task.spec


@pytest.fixture
def resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resumed:
    """Make a study of two runs without any record."""
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    (tmp_path / "disk").mkdir()
    made = Resumed(study, tmp_path / "results", tmp_path / "disk")
    monkeypatch.setattr(dispatcher, "run_one", made.seal)
    return made


@pytest.fixture
def on_machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change facts of the machine for the preflight: keys of `environment()`."""

    def changed(facts: Mapping[str, Any], machine: Mapping[str, Any]) -> None:
        def found(targets: Sequence[Path]) -> dict[str, Any]:
            here = environment(targets)
            return {**here, **facts, "machine": {**here["machine"], **machine}}

        monkeypatch.setattr(preflight, "environment", found)

    return changed


@pytest.mark.parametrize("world", WORLDS)
def test_complete_run_is_kept_on_resume(resumed: Resumed, world: World) -> None:
    assert resumed.resume(world) == ["complete"] * 2 and len(resumed.made) == 2
    assert resumed.resume(world) == ["complete"] * 2 and resumed.made == []


@pytest.mark.parametrize("status", ["partial", "failed"])
@pytest.mark.parametrize("world", WORLDS)
def test_unfinished_run_is_made_again_on_resume(
    resumed: Resumed, world: World, status: str
) -> None:
    resumed.status = status
    assert resumed.resume(world) == [status] * 2
    before = list(resumed.made)
    resumed.status = "complete"
    assert resumed.resume(world) == ["complete"] * 2
    assert sorted(resumed.made) == sorted(before)


@pytest.mark.parametrize("world", WORLDS)
def test_interrupted_run_is_made_again_on_resume(resumed: Resumed, world: World) -> None:
    resumed.resume(world)
    cut_short = resumed.made[0]
    (store.run_folder(resumed.folder, cut_short) / "outcome.json").unlink()
    assert resumed.resume(world) == ["complete"] * 2
    assert resumed.made == [cut_short]


@pytest.mark.parametrize("world", WORLDS)
def test_run_of_another_core_is_made_again(
    resumed: Resumed, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    resumed.resume(world)
    before = set(resumed.made)
    monkeypatch.setattr(compiled, "core_hash", lambda: "0" * 16)
    resumed.resume(world)
    assert len(resumed.made) == 2 and before.isdisjoint(resumed.made)


def test_run_on_another_target_is_made_again(resumed: Resumed, tmp_path: Path) -> None:
    resumed.resume(World.measured)
    before = set(resumed.made)
    resumed.target = tmp_path / "other"
    resumed.target.mkdir()
    resumed.resume(World.measured)
    assert len(resumed.made) == 2 and before.isdisjoint(resumed.made)


@pytest.mark.parametrize(
    ("facts", "machine"),
    [
        ({"kernel": "1.0"}, {}),
        ({}, {"cpu_model": "another"}),
        ({}, {"cpus": 999}),
        ({}, {"memory_bytes": 1 << 20}),
    ],
)
def test_run_on_another_machine_is_made_again(
    resumed: Resumed, on_machine: Callable[..., None], facts: Any, machine: Any
) -> None:
    resumed.resume(World.measured)
    before = set(resumed.made)
    on_machine(facts, machine)
    resumed.resume(World.measured)
    assert len(resumed.made) == 2 and before.isdisjoint(resumed.made)


def test_simulated_run_of_another_machine_is_kept(
    resumed: Resumed, on_machine: Callable[..., None]
) -> None:
    resumed.resume()
    on_machine({"kernel": "1.0"}, {"cpu_model": "another"})
    resumed.resume()
    assert resumed.made == []


def test_runs_of_a_changed_spec_are_made_again(resumed: Resumed) -> None:
    resumed.resume()
    before = set(resumed.made)
    resumed.study.write_text(STUDY.replace('"120 ms"', '"121 ms"'))
    resumed.resume()
    assert len(resumed.made) == 2 and before.isdisjoint(resumed.made)
