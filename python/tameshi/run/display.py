"""What a person sees while a study runs: a live table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from tameshi.core.errors import counted
from tameshi.core.units import format_value, format_wait

PLAIN_SECONDS = 10.0
MOST_ROWS = 16
"""Streams that the live table shows; of more, the first."""
COLUMNS = ("stream", "IOPS", "bandwidth", "p50", "p99", "p99.9", "slowest so far")


class Display(Protocol):
    """Where the dispatcher reports to."""

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        """A study begins: runs to make, runs finished before, and the time they take at most."""

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """A run is at `progress` of its stage `prepare` or `run`."""

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        """A run has ended; `length_ns` is what it was expected to take at most."""

    def say(self, line: str) -> None:
        """Print a line."""

    def close(self) -> None:
        """The study has ended or was interrupted."""


def slowest(slow: Mapping[str, Any] | None) -> str:
    """The slowest operation of a run or stream so far: how long, what, when and where."""
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
    """A stream's row as a sentence."""
    name, iops, bandwidth, p50, p99, p999, slow = cells(stream)
    text = f"{name}: {iops} IOPS, {bandwidth}, p50 {p50}, p99 {p99}, p99.9 {p999}"
    return f"{text}, slowest {slow}" if slow else text


def active(progress: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The streams that have done something yet."""
    return [s for s in progress.get("streams", []) if s["slowest"] or s["operations_per_second"]]


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

    def text(self) -> str:
        """How long it will take, where that can be told."""
        left = self.seconds()
        return f"about {left:.0f} s left" if left is not None else ""


class _Common:
    def __init__(self) -> None:
        self.remaining = Remaining()

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        self.remaining = Remaining()
        self.remaining.total_ns = total_ns
        kept = f" ({finished} finished before)" if finished else ""
        self.say(f"{counted(runs, 'run')} to make{kept}")

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        if stage == "run":
            self.remaining.current[run] = int(progress.get("elapsed_ns", 0))
        self.show(run, stage, progress)

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        self.remaining.current.pop(run, None)
        self.remaining.done_ns += length_ns
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
    """What a run is at, in a few words."""
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
    """The slowest operation of the run so far, of whatever stream and phase."""
    slow = progress.get("slowest")
    return f"{slowest(slow)}, stream {slow['stream']}" if slow else ""


def in_phase(progress: Mapping[str, Any]) -> list[str]:
    """The phase, and of one that ends by an amount how much is done and how long the rest takes.

    Time left is that of the run, virtual where the run is; a phase that a time may end sooner says
    the shorter one.
    """
    doing = progress.get("doing")
    if not doing:
        return []
    told = [doing["name"]]
    spent = progress["elapsed_ns"] - progress["phase_begin_ns"]
    done, total = progress["phase_bytes"], doing["total_bytes"]
    left = [doing["total_ns"] - spent] if doing["total_ns"] is not None else []
    if total is not None:
        told.append(f"{format_value('capacity', done)} of {format_value('capacity', total)}")
        if done > 0:
            left.append(spent * max(total - done, 0) / done)
    if left and min(left) >= 0:
        told.append(f"{format_wait(min(left))} of it left")
    return told


class LiveDisplay(_Common):
    """A bar with elapsed and remaining time, and a table of the streams, redrawn in place."""

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
        """A line above the bar."""
        self.live.console.print(line, highlight=False, markup=False)

    def show(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """The bar's state and the streams' rows."""
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
        """The streams of all runs that are under way."""
        table = Table(box=None, pad_edge=False)
        for column in COLUMNS:
            right = column not in (COLUMNS[0], COLUMNS[-1])
            table.add_column(column, justify="right" if right else "left", no_wrap=True)
        rows = [stream for streams in self.streams.values() for stream in streams]
        for stream in rows[:MOST_ROWS]:
            table.add_row(*cells(stream))
        if len(rows) > MOST_ROWS:
            table.add_row(f"… {len(rows) - MOST_ROWS} more")
        for run, told in self.worst.items():
            if told:
                table.add_row(run, *[""] * (len(COLUMNS) - 2), told)
        return table

    def forget(self, run: str) -> None:
        """A run's streams are done."""
        self.streams.pop(run, None)
        self.worst.pop(run, None)

    def close(self) -> None:
        """Take it all away."""
        self.live.stop()


class PlainDisplay(_Common):
    """A line per stream every ten seconds, for logs."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console
        self.last = time.monotonic()

    def say(self, line: str) -> None:
        """One line."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def show(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """The run's state and its streams, now and then."""
        now = time.monotonic()
        if now - self.last < PLAIN_SECONDS:
            return
        self.last = now
        left = self.remaining.text()
        self.say(f"{run}: {doing(stage, progress)}" + (f", {left}" if left else ""))
        for stream in active(progress):
            self.say(f"  {described(stream)}")
        if told := worst(progress):
            self.say(f"  slowest of the run so far: {told}")

    def forget(self, run: str) -> None:
        """Nothing is kept of a run."""

    def close(self) -> None:
        """Nothing to take away."""


def for_console(console: Console) -> Display:
    """The display that fits where the output goes."""
    return LiveDisplay(console) if console.is_terminal else PlainDisplay(console)
