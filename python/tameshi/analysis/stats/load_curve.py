"""Load–latency curve, highest rate under a latency limit, and knee of the curve.

The next rates follow from the search and the finished runs alone: planning again after an
interruption asks for the same runs. Latency is assumed to rise with the rate.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.stats.intervals import digits

DIGITS = 4
"""Significant digits of a rate, independent of the last bits of a maximum."""


@dataclass(frozen=True)
class Search:
    """Parameters of a search; `limit_ns` None: the curve alone.

    `budget_runs`: number of rates that the time allows; None: no budget.
    """

    shares: Sequence[float]
    limit_ns: float | None
    within: float
    runs_at_most: int
    budget_runs: int | None = None


@dataclass(frozen=True)
class Probe:
    """Limited latency at a rate, in ns, with its 95 % interval if known."""

    rate: float
    value: float
    low: float | None = None
    high: float | None = None

    def meets(self, limit_ns: float) -> bool | None:
        """Return whether the latency is certainly below the limit; None if the interval contains
        it."""
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        if high < limit_ns:
            return True
        return False if low >= limit_ns else None


def rounded(rate: float) -> float:
    """Return a rate short enough for a label."""
    return float(f"{rate:.{DIGITS - 1}e}")


def next_rates(search: Search, maximum: float, probes: Sequence[Probe]) -> list[float]:
    """Return the rates to run next; empty once the search is finished."""
    known = {probe.rate for probe in probes}
    curve = [rounded(share * maximum) for share in search.shares]
    missing = [rate for rate in dict.fromkeys(curve) if rate > 0 and rate not in known]
    if search.budget_runs is not None:
        missing = missing[: max(search.budget_runs - len(known), 0)]
    if missing:
        return missing
    if search.budget_runs is not None and len(known) >= search.budget_runs:
        return []
    if search.limit_ns is not None and len(known - set(curve)) < search.runs_at_most:
        rate = _bisected(search, maximum, probes)
        if rate is not None and rate not in known:
            return [rate]
    if search.budget_runs is not None:
        rate = _bend(probes)
        return [rate] if rate is not None and rate not in known else []
    return []


def bracket(search: Search, maximum: float, probes: Sequence[Probe]) -> tuple[float, float]:
    """Return the highest rate up to which all certainly meet the limit, and the lowest that
    certainly fails.

    0 and infinity stand for a side without a run.
    """
    assert search.limit_ns is not None
    judged = sorted((probe.rate, probe.meets(search.limit_ns)) for probe in probes)
    failing = [rate for rate, meets in judged if meets is False]
    high = min(failing, default=math.inf)
    meeting = [rate for rate, meets in judged if meets and rate < high]
    return max(meeting, default=0.0), high


def _bisected(search: Search, maximum: float, probes: Sequence[Probe]) -> float | None:
    """Return the middle of the bracket's widest part without a run."""
    low, high = bracket(search, maximum, probes)
    if math.isinf(high):
        # No rate beyond the closed-loop maximum can meet the limit.
        high = maximum
    if low >= high or high - low <= search.within * high:
        return None
    inside = sorted(probe.rate for probe in probes if low < probe.rate < high)
    places = [low, *inside, high]
    gaps = [(after - before, before) for before, after in itertools.pairwise(places)]
    # Gaps between undecided runs stay undecided: only the outer gaps narrow the bracket.
    outer = [gaps[0], gaps[-1]] if inside else gaps
    width, begin = max(outer)
    if width <= search.within * high / 2:
        return None
    return rounded(begin + width / 2)


def _bend(probes: Sequence[Probe]) -> float | None:
    """Return the middle of the step with the greatest growth of latency, weighted by width."""
    placed = sorted((p.rate, p.value) for p in probes if p.value > 0)
    if len(placed) < 2:
        return None
    steps = [
        (abs(math.log(b[1] / a[1])) * (b[0] - a[0]), a[0], b[0])
        for a, b in itertools.pairwise(placed)
    ]
    _, before, after = max(steps)
    middle = rounded((before + after) / 2)
    return middle if before < middle < after else None


def knee(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the x at which a curve is farthest from the chord between its ends (Satopaa 2011,
    Kneedle).

    None if it stays within 10 % of its height from the chord, or has fewer than three points.
    """
    placed = sorted(points)
    if len(placed) < 3:
        return None
    (x0, y0), (x1, y1) = placed[0], placed[-1]
    if x1 == x0 or y1 == y0:
        return None
    distances = [abs((y - y0) / (y1 - y0) - (x - x0) / (x1 - x0)) for x, y in placed]
    farthest = max(distances)
    return placed[distances.index(farthest)][0] if farthest >= 0.1 else None


def answer(search: Search, maximum: float, probes: Sequence[Probe]) -> dict[str, Any]:
    """Return the search's result: crossing of the limit, its confidence, and the knee."""
    result: dict[str, Any] = {
        "maximum": digits(maximum),
        "runs": len(probes),
        "knee": digits(knee([(probe.rate, probe.value) for probe in probes])),
    }
    if search.limit_ns is None:
        return result
    low, high = bracket(search, maximum, probes)
    with_intervals = all(probe.low is not None for probe in probes if probe.rate in (low, high))
    return result | {
        "value": digits(_crossing(search.limit_ns, low, high, probes)),
        "low": digits(low) if low > 0 else None,
        "high": None if math.isinf(high) else digits(high),
        "confidence": 0.95 if with_intervals and low > 0 and not math.isinf(high) else None,
    }


def _crossing(limit_ns: float, low: float, high: float, probes: Sequence[Probe]) -> float | None:
    """Return the rate at which latency crosses the limit, by interpolation on the logarithm."""
    values: Mapping[float, float] = {probe.rate: probe.value for probe in probes}
    if low <= 0:
        return None
    if math.isinf(high):
        return low
    below, above = math.log(values[low]), math.log(values[high])
    if above <= below:
        return (low + high) / 2
    share = (math.log(limit_ns) - below) / (above - below)
    return low + min(max(share, 0.0), 1.0) * (high - low)
