"""Display of a running study: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from tameshi.core.errors import counted
from tameshi.core.units import format_value, format_wait

PLAIN_SECONDS = 10.0
SETTLED_SECONDS = 3.0
"""Least time of work from which the remaining time is estimated."""
MOST_BYTES = 1 << 60
"""An amount that no storage holds: its phase ends by other means."""
MOST_ROWS = 16
"""Maximum number of streams in the live table."""
COLUMNS = ("stream", "IOPS", "bandwidth", "p50", "p99", "p99.9", "slowest so far")


class Display(Protocol):
    """Progress display for the dispatcher."""

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        """Start a study: runs to make, finished runs, and upper bound on time."""

    def began(self, run: str, world: str, folder: Path) -> None:
        """Begin a run, whose record grows in `folder`."""

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """Show a run's `progress` in stage `prepare` or `run`."""

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        """End a run; `length_ns` is its expected upper bound."""

    def say(self, line: str) -> None:
        """Print a line."""

    def close(self) -> None:
        """End the study, finished or interrupted."""


def slowest(slow: Mapping[str, Any] | None) -> str:
    """Return the slowest operation of a run or stream so far: latency, operation, time and
    place."""
    if not slow:
        return ""
    where = "" if slow["operation"] == "sync" else f" at offset {slow['offset']:,}"
    latency = format_value("latency", slow["latency_ns"])
    return f"{latency} {slow['operation']}{where}, {slow['t_ns'] / 1e9:.2f} s"


def cells(stream: Mapping[str, Any]) -> Sequence[str]:
    """A stream's row: its rates and latencies in the last interval, its slowest so far."""
    latencies = [format_value("latency", stream[key]) for key in ("p50_ns", "p99_ns", "p999_ns")]
    return (
        stream["name"],
        f"{stream['operations_per_second']:,}",
        f"{stream['bytes_per_second'] / 1e6:,.1f} MB/s",
        *latencies,
        slowest(stream["slowest"]),
    )


def described(stream: Mapping[str, Any]) -> str:
    """Return a stream's row as a sentence."""
    name, iops, bandwidth, p50, p99, p999, slow = cells(stream)
    text = f"{name}: {iops} IOPS, {bandwidth}, p50 {p50}, p99 {p99}, p99.9 {p999}"
    return f"{text}, slowest {slow}" if slow else text


