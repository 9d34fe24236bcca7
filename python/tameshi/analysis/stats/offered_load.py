"""What arrives in open loop: nobody serves more, and no interval of a rate goes beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis.stats.estimates import NANOSECONDS, Estimate, WindowData
from tameshi.analysis.stats.intervals import Interval

TRANSACTIONS = "transaction.rate"
SERVED = (TRANSACTIONS, "statement.rate", "transaction.tpmc")
"""Rates of what is served: of a program, and of its kinds of transactions in proportion."""
BY_CHANCE = 3.0
"""So many standard deviations of Poisson's counts are chance."""


@dataclass(frozen=True)
class Loaded:
    """A cell by what arrives in it.

    `phase`: its world and phase; `arrivals` of its streams, `rest` is all else that it does.
    """

    phase: tuple[str, str]
    levels: Mapping[str, str]
    arrivals: Sequence[Any]
    rest: Any


def is_offered(axis: str, cells: Iterable[Loaded]) -> bool:
    """Whether an axis is the rate at which load arrives: cells along it differ in nothing else."""
    along: dict[tuple[Any, ...], list[Loaded]] = {}
    for cell in cells:
        if axis in cell.levels:
            others = tuple((name, lv) for name, lv in cell.levels.items() if name != axis)
            along.setdefault((cell.phase, *others), []).append(cell)
    pairs = [(cells[0], other) for cells in along.values() for other in cells[1:]]
    return bool(pairs) and all(
        one.arrivals != other.arrivals
        and list(map(type, one.arrivals)) == list(map(type, other.arrivals))
        and one.rest == other.rest
        for one, other in pairs
    )


@dataclass(frozen=True)
class Offered:
    """What arrives of a program or a stream, at a mean rate (1/s), in so many seconds.

    `times`: how many times what was served; `backlog`: more was served than arrives, by more than
    chance: some of it was left from before. `whole`: its metrics of all that is served.
    """

    subject: str
    seconds: float
    times: float
    backlog: bool
    whole: Sequence[str]


def offered(
    subject: str,
    rate: str,
    runs: Sequence[WindowData],
    *,
    counter: str = "transaction.count",
    whole: Sequence[str] = (TRANSACTIONS,),
) -> Offered | None:
    """Of the runs' windows, at a rate such as `200 /s`; None where nothing was served.

    The mean rate counts, not the arrivals that were told: those of the ramp that nobody has begun
    are told with the others, at the end.
    """
    seconds = sum(run.length_ns for run in runs) / NANOSECONDS
    arrives = float(rate.removesuffix("/s").replace("_", "")) * seconds
    served = sum(sum(run.counters.get(counter, ())) for run in runs)
    if not arrives or not served:
        return None
    backlog = served > arrives + BY_CHANCE * math.sqrt(arrives)
    return Offered(subject, seconds, arrives / served, backlog, whole)


def bounded(estimates: Sequence[Estimate], of: Offered | None) -> Iterator[Estimate]:
    """The estimates, with rates of what is served, and their intervals, kept to what arrives."""
    rates = {each.subject: each.value for each in estimates if each.metric == TRANSACTIONS}
    for each in estimates:
        slack = None if of is None else _slack(each, of, rates)
        if of is None or slack is None:
            yield each
            continue
        at_most = each.value * max(of.times, 1.0) * (1 + slack)
        sampling = each.sampling if of.backlog else kept(each.sampling, high=at_most)
        yield replace(each, at_most=at_most, sampling=sampling)


def _slack(estimate: Estimate, of: Offered, rates: Mapping[str, float]) -> float | None:
    """What chance does to the share of a rate in what arrives, relative; None: not bound by it."""
    if estimate.subject == of.subject and estimate.metric in of.whole:
        return 0.0
    if estimate.metric not in SERVED or not rates.get(estimate.subject):
        return None
    return BY_CHANCE / math.sqrt(rates[estimate.subject] * of.seconds)


def kept(interval: Interval, *, low: float = 0.0, high: float = math.inf) -> Interval:
    """An interval within bounds; what was cut is symmetric no more."""
    if interval.low is None or interval.high is None:
        return interval
    if interval.low >= low and interval.high <= high:
        return interval
    return replace(
        interval, low=max(interval.low, low), high=min(interval.high, high), degrees=None
    )
