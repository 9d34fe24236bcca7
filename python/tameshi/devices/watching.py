"""How far a simulation is, for whoever waits for it on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tameshi.devices.words import words
from tameshi.run.work import StreamWork

SECONDS = 0.25
Watch = Callable[[float | None], None]
"""Told from time to time how much of the phases is through; None while flash is written before."""


def unwatched(_: float | None) -> None:
    """Nobody waits."""


def carry_out(work: StreamWork, phases: int, watch: Watch) -> None:
    """All phases, watched; whoever interrupts it ends the simulation too."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work.measure, 0, "auto")
        try:
            while not wait([done], timeout=SECONDS).done:
                watch(share_of(work.progress(), phases))
        finally:
            work.stop()
        done.result()


def share_of(progress: Mapping[str, Any], phases: int) -> float | None:
    """How much of the phases is through; None before the first has begun."""
    if not progress["elapsed_ns"]:
        return None
    doing = progress["doing"]
    inside = 0.0
    if doing["total_bytes"]:
        inside = progress["phase_bytes"] / doing["total_bytes"]
    elif doing["total_ns"]:
        inside = (progress["elapsed_ns"] - progress["phase_begin_ns"]) / doing["total_ns"]
    return (int(progress["phase"]) + min(inside, 1.0)) / phases


@contextmanager
def shown_on(console: Console, lang: str) -> Iterator[Watch]:
    """A bar on a terminal, gone at the end; elsewhere nothing."""
    if not console.is_terminal:
        yield unwatched
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(words("simulating", lang), total=None)

        def watch(share: float | None) -> None:
            said = words("preparing" if share is None else "simulating", lang)
            total = None if share is None else 1.0
            progress.update(task, description=said, total=total, completed=share or 0.0)

        yield watch
