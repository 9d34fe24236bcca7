"""What a person sees while a study runs: a live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

PLAIN_SECONDS = 10.0


class Display(Protocol):
    """Where the dispatcher reports to."""

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        """A study begins: runs to make, runs finished before, and the time they take at most."""

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """A run is at `progress` of its stage `prepare` or `run`."""

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        """A run has ended; `length_ns` is what it was expected to take at most."""

    def close(self) -> None:
        """The study has ended or was interrupted."""


def described(progress: Mapping[str, Any]) -> str:
    """Rate and latency of the last interval."""
    rate, latency = progress.get("operations_per_second", 0), progress.get("latency_ns_mean", 0)
    return f"{rate:,} operations/s, mean {latency / 1000:,.1f} µs" if rate else "…"


class Remaining:
    """Virtual or real time still to go, from the runs' limits and how fast they went so far."""

    def __init__(self) -> None:
        self.total_ns: int | None = None
        self.done_ns = 0
        self.current: dict[str, int] = {}
        self.begun = time.monotonic()

    def fraction(self) -> float | None:
        """Share of the limits that is used up."""
        if not self.total_ns:
            return None
        return min((self.done_ns + sum(self.current.values())) / self.total_ns, 1.0)

    def seconds(self) -> float | None:
        """Seconds to go at the pace so far."""
        fraction = self.fraction()
        if not fraction:
            return None
        return (time.monotonic() - self.begun) * (1 - fraction) / fraction


class _Common:
    def __init__(self) -> None:
        self.remaining = Remaining()

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        self.remaining.total_ns = total_ns
        kept = f" ({finished} finished before)" if finished else ""
        self.say(f"{runs} runs to make{kept}")

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        if stage == "run":
            self.remaining.current[run] = int(progress.get("elapsed_ns", 0))
        self.show(run, "laying out" if stage == "prepare" else described(progress))

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        self.remaining.current.pop(run, None)
        self.remaining.done_ns += length_ns
        self.say(f"{run}: {status}" + (f": {reason}" if reason else ""))

    def say(self, line: str) -> None:
        raise NotImplementedError

    def show(self, run: str, text: str) -> None:
        raise NotImplementedError


class LiveDisplay(_Common):
    """A bar, elapsed and remaining time, and the current rate, redrawn in place."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        columns = (
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}"),
        )
        self.progress = Progress(*columns, console=console, transient=True)
        self.task: TaskID = self.progress.add_task("", total=1.0, left="")
        self.progress.start()

    def say(self, line: str) -> None:
        """A line above the bar."""
        self.progress.console.print(line, highlight=False, markup=False)

    def show(self, run: str, text: str) -> None:
        """The bar's state."""
        left = self.remaining.seconds()
        self.progress.update(
            self.task,
            completed=self.remaining.fraction() or 0.0,
            description=f"{run}  {text}",
            left=f"about {left:.0f} s left" if left is not None else "",
        )

    def close(self) -> None:
        """Take the bar away."""
        self.progress.stop()


class PlainDisplay(_Common):
    """A line every ten seconds, for logs."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console
        self.last = time.monotonic()

    def say(self, line: str) -> None:
        """One line."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def show(self, run: str, text: str) -> None:
        """One line now and then."""
        now = time.monotonic()
        if now - self.last >= PLAIN_SECONDS:
            self.last = now
            left = self.remaining.seconds()
            self.say(f"{run}: {text}" + (f", about {left:.0f} s left" if left is not None else ""))

    def close(self) -> None:
        """Nothing to take away."""


def for_console(console: Console) -> Display:
    """The display that fits where the output goes."""
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)
