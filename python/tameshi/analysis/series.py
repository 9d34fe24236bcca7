"""Record of a run as statistics read it: counters and latencies by subject, cut to a stretch."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tameshi.analysis.stats.estimates import WindowData
from tameshi.core.spec_types import PhaseSpec
from tameshi.record.store import SealedRun

SCHEDULED = ("load.started", "load.late", "load.unserved")
"""Counters of a program's arrivals; those of transaction types count separately.

Arrivals that no client began have no type and count for the program.
"""

GAP_NS = 1_000_000
"""Time between two rows from which on rows are missing."""


@dataclass(frozen=True)
class Stretch:
    """Part of a phase for estimates; its spans in ns from t0, in order."""

    name: str
    spans: Sequence[tuple[int, int]]
    steady: bool

    @property
    def length_ns(self) -> int:
        """Total length of the spans."""
        return sum(end - begin for begin, end in self.spans)


class Intervals:
    """Recorded intervals of one subject in order of time, with a column per metric."""

    def __init__(self, frame: pl.DataFrame) -> None:
        # A delayed client reports an interval after the others' sum was written.
        keys = ["t_ns", "dt_ns"]
        wide = frame.pivot("metric", index=keys, values="value", aggregate_function="sum")
        columns = wide.sort(keys).to_dict(as_series=False)
        self._ends: list[int] = columns.pop("t_ns")
        self._lengths: list[int] = columns.pop("dt_ns")
        self._metrics: dict[str, list[float | None]] = columns

    def within(self, spans: Sequence[tuple[int, int]]) -> tuple[list[int], dict[str, list[float]]]:
        """Return lengths and counters of the intervals that lie entirely in one of the spans.

        A metric without values is left out; a missing value is 0.
        """
        places: dict[int, None] = {}
        for begin, end in spans:
            first, last = bisect_left(self._ends, begin), bisect_right(self._ends, end)
            inside = (p for p in range(first, last) if self._ends[p] - self._lengths[p] >= begin)
            places |= dict.fromkeys(inside)
        order = sorted(places)
        counters = {}
        for metric, values in self._metrics.items():
            ordered = [values[place] for place in order]
            if any(value is not None for value in ordered):
                counters[metric] = [0.0 if value is None else value for value in ordered]
        return [self._lengths[place] for place in order], counters

    def counted(self, metric: str) -> list[tuple[int, int, float]]:
        """Return start and end of the intervals in which a metric counted, and the count."""
        rows = zip(self._ends, self._lengths, self._metrics.get(metric, ()), strict=False)
        return [(end - length, end, value) for end, length, value in rows if value]


class Frames:
    """Series of a run by stream, and its latencies, read once."""

    def __init__(self, run: SealedRun) -> None:
        series = run.series()
        load = series.filter(pl.col("source") == "load")
        self.samples = series.filter(pl.col("source") == "sampler").drop("source")
        self.server = series.filter(pl.col("source") == "server").drop("source")
        self.by_stream = {str(key[0]): frame for key, frame in load.group_by("subject")}
        for word in program_words(run.spec.phases):
            self._sum_up(word)
        self.latencies = run.latencies()
        self.events = run.events()
        self._tables: dict[str, Intervals] = {}
        self._windows: dict[tuple[Any, ...], WindowData] = {}

    def window(self, repetition: int, phase: int, subject: str, stretch: Stretch) -> WindowData:
        """Return the window of a stream, storage or host in a stretch of a phase."""
        key = (phase, subject, stretch.name, stretch.steady, *stretch.spans)
        if key not in self._windows:
            self._windows[key] = self._cut(repetition, phase, subject, stretch)
        return self._windows[key]

    def _cut(self, repetition: int, phase: int, subject: str, stretch: Stretch) -> WindowData:
        frame = self.by_stream.get(subject)
        if frame is None:
            return WindowData(stretch.length_ns, [], {}, {}, repetition)
        lengths, counters = self._table(subject, frame).within(stretch.spans)
        prefix = f"{phase}/steady/{subject}/"
        latencies = {
            tag.removeprefix(prefix): value
            for tag, value in self.latencies.items()
            if stretch.steady and tag.startswith(prefix)
        }
        length = stretch.length_ns if stretch.steady else sum(lengths)
        return WindowData(length, lengths, counters, latencies, repetition)

    def counted(self, subject: str, metric: str) -> list[tuple[int, int, float]]:
        """Return start and end of the intervals in which a metric counted, and the count."""
        frame = self.by_stream.get(subject)
        return [] if frame is None else self._table(subject, frame).counted(metric)

    def _table(self, subject: str, frame: pl.DataFrame) -> Intervals:
        if subject not in self._tables:
            self._tables[subject] = Intervals(frame)
        return self._tables[subject]

    def _sum_up(self, word: str) -> None:
        """Add a program's transactions of all types to the counters of its clients."""
        kinds = [f for name, f in self.by_stream.items() if name.startswith(f"{word}.")]
        if kinds:
            keys = ["t_ns", "dt_ns", "metric"]
            metric = pl.col("metric")
            counted = metric.str.starts_with("transaction.") | metric.is_in(SCHEDULED)
            sums = pl.concat(kinds).filter(counted).group_by(keys).agg(pl.col("value").sum())
            own = [f.select(*keys, "value") for f in [self.by_stream.get(word)] if f is not None]
            merged = pl.concat([sums, *own]).with_columns(
                source=pl.lit("load"), subject=pl.lit(word)
            )
            self.by_stream[word] = merged


