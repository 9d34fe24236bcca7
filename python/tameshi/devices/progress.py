"""Progress of a simulation on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tameshi.core import compiled
from tameshi.devices.words import words

if TYPE_CHECKING:
    from tameshi.core.spec_types import Until

SECONDS = 0.25
Watch = Callable[[float | None], None]
"""Callback for progress: completed share of the phases; None while flash is prefilled."""


def ignore_progress(_: float | None) -> None:
    """Ignore progress."""


def run_phases(run: compiled.Execution, ends: Sequence[Until], watch: Watch) -> None:
    """Run all phases and report progress; an exception in `watch` also stops the simulation."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(run.run, [], 0, "auto")
        try:
            while not wait([done], timeout=SECONDS).done:
                watch(share_of(run.progress(), ends))
        finally:
            run.stop()
        done.result()


def share_of(progress: Mapping[str, Any], ends: Sequence[Until]) -> float | None:
    """Return the completed share of the phases; None before the first starts."""
    if not progress["elapsed_ns"]:
        return None
    end, inside = ends[progress["phase"]], 0.0
    if end.amount:
        inside = progress["phase_bytes"] / compiled.size_bytes(end.amount.root)
    elif end.time:
        spent = progress["elapsed_ns"] - progress["phase_begin_ns"]
        inside = spent / compiled.nanoseconds(end.time)
    return (int(progress["phase"]) + min(inside, 1.0)) / len(ends)


@contextmanager
def progress_bar(console: Console, lang: str) -> Iterator[Watch]:
    """Show a bar on a terminal, removed at the end; nothing elsewhere."""
    if not console.is_terminal:
        yield ignore_progress
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(words("simulating", lang), total=None)

        def watch(share: float | None) -> None:
            said = words("preparing" if share is None else "simulating", lang)
            total = None if share is None else 1.0
            progress.update(task, description=said, total=total, completed=share or 0.0)

        yield watch
