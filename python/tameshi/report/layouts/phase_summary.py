"""Summary of one phase of a program by type and interval, for the layouts of other tools."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.record.store import SealedRun

NANOSECONDS = 1e9
_LONGEST_STEP_SECONDS = 3600

Counts = Sequence[tuple[int, int]]
"""Latency (ns) and transactions of each bucket of a histogram, in order."""


@dataclass(frozen=True)
class Step:
    """Stretch of whole seconds; `at_seconds` is its end, from the end of the ramp."""

    at_seconds: int
    latencies: Mapping[str, Counts]
    counters: Mapping[tuple[str, str], float]
    """By subject and metric."""


@dataclass(frozen=True)
class PhaseSummary:
    """Phase without its ramp. `word` is the program, `types` the subjects of its transactions."""

    heading: str
    phase: str
    word: str
    settings: Mapping[str, Any]
    ramp_seconds: float
    seconds: float
    step_seconds: int
    whole: Step
    steps: Sequence[Step]
    clients: Sequence[tuple[int, float]]
    """By client: transactions, and seconds spent in them."""

    @property
    def types(self) -> list[str]:
        """Transaction types in alphabetical order."""
        return sorted(self.whole.latencies)

    def counts(self, metric: str) -> bool:
        """Return whether the record has a metric of the program or of its types."""
        return any(counted == metric for _, counted in self.whole.counters)

    def total(self, metric: str, step: Step | None = None) -> float:
        """Return a metric's total over the program and all its types."""
        counters = (step or self.whole).counters.items()
        return sum(value for (_, counted), value in counters if counted == metric)


def summarise(run: SealedRun) -> Iterator[PhaseSummary]:
    """Yield the summary of each phase of a program. Raises `BadInput` for a record without
    types."""
    logs = run.interval_logs()
    intervals = [each for log in logs for each in compiled.histogram_intervals(log)]
    series = run.series().filter(source="load")
    events = run.events()
    for window in run.outcome["windows"]:
        for program in run.spec.phases[window["phase"]].programs or ():
            ((word, settings),) = program.model_dump(mode="json").items()
            yield _phase(run, window, (word, settings), (intervals, series, events))


def _phase(
    run: SealedRun,
    window: Mapping[str, Any],
    program: tuple[str, Mapping[str, Any]],
    record: tuple[Sequence[Mapping[str, Any]], pl.DataFrame, Sequence[Mapping[str, Any]]],
) -> PhaseSummary:
    (word, settings), (intervals, series, events) = program, record
    begin, end = int(window["begin_ns"]), int(window["end_ns"])
    ends = pl.col("t_ns")
    inside = series.filter(ends - pl.col("dt_ns") >= begin, ends <= end)
    inside = inside.filter(
        (pl.col("subject") == word) | pl.col("subject").str.starts_with(f"{word}.")
    )
    if inside.filter(metric="statement.reads").is_empty():
        message = "this record does not count statements by kind: an earlier version made it"
        hint = "Run the study again: --fresh."
        raise BadInput(message, where=str(run.folder), hint=hint)
    prefix = f"{window['phase']}/steady/"
    own = [
        (each["begin_ns"] + each["length_ns"], _type(each["tag"], prefix), each["counts"])
        for each in intervals
        if each["tag"].startswith(prefix) and each["tag"].endswith("/transaction")
    ]
    rows = list(inside.select("t_ns", "subject", "metric", "value").iter_rows())
    length = (end - begin) / NANOSECONDS
    step = _step_seconds(compiled.nanoseconds(run.spec.interval))
    count = int(length // step)

    def place(t_ns: int) -> int:
        return max(math.ceil(round((t_ns - begin) / NANOSECONDS, 3) / step) - 1, 0)

    steps = [
        _step(
            (number + 1) * step,
            [(kind, counts) for t_ns, kind, counts in own if place(t_ns) == number],
            [row for row in rows if place(row[0]) == number],
        )
        for number in range(count)
    ]
    clients = [e for e in events if e["kind"] == "clients" and e["phase"] == window["phase"]]
    fields = clients[-1] if clients else {"completed": [], "busy_ns": []}
    levels = {**run.spec.cell, **window["levels"]}
    named = [f"{axis} {level}" for axis, level in levels.items()]
    return PhaseSummary(
        heading=", ".join([*named, window["name"], f"run {run.spec.repetition + 1}"]),
        phase=window["name"],
        word=word,
        settings=settings,
        ramp_seconds=(begin - window["phase_begin_ns"]) / NANOSECONDS,
        seconds=length,
        step_seconds=step,
        whole=_step(math.ceil(length), [(kind, counts) for _, kind, counts in own], rows),
        steps=steps,
        clients=[
            (n, ns / NANOSECONDS)
            for n, ns in zip(fields["completed"], fields["busy_ns"], strict=True)
        ],
    )


def _type(tag: str, prefix: str) -> str:
    return tag.removeprefix(prefix).removesuffix("/transaction")


def _step_seconds(interval_ns: int) -> int:
    """Return the least number of whole seconds that is a multiple of the interval."""
    least = max(math.ceil(interval_ns / NANOSECONDS), 1)
    tried = range(least, _LONGEST_STEP_SECONDS + 1)
    return next((s for s in tried if s * 10**9 % interval_ns == 0), least)


def _step(
    at_seconds: int,
    latencies: Sequence[tuple[str, Counts]],
    rows: Sequence[tuple[int, str, str, float]],
) -> Step:
    by_type: dict[str, dict[int, int]] = {}
    for kind, counts in latencies:
        mine = by_type.setdefault(kind, {})
        for ns, count in counts:
            mine[ns] = mine.get(ns, 0) + count
    counters: dict[tuple[str, str], float] = {}
    for _, subject, metric, value in rows:
        counters[subject, metric] = counters.get((subject, metric), 0.0) + value
    return Step(
        at_seconds, {kind: sorted(mine.items()) for kind, mine in by_type.items()}, counters
    )


def number(counts: Counts) -> int:
    """Return the number of transactions."""
    return sum(count for _, count in counts)


def percentile_ms(counts: Counts, level: float) -> float:
    """Return a percentile in milliseconds; zero without counts."""
    left = level * number(counts)
    for ns, count in counts:
        left -= count
        if left <= 0:
            return ns / 1e6
    return 0.0


def longest_ms(counts: Counts) -> float:
    """Return the longest latency in milliseconds; zero without counts."""
    return counts[-1][0] / 1e6 if counts else 0.0