def covered(frame: Any, subject: str, part: Stretch) -> Stretch:
    """Return the time of the sampler's rows of a subject that lie entirely in a stretch.

    A span ends where rows are missing: the server was away.
    """
    rows = frame.filter(pl.col("subject") == subject).select("t_ns", "dt_ns").unique()
    times = sorted((t - dt, t) for t, dt in rows.iter_rows())
    spans: list[tuple[int, int]] = []
    for begin, end in part.spans:
        joins = False
        for first, last in times:
            if first >= begin and last <= end:
                if joins and first <= spans[-1][1] + GAP_NS:
                    spans[-1] = (spans[-1][0], last)
                else:
                    spans.append((first, last))
                joins = True
    return Stretch(f"{part.name}/{subject}", spans, steady=False)


def program_words(phases: Iterable[PhaseSpec]) -> list[str]:
    """Return the programs that phases run, each once."""
    programs = (program for phase in phases for program in phase.programs or ())
    return list(dict.fromkeys(next(iter(p.model_dump(mode="json"))) for p in programs))


def sampled(
    frame: Any, repetition: int, subject: str | None, part: Stretch, *, wholly: bool = False
) -> WindowData:
    """Return the sampler's rows whose middle lies in a stretch; without a subject, of all disks.

    `wholly`: only rows that lie entirely in it.
    """
    chosen = (
        pl.col("metric").str.starts_with("disk.")
        if subject is None
        else pl.col("subject") == subject
    )
    first = pl.col("t_ns") - (pl.col("dt_ns") if wholly else pl.col("dt_ns") // 2)
    last = pl.col("t_ns") - 1 if wholly else first
    within = ((first >= begin) & (last < end) for begin, end in part.spans)
    inside = frame.filter(chosen & pl.any_horizontal(*within))
    keys = ["t_ns", "dt_ns", "metric"]
    inside = inside.group_by(keys).agg(pl.col("value").sum()).sort("t_ns", "metric")
    times = inside.select("t_ns", "dt_ns").unique().sort("t_ns")
    counters = {str(key[0]): rows["value"].to_list() for key, rows in inside.group_by("metric")}
    return WindowData(int(times["dt_ns"].sum()), times["dt_ns"].to_list(), counters, {}, repetition)
