"""95 % intervals of a mean over runs, and of a ratio or a quantile within one run.

Rates and latencies are positive and effects on them multiply, so intervals are on the logarithm if
possible. See docs/statistics.md for each method and its measured coverage.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any

from scipy.special import stdtrit

CONFIDENCE = 0.95
FEWEST_INTERVALS = 12
"""Least recorded intervals for an interval within a run; with fewer, serial correlation looks like
chance."""
MOST_WAVES = 6
"""Degrees of freedom within a run. More narrow the interval a little, and miss slow changes."""
WAVES_PER_INTERVALS = 0.4
FEWEST_FOR_QUANTILE = 20
FEWEST_BEYOND = 20
"""Least operations on either side of a percentile for an interval within one run."""
GREATEST_CORRELATION = 0.95
LEAST_CORRELATION = -0.5
WIDEST_WITHIN = math.log(10)
"""Greatest half-width on the logarithm within one run. A few cosine waves cannot determine an error
as large as the value itself."""
WIDEST = 300.0
"""Greatest half-width on the logarithm: keeps exp() finite."""

OVER_RUNS = "t_runs_log"
OVER_RUNS_PLAIN = "t_runs"
WITHIN = "t_within"
WITHIN_QUANTILE = "quantiles_within"
TOO_FEW, TOO_UNEVEN, NOTHING_TO_DIVIDE = "few_intervals", "uneven", "nothing"
"""Codes of methods; docs/statistics.md lists them with those of what has no interval."""


@dataclass(frozen=True)
class Interval:
    """Bounds of a 95 % interval with their method, or the code of the reason for their absence.

    `degrees`: degrees of freedom of the t distribution of bounds symmetric on the logarithm; None
    for others.
    """

    low: float | None
    high: float | None
    runs: int
    method: str
    degrees: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The form of results.json."""
        return {
            "low": digits(self.low),
            "high": digits(self.high),
            "runs": self.runs,
            "method": self.method,
            "degrees": digits(self.degrees),
        }


def none(reason: str, runs: int = 1) -> Interval:
    """Return no interval; `reason` is a code of docs/statistics.md."""
    return Interval(None, None, runs, reason)


def digits(value: float | None) -> float | None:
    """Round to twelve digits: the last ones of exp() and log() differ between machines."""
    return None if value is None else float(f"{value:.12g}")


def quantile(degrees: float) -> float:
    """Return the half-width of a Student t interval in standard errors."""
    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))


def centre(values: Sequence[float]) -> float:
    """Return the typical run: the geometric mean, or the mean if a value is not positive."""
    if min(values) <= 0:
        return fmean(values)
    if min(values) == max(values):
        return values[0]
    return math.exp(fmean(math.log(value) for value in values))


def of_runs(values: Sequence[float], resolution: float = 0.0) -> Interval:
    """Return the interval of the typical run over independent runs.

    `resolution`: relative resolution of the record, the least width of the interval.
    """
    count = len(values)
    if count < 2:
        return none("one_run", count)
    degrees = count - 1.0
    if min(values) <= 0:
        half = quantile(degrees) * stdev(values) / math.sqrt(count)
        mean = fmean(values)
        return Interval(max(mean - half, 0.0), mean + half, count, OVER_RUNS_PLAIN)
    error = stdev(math.log(value) for value in values) / math.sqrt(count)
    return around(centre(values), error, degrees, resolution, count, OVER_RUNS)


def around(
    value: float, error: float, degrees: float, resolution: float, runs: int, method: str
) -> Interval:
    """Return the interval around a positive value from the standard error of its logarithm."""
    half = min(max(quantile(degrees) * error, resolution), WIDEST)
    return Interval(value * math.exp(-half), value * math.exp(half), runs, method, degrees)


