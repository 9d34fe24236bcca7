"""A study from its file to its results: planned, examined, run, reported."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rich.console import Console

from tameshi import guard, outputs, store
from tameshi.bindings import Bindings
from tameshi.preflight import Examined, examine
from tameshi.run.dispatcher import Session, Task, run_all, tasks_of
from tameshi.run.display import for_console
from tameshi.spec_types import Plan, World
from tameshi.store import SealedRun
from tameshi.study import StudyFile, plan


@dataclass(frozen=True)
class Prepared:
    """A study that can be run here: nothing has been created yet."""

    study: StudyFile
    plans: Mapping[World, Plan]
    examined: Mapping[World, Examined]

    def tasks(self) -> list[Task]:
        """Every run of every world."""
        return [
            task
            for world, planned in self.plans.items()
            for task in tasks_of(self.examined[world], planned.runs)
        ]


@dataclass(frozen=True)
class Conducted:
    """What became of a study."""

    runs: Sequence[SealedRun]
    complete: bool
    interrupted: bool


def prepare(
    study: StudyFile, worlds: Sequence[World], bindings: Bindings, *, quick: bool
) -> Prepared:
    """Plan and examine every world; raises for what can't be, and creates nothing."""
    plans = {world: plan(study, world.value, quick=quick) for world in worlds}
    where = str(study.path)
    examined = {world: examine(planned, world, bindings, where) for world, planned in plans.items()}
    return Prepared(study, plans, examined)


def conduct(
    prepared: Prepared, folder: Path, console: Console, *, jobs: int, reproduce: Sequence[str]
) -> Conducted:
    """Run what remains of a study in its folder; results.json is rewritten after each run."""
    tasks = prepared.tasks()
    summary = next(iter(prepared.plans.values())).study
    with store.locked_study(folder) as lock:
        guard.write_file(folder / "study.toml", prepared.study.text.encode())
        outputs.write_summary(folder, summary, reproduce)
        outputs.write_order(folder, [task.identity for task in tasks])

        def sealed() -> None:
            outputs.write_results(folder, summary, outputs.read_runs(folder))

        session = Session(folder, lock, for_console(console), sealed)
        runs = _under_signals(session, tasks, jobs)
    complete = len(runs) == len(tasks)
    complete = complete and all(run.outcome["status"] == "complete" for run in runs)
    return Conducted(runs, complete, session.stopping.is_set())


def _under_signals(session: Session, tasks: Sequence[Task], jobs: int) -> list[SealedRun]:
    """Ctrl-C and SIGTERM stop gently; a second Ctrl-C stops at once."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        session.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return run_all(session, tasks, jobs)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        session.display.close()


def remove_targets(examined: Iterable[Examined]) -> None:
    """Remove the files that stood for storages: they are ours, and hold nothing of worth."""
    for world in examined:
        for target in world.targets.values():
            if target.ours and target.path.exists():
                guard.remove_target(target.path)
        for place in world.databases.values():
            place.remove()
