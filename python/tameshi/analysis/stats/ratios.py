"""A ratio of two estimates with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import stdev

from tameshi.analysis.stats.intervals import Interval, around, none, quantile
from tameshi.analysis.stats.offered_load import kept

PAIRED = "t_paired_log"
WELCH = "welch_log"
MOVER = "mover_log"
Modelled = tuple[float, tuple[float, float] | None]
"""Value with its model error; None if it was measured."""


@dataclass(frozen=True)
class Side:
    """Numerator or denominator of a ratio; `by_repetition` may be empty.

    `at_most`: arrival rate in open loop.
    """

    value: float
    sampling: Interval
    by_repetition: Mapping[int, float] = field(default_factory=dict)
    at_most: float | None = None


def ratio(
    top: Side, bottom: Side, *, paired: bool, resolution: float = 0.0
) -> tuple[float | None, Interval]:
    """Return the ratio (None if the denominator is zero) and its interval.

    `paired`: both were made side by side in each repetition (same run, same seed, or one after the
    other on the same machine), so that shared variation cancels.
    """
    runs = min(top.sampling.runs, bottom.sampling.runs)
    if bottom.value <= 0 or top.value <= 0:
        ratio = top.value / bottom.value if bottom.value > 0 else None
        return ratio, none("zero", runs)
    ratio = top.value / bottom.value
    if paired and _matched(top, bottom):
        return ratio, _reachable(_paired(ratio, top, bottom, resolution), top, bottom)
    return ratio, _reachable(of_intervals(top, bottom), top, bottom)


def _reachable(interval: Interval, top: Side, bottom: Side) -> Interval:
    """Return a ratio's interval without values beyond the arrival rate of a side."""
    least, floor = bottom.sampling.low, top.sampling.low
    high = top.at_most / least if top.at_most and least else math.inf
    low = floor / bottom.at_most if bottom.at_most and floor else 0.0
    return kept(interval, low=low, high=high)


def _matched(top: Side, bottom: Side) -> bool:
    """Return whether both have the same repetitions, two or more, with positive values."""
    values = [*top.by_repetition.values(), *bottom.by_repetition.values()]
    same = top.by_repetition.keys() == bottom.by_repetition.keys()
    return same and len(top.by_repetition) > 1 and min(values) > 0


def _paired(ratio: float, top: Side, bottom: Side, resolution: float) -> Interval:
    logs = [math.log(value / bottom.by_repetition[key]) for key, value in top.by_repetition.items()]
    count = len(logs)
    return around(ratio, stdev(logs) / math.sqrt(count), count - 1.0, resolution, count, PAIRED)


def of_intervals(top: Side, bottom: Side) -> Interval:
    """Return the interval of a ratio of two independent estimates, from their intervals alone."""
    runs = min(top.sampling.runs, bottom.sampling.runs)
    sides = (top, bottom)
    if any(side.sampling.low is None or side.sampling.high is None for side in sides):
        return none("side_without", runs)
    if any(not side.sampling.low or side.sampling.low <= 0 or side.value <= 0 for side in sides):
        return none("side_zero", runs)
    if all(side.sampling.degrees for side in sides):
        return _welch(top, bottom, runs)
    low, high = mover(top, bottom)
    return Interval(low, high, runs, MOVER)


def _welch(top: Side, bottom: Side, runs: int) -> Interval:
    """Return errors in quadrature, with the degrees of freedom of Welch and Satterthwaite."""
    ratio, variances, weights = top.value / bottom.value, [], []
    for sampling in (top.sampling, bottom.sampling):
        assert sampling.low and sampling.high and sampling.degrees
        error = math.log(sampling.high / sampling.low) / 2 / quantile(sampling.degrees)
        variances.append(error**2)
        weights.append(error**4 / sampling.degrees)
    total = math.fsum(variances)
    if total == 0:
        return Interval(ratio, ratio, runs, WELCH)
    degrees = total**2 / math.fsum(weights)
    return around(ratio, math.sqrt(total), degrees, 0.0, runs, WELCH)


def of_models(top: Modelled, bottom: Modelled) -> tuple[float, float] | None:
    """Return the model error of a ratio: that of the less certain side.

    Each side moves the ratio as far as the side's own error; the arrival rate limits the numerator.
    None if no side is modelled, or if one is not positive.
    """
    if top[0] <= 0 or bottom[0] <= 0:
        return None
    factors = [bound / top[0] for bound in top[1] or () if bound > 0]
    factors += [bottom[0] / bound for bound in bottom[1] or () if bound > 0]
    if not factors:
        return None
    return top[0] / bottom[0] * min(factors), top[0] / bottom[0] * max(factors)


def mover(top: Side, bottom: Side) -> tuple[float, float]:
    """Return bounds of a ratio from bounds of its two sides (Donner and Zou 2012), all positive."""
    (a_low, a, a_high), (b_low, b, b_high) = (
        [math.log(bound or 0.0) for bound in (side.sampling.low, side.value, side.sampling.high)]
        for side in (top, bottom)
    )
    low = a - b - math.hypot(a - a_low, b_high - b)
    high = a - b + math.hypot(a_high - a, b - b_low)
    return math.exp(low), math.exp(high)
