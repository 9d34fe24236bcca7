"""95 % intervals of a mean and of a ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from scipy.stats import t as student

CONFIDENCE = 0.95
MOST_BATCHES = 10
FEWEST_BATCHES = 5


@dataclass(frozen=True)
class Interval:
    """Bounds of a 95 % interval (None: one value gives none) and how they were found."""

    low: float | None
    high: float | None
    runs: int
    method: str

    def as_json(self) -> dict[str, Any]:
        """The form of results.json."""
        return {"low": self.low, "high": self.high, "runs": self.runs, "method": self.method}


def of_runs(values: Sequence[float]) -> Interval:
    """Of the mean over runs, which are independent: Student's t."""
    return _student(values, len(values), f"Student's t over {len(values)} runs")


def of_batches(values: Sequence[float]) -> Interval:
    """Of the mean within one run: Student's t over batch means, which take up serial correlation."""
    return _student(values, 1, f"batch means of one run, {len(values)} batches")


def none(method: str, runs: int = 1) -> Interval:
    """No interval, and why."""
    return Interval(None, None, runs, method)


def _student(values: Sequence[float], runs: int, method: str) -> Interval:
    mean, count = fmean(values), len(values)
    half = float(student.ppf(0.5 + CONFIDENCE / 2, count - 1)) * stdev(values) / math.sqrt(count)
    return Interval(mean - half, mean + half, runs, method)


def batches(count: int) -> list[slice]:
    """Slices that cut `count` intervals into 5 to 10 batches of equal length; none if there are too few.

    What does not fill a batch is left out at the begin, which is the part nearest to the ramp.
    """
    number = min(MOST_BATCHES, count // 2)
    if number < FEWEST_BATCHES:
        return []
    length = count // number
    first = count - number * length
    return [slice(first + k * length, first + (k + 1) * length) for k in range(number)]


def of_ratio(numerator: float, above: Interval, denominator: float, below: Interval) -> Interval:
    """Of a ratio of two independent estimates: their relative errors added in quadrature, on the logarithm."""
    runs = min(above.runs, below.runs)
    if above.low is None or below.low is None or above.high is None or below.high is None:
        return none("an estimate without interval gives none", runs)
    if numerator <= 0 or denominator <= 0:
        return none("a ratio to zero has none", runs)
    relative = math.hypot((above.high - numerator) / numerator, (below.high - denominator) / denominator)
    ratio = numerator / denominator
    method = "delta method on the logarithm of two independent estimates"
    return Interval(ratio * math.exp(-relative), ratio * math.exp(relative), runs, method)
