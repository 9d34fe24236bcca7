"""A study from its file to its results: planned, examined, run, reported."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from tameshi import _core, guard, outputs, searches, store
from tameshi.bindings import Bindings
from tameshi.errors import BadInput
from tameshi.preflight import Examined, examine
from tameshi.results import results
from tameshi.run.dispatcher import Session, Task, run_all, tasks_of
from tameshi.run.display import for_console
from tameshi.spec_types import Plan, Summary, World
from tameshi.store import SealedRun
from tameshi.study import StudyFile, plan

REST = 49
"""While runs end, results rest for so many times as long as they took to make."""


@dataclass(frozen=True)
class Prepared:
    """A study that can be run here: nothing has been created yet.

    `rates`: those that its search has come to, by world.
    """

    study: StudyFile
    plans: Mapping[World, Plan]
    examined: Mapping[World, Examined]
    quick: bool = False
    exact: bool = False
    rates: Mapping[World, _core.Rates] = field(default_factory=dict)

    def tasks(self) -> list[Task]:
        """Every run of every world."""
        return [
            task
            for world, planned in self.plans.items()
            for task in tasks_of(self.examined[world], planned.runs)
        ]

    @property
    def summary(self) -> Summary:
        """The study's, with the rates of every world as levels."""
        first, *others = (planned.study for planned in self.plans.values())
        axes = {axis.name: axis for axis in first.axes}
        for axis in (axis for other in others for axis in other.axes):
            known = axes.setdefault(axis.name, axis)
            levels = {*known.levels, *axis.levels}
            if levels != set(known.levels):
                axes[axis.name] = axis.model_copy(update={"levels": sorted(levels, key=float)})
        return first.model_copy(update={"axes": list(axes.values())})

    def searched(self, runs: Sequence[SealedRun]) -> Prepared | None:
        """What follows from the runs of a search; None when it is over, or there is none."""
        rates = dict(self.rates)
        for world, planned in self.plans.items():
            mine = [run for run in runs if run.spec.world is world]
            cells = results(planned.study, mine)["cells"] if planned.study.search else ()
            found = searches.next_rates(planned.study, cells, planned.runs)
            before = self.rates.get(world, {})
            rates[world] = {
                cell: sorted({*of, *before.get(cell, ())}) for cell, of in found.items()
            }
        if all(rates.get(world, {}) == self.rates.get(world, {}) for world in self.plans):
            return None
        plans = {
            world: plan(
                self.study, world.value, quick=self.quick, rates=rates[world], exact=self.exact
            )
            for world in self.plans
        }
        return replace(self, plans=plans, rates=rates)


@dataclass(frozen=True)
class Conducted:
    """What became of a study; `results` is what its results.json holds."""

    runs: Sequence[SealedRun]
    results: dict[str, Any]
    complete: bool
    interrupted: bool


class Pace:
    """When results are made anew while runs end: of many runs, they would take most of the time."""

    def __init__(self) -> None:
        self._next_s = 0.0

    def keep(self, work: Callable[[], object]) -> None:
        """Do it, unless it was done a moment ago for what it takes."""
        begin_s = time.monotonic()
        if begin_s >= self._next_s:
            work()
            end_s = time.monotonic()
            self._next_s = end_s + REST * (end_s - begin_s)


def prepare(
    study: StudyFile,
    worlds: Sequence[World],
    bindings: Bindings,
    *,
    quick: bool,
    exact: bool = False,
) -> Prepared:
    """Plan and examine every world; raises for what can't be, and creates nothing."""
    plans = {world: plan(study, world.value, quick=quick, exact=exact) for world in worlds}
    examined = {world: examine(planned, world, bindings, study) for world, planned in plans.items()}
    return Prepared(study, plans, examined, quick, exact)


def refuse_other(folder: Path, study: StudyFile) -> None:
    """Raises `BadInput` where a folder holds another study's results: by its name and its text.

    A study that was changed goes on in its folder, and so does one under another name.
    """
    if not (folder / outputs.SUMMARY).exists():
        return
    held = outputs.read_summary(folder)[0]
    text = folder / "study.toml"
    if held.name == study.name or (text.exists() and text.read_text("utf-8") == study.text):
        return
    raise BadInput(
        f"this folder holds the results of another study than `{study.name}`",
        where=str(folder),
        found=f"`{held.name}`, {held.title}",
        accepted=["a folder of its own, with --out"],
        hint="--fresh removes what the folder holds.",
    )


def conduct(
    prepared: Prepared, folder: Path, console: Console, *, jobs: int, reproduce: Sequence[str]
) -> Conducted:
    """Run what remains of a study in its folder; results.json is rewritten as runs end.

    A search goes on until the runs lead to no further rate.
    """
    current = prepared
    with store.locked_study(folder) as lock:
        refuse_other(folder, prepared.study)
        guard.write_file(folder / "study.toml", prepared.study.text.encode())

        pace = Pace()

        def refresh() -> dict[str, Any]:
            return outputs.write_results(folder, current.summary, outputs.read_runs(folder))

        session = Session(folder, lock, for_console(console), lambda: pace.keep(refresh))

        def work() -> list[SealedRun]:
            nonlocal current
            while True:
                tasks = current.tasks()
                outputs.write_summary(folder, current.summary, reproduce)
                outputs.write_order(folder, [task.identity for task in tasks])
                runs = run_all(session, tasks, jobs)
                following = None if session.stopping.is_set() else current.searched(runs)
                if following is None:
                    return runs
                current = following

        runs = _under_signals(session, work)
        found = refresh()
    complete = len(runs) == len(current.tasks())
    complete = complete and all(run.outcome["status"] == "complete" for run in runs)
    return Conducted(runs, found, complete, session.stopping.is_set())


def _under_signals(session: Session, work: Callable[[], list[SealedRun]]) -> list[SealedRun]:
    """Ctrl-C and SIGTERM stop gently; a second Ctrl-C stops at once."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        session.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        return work()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        session.display.close()


def remove_targets(examined: Iterable[Examined]) -> None:
    """Remove the files that stood for storages: they are ours, and hold nothing of worth."""
    for world in examined:
        for target in world.targets.values():
            if isinstance(target, guard.DirectoryPlan):
                target.remove()
            elif target.ours and target.path.exists():
                guard.remove_target(target.path)
        for place in world.databases.values():
            place.remove()
