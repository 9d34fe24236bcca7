"""Offered load in open loop: an upper bound of every rate and its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis.stats.estimates import NANOSECONDS, Estimate, WindowData
from tameshi.analysis.stats.intervals import Interval

TRANSACTIONS = "transaction.rate"
SERVED = (TRANSACTIONS, "statement.rate", "transaction.tpmc")
"""Rates of served work: of a program, and of its transaction types in proportion."""
BY_CHANCE = 3.0
"""Standard deviations of a Poisson count that chance explains."""


@dataclass(frozen=True)
class Loaded:
    """Cell by its offered load.

    `phase`: its world and phase; `arrivals` of its streams; `rest`: everything else that it does.
    """

    phase: tuple[str, str]
    levels: Mapping[str, str]
    arrivals: Sequence[Any]
    rest: Any


def is_offered(axis: str, cells: Iterable[Loaded]) -> bool:
    """Return whether cells along an axis differ in their arrival rate alone."""
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
    """Offered load of a program or stream, at a mean rate (1/s), over a number of seconds.

    `times`: arrivals per served operation. `backlog`: more was served than arrived, beyond chance,
    so some of it had queued before. `whole`: metrics of everything that is served.
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
    """Return the offered load of the runs' windows, at a rate such as `200 /s`; None if nothing was
    served.

    The mean rate counts, not the recorded arrivals: the record counts those of the ramp that no
    client began at the end.
    """
    seconds = sum(run.length_ns for run in runs) / NANOSECONDS
    arrives = float(rate.removesuffix("/s").replace("_", "")) * seconds
    served = sum(sum(run.counters.get(counter, ())) for run in runs)
    if not arrives or not served:
        return None
    backlog = served > arrives + BY_CHANCE * math.sqrt(arrives)
    return Offered(subject, seconds, arrives / served, backlog, whole)


def bounded(estimates: Sequence[Estimate], load: Offered | None) -> Iterator[Estimate]:
    """Return the estimates with rates, and their intervals, limited to the offered load."""
    rates = {each.subject: each.value for each in estimates if each.metric == TRANSACTIONS}
    for each in estimates:
        slack = None if load is None else _slack(each, load, rates)
        if load is None or slack is None:
            yield each
            continue
        at_most = each.value * max(load.times, 1.0) * (1 + slack)
        sampling = each.sampling if load.backlog else kept(each.sampling, high=at_most)
        yield replace(each, at_most=at_most, sampling=sampling)


def _slack(estimate: Estimate, load: Offered, rates: Mapping[str, float]) -> float | None:
    """Return the relative sampling error of a rate's share in the offered load; None if
    unbounded."""
    if estimate.subject == load.subject and estimate.metric in load.whole:
        return 0.0
    if estimate.metric not in SERVED or not rates.get(estimate.subject):
        return None
    return BY_CHANCE / math.sqrt(rates[estimate.subject] * load.seconds)


def kept(interval: Interval, *, low: float = 0.0, high: float = math.inf) -> Interval:
    """Return an interval within bounds; a cut interval is no longer symmetric."""
    if interval.low is None or interval.high is None:
        return interval
    if interval.low >= low and interval.high <= high:
        return interval
    return replace(
        interval, low=max(interval.low, low), high=min(interval.high, high), degrees=None
    )