def active(progress: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the streams with completed operations."""
    return [s for s in progress.get("streams", []) if s["slowest"] or s["operations_per_second"]]


class Remaining:
    """Remaining time in seconds, from the runs' limits and the pace of progress.

    The pace counts from the first progress of a run, or from the begin of the study once a run has
    ended: preparation is then part of it.
    """

    def __init__(self, total_ns: int | None = None) -> None:
        self.total_ns = total_ns
        self.done_ns = 0
        self.current: dict[str, int] = {}
        self.begun_s = time.monotonic()
        self.first: tuple[float, int] | None = None
        """Time and completed ns at the first progress."""

    def progress(self, run: str, elapsed_ns: int) -> None:
        """Note a run's progress."""
        self.current[run] = elapsed_ns
        self.first = self.first or (time.monotonic(), self._completed_ns())

    def ended(self, run: str, length_ns: int) -> None:
        """End a run."""
        self.current.pop(run, None)
        self.done_ns += length_ns
        self.first = (self.begun_s, 0)

    def _completed_ns(self) -> int:
        return self.done_ns + sum(self.current.values())

    def fraction(self) -> float | None:
        """Return the completed share of the limits."""
        return min(self._completed_ns() / self.total_ns, 1.0) if self.total_ns else None

    def seconds(self) -> float | None:
        """Return the seconds left at the pace so far; None before it is known."""
        if not self.total_ns or not self.first:
            return None
        since_s, before_ns = self.first
        spent_s, worked_ns = time.monotonic() - since_s, self._completed_ns() - before_ns
        if spent_s < SETTLED_SECONDS or worked_ns <= 0:
            return None
        return spent_s * max(self.total_ns - self._completed_ns(), 0) / worked_ns

    def text(self) -> str:
        """Return the remaining time in words, if known."""
        left = self.seconds()
        return f"about {format_wait(left * 1e9)} left" if left is not None else ""


class _Common:
    def __init__(self) -> None:
        self.remaining = Remaining()

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        self.remaining = Remaining(total_ns)
        kept = f" ({finished} finished before)" if finished else ""
        self.say(f"{counted(runs, 'run')} to make{kept}")

    def began(self, run: str, world: str, folder: Path) -> None:
        """Show nothing: the first progress does."""

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        if stage == "run":
            self.remaining.progress(run, int(progress.get("elapsed_ns", 0)))
        self.show(run, stage, progress)

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        self.remaining.ended(run, length_ns)
        self.forget(run)
        self.say(f"{run}: {status}" + (f": {reason}" if reason else ""))

    def say(self, line: str) -> None:
        raise NotImplementedError

    def show(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def forget(self, run: str) -> None:
        raise NotImplementedError


STAGES = {
    "initialise": "making an empty database",
    "settle": "bringing the loaded database to rest",
    "start": "starting the database",
    "check": "checking the database",
}


def doing(stage: str, progress: Mapping[str, Any]) -> str:
    """Return a phrase on a run's current activity."""
    if stage == "prepare":
        return f"laying out, {progress.get('bytes_written', 0) / 1e9:.2f} GB written"
    if stage == "load":
        return f"loading, {progress.get('rows', 0):,} rows"
    if stage == "copy":
        done, size = (progress[key] / 1e9 for key in ("done_bytes", "size_bytes"))
        return f"copying its data set, {done:.2f} of {size:.2f} GB"
    if stage in STAGES:
        return STAGES[stage]
    elapsed = f"{progress.get('elapsed_ns', 0) / 1e9:.1f} s"
    return ", ".join((elapsed, *in_phase(progress)))


def worst(progress: Mapping[str, Any]) -> str:
    """Return the slowest operation of the run so far, over all streams and phases."""
    slow = progress.get("slowest")
    return f"{slowest(slow)}, stream {slow['stream']}" if slow else ""


def in_phase(progress: Mapping[str, Any]) -> list[str]:
    """Return the phase; if it ends by an amount, with the completed amount and the time left.

    Time is the run's, virtual in a simulated run. A phase with a time limit shows the smaller of
    both.
    """
    doing = progress.get("doing")
    if not doing:
        return []
    parts = [doing["name"]]
    spent = progress["elapsed_ns"] - progress["phase_begin_ns"]
    done, total = progress["phase_bytes"], doing["total_bytes"]
    left = [doing["total_ns"] - spent] if doing["total_ns"] is not None else []
    if total is not None and total < MOST_BYTES:
        parts.append(f"{format_value('capacity', done)} of {format_value('capacity', total)}")
        if done > 0:
            left.append(spent * max(total - done, 0) / done)
    if left and min(left) >= 0:
        parts.append(f"{format_wait(min(left))} of it left")
    return parts


class LiveDisplay(_Common):
    """Bar with elapsed and remaining time, and a table of streams, redrawn in place."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        columns = (
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}"),
        )
        self.progress = Progress(*columns, console=console)
        self.task: TaskID = self.progress.add_task("", total=1.0, left="")
        self.streams: dict[str, Sequence[Mapping[str, Any]]] = {}
        self.worst: dict[str, str] = {}
        self.live = Live(self.progress, console=console, transient=True, refresh_per_second=4)
        self.live.start()

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self.live.console.print(line, highlight=False, markup=False)

    def show(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """Update the bar and the streams' rows."""
        self.progress.update(
            self.task,
            completed=self.remaining.fraction() or 0.0,
            description=f"{run}  {doing(stage, progress)}",
            left=self.remaining.text(),
        )
        self.streams[run] = active(progress)
        self.worst[run] = worst(progress)
        self.live.update(Group(self.progress, self.table()))

    def table(self) -> Table:
        """Return the table of streams of all current runs."""
        table = Table(box=None, pad_edge=False)
        for column in COLUMNS:
            right = column not in (COLUMNS[0], COLUMNS[-1])
            table.add_column(column, justify="right" if right else "left", no_wrap=True)
        rows = [stream for streams in self.streams.values() for stream in streams]
        for stream in rows[:MOST_ROWS]:
            table.add_row(*cells(stream))
        if len(rows) > MOST_ROWS:
            table.add_row(f"… {len(rows) - MOST_ROWS} more")
        for run, slow in self.worst.items():
            if slow:
                table.add_row(run, *[""] * (len(COLUMNS) - 2), slow)
        return table

    def forget(self, run: str) -> None:
        """Remove a run's streams."""
        self.streams.pop(run, None)
        self.worst.pop(run, None)

    def close(self) -> None:
        """Remove the display."""
        self.live.stop()


class PlainDisplay(_Common):
    """One line per stream every ten seconds, for logs."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console
        self.last = time.monotonic()

    def say(self, line: str) -> None:
        """Print one line."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def show(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """Print the run's state and its streams at intervals."""
        now = time.monotonic()
        if now - self.last < PLAIN_SECONDS:
            return
        self.last = now
        left = self.remaining.text()
        self.say(f"{run}: {doing(stage, progress)}" + (f", {left}" if left else ""))
        for stream in active(progress):
            self.say(f"  {described(stream)}")
        if slow := worst(progress):
            self.say(f"  slowest of the run so far: {slow}")

    def forget(self, run: str) -> None:
        """Do nothing: no run is kept."""

    def close(self) -> None:
        """Do nothing: there is no display to remove."""


def for_console(console: Console) -> Display:
    """Return the display for an output."""
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)
