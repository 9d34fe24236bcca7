"""What arrives in open loop: nobody serves more, and no interval of a rate goes beyond it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tameshi.stats.estimates import NANOSECONDS, Estimate, WindowData
from tameshi.stats.intervals import Interval

TRANSACTIONS = "transaction.rate"
SERVED = (TRANSACTIONS, "statement.rate", "transaction.tpmc")
"""Rates of what is served: of a program, and of its kinds of transactions in proportion."""
BY_CHANCE = 3.0
"""So many standard deviations of Poisson's counts are chance."""


@dataclass(frozen=True)
class Offered:
    """What arrives of a program, at a mean rate (1/s), in so many seconds.

    `times`: how many times what was served; `backlog`: more was served than arrives, by more than
    chance: some of it was left from before.
    """

    program: str
    seconds: float
    times: float
    backlog: bool


def offered(program: str, per_second: float, runs: Sequence[WindowData]) -> Offered | None:
    """Of the runs' windows of a program; None where nothing was served.

    The mean rate counts, not the arrivals that were told: those of the ramp that nobody has begun
    are told with the others, at the end.
    """
    seconds = sum(run.length_ns for run in runs) / NANOSECONDS
    arrives = per_second * seconds
    served = sum(sum(run.counters.get("transaction.count", ())) for run in runs)
    if not arrives or not served:
        return None
    backlog = served > arrives + BY_CHANCE * math.sqrt(arrives)
    return Offered(program, seconds, arrives / served, backlog)


def bounded(estimates: Sequence[Estimate], of: Offered | None) -> Iterator[Estimate]:
    """The estimates, with rates of what is served, and their intervals, kept to what arrives."""
    rates = {each.subject: each.value for each in estimates if each.metric == TRANSACTIONS}
    for each in estimates:
        if of is None or each.metric not in SERVED or not rates.get(each.subject):
            yield each
            continue
        at_most = each.value * max(of.times, 1.0) * (1 + _mixed(each, of, rates))
        sampling = each.sampling if of.backlog else kept(each.sampling, high=at_most)
        yield replace(each, at_most=at_most, sampling=sampling)


def _mixed(estimate: Estimate, of: Offered, rates: Mapping[str, float]) -> float:
    """What chance does to the share of a kind, or of statements, in what arrives: relative."""
    if (estimate.subject, estimate.metric) == (of.program, TRANSACTIONS):
        return 0.0
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
