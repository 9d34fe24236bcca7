"""Execution of a prepared study: runs, search, report."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from tameshi import guard
from tameshi.analysis import load_search
from tameshi.analysis.results import results
from tameshi.core.errors import BadInput
from tameshi.record import store
from tameshi.record.packs import Packs, StoredRuns
from tameshi.record.seal import PACKS
from tameshi.record.store import SealedRun
from tameshi.run.dispatcher import Elsewhere, Session, run_all
from tameshi.run.display import Display, for_console
from tameshi.run.emulation import DATA_SETS
from tameshi.run.preflight import Examined
from tameshi.run.tasks import Task, tasks_of
from tameshi.servers.private import Kept
from tameshi.study.file import StudyFile
from tameshi.workflow import study_folder
from tameshi.workflow.packing import Packing
from tameshi.workflow.prepare import Prepared, on_host
from tameshi.workflow.record_forms import FOLDERS, PARQUET

REST = 49
"""Results are rewritten after at least this multiple of their own computing time."""


@dataclass(frozen=True)
class Conducted:
    """Outcome of a study; `results` is the content of results.json."""

    runs: Sequence[SealedRun]
    """Of a packed study, read when they are used."""
    results: dict[str, Any]
    complete: bool
    interrupted: bool
    kept: Sequence[Kept] = ()
    """Databases that were left on their storages."""


class Pace:
    """Rate limit on rewriting results while runs end, which would take most of the time with many
    runs."""

    def __init__(self) -> None:
        self._next_s = 0.0

    def keep(self, work: Callable[[], object]) -> None:
        """Rewrite the results, unless the last time was too recent."""
        begin_s = time.monotonic()
        if begin_s >= self._next_s:
            work()
            end_s = time.monotonic()
            self._next_s = end_s + REST * (end_s - begin_s)


def tasks(prepared: Prepared) -> list[Task]:
    """Return every run of every world, or of every host."""
    if prepared.hosts:
        (planned,) = prepared.plans.values()
        return [
            task
            for host, examined in prepared.hosts.items()
            for task in tasks_of(examined, [on_host(run, host) for run in planned.runs])
        ]
    return [
        task
        for world, planned in prepared.plans.items()
        for task in tasks_of(prepared.examined[world], planned.runs)
    ]


def searched(prepared: Prepared, runs: Sequence[SealedRun]) -> Prepared | None:
    """Return the next step of a search after these runs; None if it is finished or absent."""
    if not any(planned.study.search for planned in prepared.plans.values()):
        return None
    rates = dict(prepared.rates)
    for world, planned in prepared.plans.items():
        mine = [run for run in runs if run.spec.world is world]
        cells = results(planned.study, mine)["cells"] if planned.study.search else ()
        next_rates = load_search.next_rates(planned.study, cells, planned.runs)
        before = prepared.rates.get(world, {})
        rates[world] = {
            cell: sorted({*values, *before.get(cell, ())}) for cell, values in next_rates.items()
        }
    if all(rates.get(world, {}) == prepared.rates.get(world, {}) for world in prepared.plans):
        return None
    return prepared.at_rates(rates)


def refuse_other(folder: Path, study: StudyFile, *, quick: bool = False) -> None:
    """Raise `BadInput` if a folder holds another study's results, judged by name and text.

    A changed study keeps its folder, and so does a renamed one. A quick run replaces no full study.
    """
    if not (folder / study_folder.SUMMARY).exists():
        return
    text = folder / study_folder.STUDY
    same_text = text.exists() and text.read_bytes() == study.text.encode()
    if same_text and not quick:
        return
    held = study_folder.read_summary(folder)[0]
    if same_text or held.name == study.name:
        if quick and not held.quick:
            raise BadInput(
                "--quick does not replace the results of a full study",
                where=str(folder),
                accepted=["a folder of its own, with --out"],
                hint="--fresh removes what the folder holds.",
            )
        return
    raise BadInput(
        f"this folder holds the results of another study than `{study.name}`",
        where=str(folder),
        found=f"`{held.name}`, {held.title}",
        accepted=["a folder of its own, with --out"],
        hint="--fresh removes what the folder holds.",
    )


def conduct(
    prepared: Prepared,
    folder: Path,
    console: Console,
    *,
    jobs: int,
    reproduce: Sequence[str],
    keep: bool = False,
    watch: Callable[[Display], Display] | None = None,
    elsewhere: Elsewhere | None = None,
    records: str = FOLDERS,
    fleet: Elsewhere | None = None,
) -> Conducted:
    """Run what remains of a study in its folder; rewrite results.json as runs end.

    A search continues until its runs lead to no further rate. `keep` leaves the database of the
    last run on each storage. `watch` wraps the display that shows the runs. `elsewhere` makes the
    simulated runs. `records`: form of the records of simulated runs, folders or packs. `fleet`
    makes the measured runs.
    """
    current, todo = prepared, tasks(prepared)
    with store.locked_study(folder) as lock, ExitStack() as stack:
        refuse_other(folder, prepared.study, quick=prepared.quick)
        study_folder.read_asked(folder)  # Refuse a damaged one before any run.
        guard.write_file(folder / study_folder.STUDY, prepared.study.text.encode())

        pace = Pace()

        def refresh() -> dict[str, Any]:
            return study_folder.write_results(
                folder, current.summary, study_folder.read_runs(folder)
            )

        display = for_console(console)
        display = watch(display) if watch else display
        session = Session(
            *(folder, lock, display, lambda: pace.keep(refresh)),
            keep=keep,
            elsewhere=elsewhere,
            fleet=fleet,
        )
        if records == PARQUET:
            (folder / PACKS).mkdir(exist_ok=True)
            session.packs = Packs(folder)
            packing = Packing(session.packs, todo, prepared.summary, pace.keep)
            session.on_sealed = stack.enter_context(packing).keep

        def work() -> Sequence[SealedRun]:
            nonlocal current, todo
            while True:
                study_folder.write_summary(folder, current.summary, reproduce)
                study_folder.write_order(folder, [task.identity for task in todo])
                runs = run_all(session, todo, jobs)
                following = None if session.stopping.is_set() else searched(current, runs)
                if following is None:
                    return runs
                current, todo = following, tasks(following)

        runs = _under_signals(session, work)
        stack.close()
        document = refresh()
    complete = len(runs) == len(todo) and _are_complete(runs)
    left = [kept for kept in session.kept.values() if kept.folder.exists()]
    return Conducted(runs, document, complete, session.stopping.is_set(), left)


def carry_out(
    prepared: Prepared,
    folder: Path,
    console: Console,
    *,
    jobs: int,
    reproduce: Sequence[str],
    keep: bool = False,
    watch: Callable[[Display], Display] | None = None,
    elsewhere: Elsewhere | None = None,
    records: str = FOLDERS,
    fleet: Elsewhere | None = None,
) -> Conducted:
    """Conduct a study; of a complete one, remove what was made for storages, unless `keep`."""
    done = conduct(
        *(prepared, folder, console),
        jobs=jobs,
        reproduce=reproduce,
        keep=keep,
        watch=watch,
        elsewhere=elsewhere,
        records=records,
        fleet=fleet,
    )
    if done.complete and not keep:
        remove_targets(prepared.examined.values(), folder)
    return done


def _are_complete(runs: Sequence[SealedRun]) -> bool:
    """Return whether no run failed or was interrupted; packed ones did not."""
    loose = runs.loose.values() if isinstance(runs, StoredRuns) else runs
    return all(run.outcome["status"] == "complete" for run in loose)


def _under_signals(
    session: Session, work: Callable[[], Sequence[SealedRun]]
) -> Sequence[SealedRun]:
    """Stop gently on Ctrl-C and SIGTERM, at once on a second Ctrl-C.

    Other threads than the main one get no signals, and may set no handlers.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        session.stop()

    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        return work()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        session.display.close()


def remove_targets(examined: Iterable[Examined], folder: Path) -> None:
    """Remove the files created for storages, which are Tameshi's and hold nothing of value, and
    data sets kept in the study's folder."""
    if (folder / DATA_SETS).exists():
        guard.remove_folder(folder / DATA_SETS)
    for world in examined:
        for target in world.targets.values():
            if isinstance(target, guard.DirectoryPlan):
                target.remove()
            elif target.ours and target.path.exists():
                guard.remove_target(target.path)
        for place in world.databases.values():
            place.remove()