def within(tops: Sequence[float], bottoms: Sequence[float], value: float) -> Interval:
    """Return the interval of sum(tops) / sum(bottoms) within one run, from every recorded interval.

    A rate is operations over time, a mean latency is time over operations. `value` is the centre.
    None if the interval exceeds a factor of ten.
    """
    if len(tops) < FEWEST_INTERVALS:
        return Interval(None, None, 1, TOO_FEW)
    total, parts = math.fsum(tops), math.fsum(bottoms)
    if total <= 0 or parts <= 0 or value <= 0:
        return Interval(None, None, 1, NOTHING_TO_DIVIDE)
    ratio = total / parts
    residuals = [top - ratio * bottom for top, bottom in zip(tops, bottoms, strict=True)]
    error, degrees = error_of_sum(residuals)
    if quantile(degrees) * error / total > WIDEST_WITHIN:
        return Interval(None, None, 1, TOO_UNEVEN)
    return around(value, error / total, degrees, 0.0, 1, WITHIN)


def of_quantile(
    level: float,
    below: Sequence[float],
    counts: Sequence[float],
    value_at: Callable[[float], float],
) -> Interval:
    """Return the interval of a quantile within one run (Woodruff).

    Per recorded interval, `below` counts operations at most as long as the run's quantile, `counts`
    all operations. Their share has an error, including serial correlation. `value_at` returns the
    run's quantile at the bounds of the share.
    """
    if len(counts) < FEWEST_FOR_QUANTILE:
        return none(TOO_FEW)
    total = math.fsum(counts)
    if min(level, 1 - level) * total < FEWEST_BEYOND:
        return none("few_operations")
    residuals = [part - level * count for part, count in zip(below, counts, strict=True)]
    error, degrees = error_of_sum(residuals)
    half = quantile(degrees) * error / total / (level * (1 - level))
    low, high = _shifted(level, -half), _shifted(level, half)
    if min(low, 1 - high) * total < 1:
        return none("few_operations")
    return Interval(value_at(low), value_at(high), 1, WITHIN_QUANTILE)


def _shifted(share: float, by: float) -> float:
    """Return the share whose odds are exp(by) times those of `share`."""
    odds = share / (1 - share) * math.exp(min(max(by, -WIDEST), WIDEST))
    return odds / (1 + odds)


def error_of_sum(residuals: Sequence[float]) -> tuple[float, float]:
    """Return the standard error of a serially correlated series' sum, and its degrees of freedom.

    Long-run variance by an equal-weighted cosine series (Müller 2007; Lazarus, Lewis, Stock and
    Watson 2018) after prewhitening by a first-order autoregression (Andrews and Monahan 1992).
    """
    count = len(residuals)
    mean = math.fsum(residuals) / count
    series = [value - mean for value in residuals]
    correlation = first_correlation(series, 1)
    noise = [late - correlation * early for early, late in pairwise(series)]
    waves = max(2, min(MOST_WAVES, round(WAVES_PER_INTERVALS * count ** (2 / 3))))
    strengths = [_strength(noise, wave) for wave in _waves(len(noise), waves)]
    variance = math.fsum(strengths) / waves / (1 - correlation) ** 2
    return math.sqrt(variance * count), float(waves)


def first_correlation(series: Sequence[float], fitted: int) -> float:
    """Return the lag-1 correlation of a zero-mean series, corrected for its bias in short series.

    `fitted` is the number of parameters fitted to make the mean zero: 1 for a mean, 2 for a line.
    """
    count, square = len(series), math.fsum(value * value for value in series)
    if square <= 0:
        return 0.0
    product = math.fsum(early * late for early, late in pairwise(series))
    mended = (count * product / square + fitted) / (count - 2 - fitted)
    return min(max(mended, LEAST_CORRELATION), GREATEST_CORRELATION)


def _strength(series: Sequence[float], wave: Sequence[float]) -> float:
    mean = math.fsum(series) / len(series)
    dot = math.fsum((value - mean) * height for value, height in zip(series, wave, strict=True))
    return dot * dot * 2 / len(series)


@lru_cache(maxsize=64)
def _waves(count: int, number: int) -> tuple[tuple[float, ...], ...]:
    """Yield half a cosine wave over the series, then two halves, three …"""
    return tuple(
        tuple(math.cos(math.pi * wave * (place + 0.5) / count) for place in range(count))
        for wave in range(1, number + 1)
    )
