"""Flags of series that are no repetitions of one thing: drift, transients, outliers, spread.

Flags exclude nothing. A flag needs a difference beyond chance, and one large enough to matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import stdtr, stdtrit

from tameshi.analysis.stats.estimates import OPERATIONS, WindowData, present, rate_name, rate_of
from tameshi.analysis.stats.intervals import digits, first_correlation
from tameshi.core.reasons import Reason, reason

NOTICEABLE = 0.05
"""Least relative change to flag."""
FEWEST_POINTS = 20
FEWEST_ONE_WAY = 10
"""Least points of a drift found by its constant direction."""
ONE_WAY = 0.9
"""Least Kendall tau of a series with a constant direction: noise with a correlation of 0.9 reaches
it in two of a thousand series of 20 points, and in none of 60."""
ONE_WAY_OF_FEW = 0.95
"""The same for fewer than `FEWEST_POINTS`."""
MOST_POINTS = 60
"""Points to which longer series are averaged, which removes most of their correlation."""
DRIFT_CHANCE = 0.001
"""Probability of flagging a run without drift: a study tests hundreds of series."""
OUTLIER_CHANCE = 0.01
FEWEST_FOR_TREND = 5
FEWEST_FOR_OUTLIER = 4
WIDE = 1.25
WIDE_ERRORS = 4.0


@dataclass(frozen=True)
class Flag:
    """Caveat of an estimate.

    `repetition`: its run, None if it covers all. `change`: relative; of a drift from start to end,
    of a transient the whole run to its later part, of an outlier to the other runs, of a spread
    from least to greatest.
    """

    code: str
    subject: str
    operation: str
    metric: str
    repetition: int | None
    change: float | None

    @property
    def reason(self) -> Reason:
        """Reason for the verdict: equal for equal findings, so that cells can be grouped."""
        return reason(self.code, self.subject, operation=self.operation)

    def as_json(self) -> dict[str, Any]:
        """The form of results.json."""
        return {
            "code": self.code,
            "subject": self.subject,
            "metric": self.metric,
            "repetition": self.repetition,
            "change": digits(self.change),
        }


def flags(
    subject: str, runs: Sequence[WindowData], *, ordered: bool, varied: bool = False
) -> list[Flag]:
    """Return every flag of a stream over one cell's steady windows.

    `ordered`: repetitions follow one another in time, as everywhere except in simulation. `varied`:
    the study itself varies arrivals, and with them the results, within a run.
    """
    raised = []
    for operation in OPERATIONS:
        showing = present(operation, runs)
        if not showing:
            continue
        rate, latency = rate_name(operation, "count")[0], f"{operation}.latency.mean"
        if len(showing) < len(runs):
            lacking = [run.repetition for run in runs if run not in showing]
            raised += [Flag("absent", subject, operation, rate, number, None) for number in lacking]
        count, total = f"{operation}.count", f"{operation}.latency_sum"
        for run in () if varied else showing:
            for metric, top, bottom in (
                (rate, run.counters[count], run.lengths_ns),
                (latency, run.counters[total], run.counters[count]),
            ):
                for code, change in _within(top, bottom):
                    raised.append(Flag(code, subject, operation, metric, run.repetition, change))
        counts = [sum(run.counters[count]) for run in showing]
        rates = [rate_of(run, count) for run in showing]
        means = [sum(run.counters[total]) / n for run, n in zip(showing, counts, strict=True)]
        for metric, values in ((rate, rates), (latency, means)):
            for code, repetition, change in _over_runs(values, showing, counts, ordered):
                raised.append(Flag(code, subject, operation, metric, repetition, change))
    return raised


def _within(tops: Sequence[float], bottoms: Sequence[float]) -> Iterator[tuple[str, float]]:
    drift = drift_within(tops, bottoms)
    apart = transient(tops, bottoms) if drift is None else None
    if drift is not None:
        yield "drift_within", drift
    elif apart is not None:
        yield "transient", apart


def _over_runs(
    values: Sequence[float], runs: Sequence[WindowData], counts: Sequence[float], ordered: bool
) -> Iterator[tuple[str, int | None, float]]:
    for place, change in outliers(values).items():
        yield "outlier", runs[place].repetition, change
    ratio = spread(values, counts)
    if ratio is not None:
        yield "spread", None, ratio - 1
    drift = drift_over(values) if ordered else None
    if drift is not None:
        yield "drift_over", None, drift


def drift_within(tops: Sequence[float], bottoms: Sequence[float]) -> float | None:
    """Return the relative change of tops / bottoms from a run's start to its end, or None without
    drift.

    A nearly constant direction is drift. Otherwise the Mann–Kendall test decides, its variance
    corrected for serial correlation (Hamed and Rao); the Theil–Sen slope gives the size.
    """
    points = _points(tops, bottoms)
    count = len(points)
    if count < FEWEST_ONE_WAY or min(points) <= 0:
        return None
    change = theil_sen(points) * (count - 1) / median(points)
    if abs(change) < NOTICEABLE:
        return None
    score, pairs = abs(_kendall(points)), count * (count - 1) / 2
    if count < FEWEST_POINTS:
        return change if score >= ONE_WAY_OF_FEW * pairs else None
    return change if score >= ONE_WAY * pairs or _trend_is_sure(points, score) else None


def transient(tops: Sequence[float], bottoms: Sequence[float]) -> float | None:
    """Return the relative change of tops / bottoms of a run through its start, or None without one.

    The start is the stretch of at most half of the run that differs most from what follows. At
    least half of it must lie outside the range of the rest. Slopes and ranks miss such short
    transients.
    """
    points = _points(tops, bottoms)
    count = len(points)
    if count < FEWEST_ONE_WAY or min(points) <= 0:
        return None
    apart = [_apart(points[:cut], points[cut:]) for cut in range(1, count // 2 + 1)]
    chance = min(apart)
    if chance * len(apart) >= DRIFT_CHANCE:
        return None
    cut = apart.index(chance) + 1
    change = fmean(points) / fmean(points[cut:]) - 1
    is_outside = not min(points[cut:]) <= median(points[:cut]) <= max(points[cut:])
    return change if is_outside and abs(change) >= NOTICEABLE else None


def _apart(begin: Sequence[float], rest: Sequence[float]) -> float:
    """Return the probability that chance separates the means of a start and the rest this far, with
    correlated noise."""
    mean = fmean(rest)
    left = [value - mean for value in rest]
    inflation = _inflation(left, 1)
    # The exact `stdev` would take most of the time of results.json.
    variance = math.fsum(value * value for value in left) / (len(rest) - 1)
    error = math.sqrt(variance * inflation * (1 / len(begin) + 1 / len(rest)))
    difference = abs(fmean(begin) - mean)
    if difference <= 1e-9 * mean:
        return 1.0
    effective = max(len(rest) / inflation - 1, 1.0)
    return 2 * float(stdtr(effective, -difference / error)) if error > 0 else 0.0


def _inflation(left: Sequence[float], fitted: int) -> float:
    """Return the factor by which serial correlation of the residuals widens a variance."""
    correlation = max(first_correlation(left, fitted), 0.0)
    return (1 + correlation) / (1 - correlation)


def _trend_is_sure(points: Sequence[float], score: int) -> bool:
    """Return whether Kendall's score of a series with correlated noise is beyond chance.

    A parabola is subtracted first: curvature would look like correlation.
    """
    count = len(points)
    inflation = _inflation(_without_parabola(points), 3)
    error = math.sqrt(count * (count - 1) * (2 * count + 5) / 18 * inflation)
    effective = max(count / inflation - 2, 1.0)
    return 2 * float(stdtr(effective, -(score - 1) / error)) < DRIFT_CHANCE


def _without_parabola(points: Sequence[float]) -> list[float]:
    """Return the residuals of a least-squares parabola, with mean zero."""
    places = np.arange(len(points))
    return [float(left) for left in points - Polynomial.fit(places, points, 2)(places)]


def drift_over(values: Sequence[float]) -> float | None:
    """Return the relative change over repetitions in their order, or None without drift."""
    count = len(values)
    if count < FEWEST_FOR_TREND or min(values) <= 0:
        return None
    change = theil_sen(values) * (count - 1) / median(values)
    certain = abs(_kendall(values)) >= _sure_score(count)
    return change if certain and abs(change) >= NOTICEABLE else None


def outliers(values: Sequence[float]) -> dict[int, float]:
    """Return indices of outlying runs, with their distance as a share.

    Generalised extreme studentised deviate test (Rosner 1983) on logarithms, for up to a quarter of
    the runs, so that no outlier hides another. Three runs are too few for a test.
    """
    if len(values) < FEWEST_FOR_OUTLIER or min(values) <= 0:
        return {}
    left = {place: math.log(value) for place, value in enumerate(values)}
    places: list[int] = []
    certain = 0
    for _ in range(max(1, len(values) // 4)):
        mean, spread = fmean(left.values()), stdev(left.values())
        place = max(left, key=lambda key: abs(left[key] - mean))
        places.append(place)
        if spread > 0 and abs(left[place] - mean) / spread > _greatest_deviate(len(left)):
            certain = len(places)
        del left[place]
    rest = [value for place, value in enumerate(values) if place not in places[:certain]]
    typical = median(rest)
    distances = {place: values[place] / typical - 1 for place in sorted(places[:certain])}
    return {place: share for place, share in distances.items() if abs(share) >= NOTICEABLE}


def spread(values: Sequence[float], counts: Sequence[float]) -> float | None:
    """Return greatest over least of too few runs for `outliers`, if it is wide; else None.

    `counts`: operations behind each value, which bound the sampling error.
    """
    if not 2 <= len(values) < FEWEST_FOR_OUTLIER or min(values) <= 0 or min(counts) <= 0:
        return None
    low, high = (values.index(bound) for bound in (min(values), max(values)))
    ratio = values[high] / values[low]
    chance = math.sqrt(1 / counts[low] + 1 / counts[high])
    return ratio if ratio >= WIDE and math.log(ratio) > WIDE_ERRORS * chance else None


def theil_sen(points: Sequence[float]) -> float:
    """Return the median slope between any two points."""
    return median(_slopes(points))


def _points(tops: Sequence[float], bottoms: Sequence[float]) -> list[float]:
    """Return tops / bottoms of equal shares of the series, without a short last share."""
    length = math.ceil(len(tops) / MOST_POINTS) or 1
    shares = [slice(first, first + length) for first in range(0, len(tops) - length + 1, length)]
    sums = [(math.fsum(tops[share]), math.fsum(bottoms[share])) for share in shares]
    return [top / bottom for top, bottom in sums if bottom > 0]


def _slopes(points: Sequence[float]) -> Iterator[float]:
    for place, value in enumerate(points):
        for later in range(place + 1, len(points)):
            yield (points[later] - value) / (later - place)


def _kendall(points: Sequence[float]) -> int:
    """Return the number of rising pairs minus that of falling pairs."""
    slopes = list(_slopes(points))
    return sum(slope > 0 for slope in slopes) - sum(slope < 0 for slope in slopes)


def _sure_score(count: int) -> int:
    """Return Kendall's score that at most 2 % of the orders of `count` values reach in either
    direction."""
    by_inversions = [1]
    for length in range(2, count + 1):
        most = length * (length - 1) // 2
        by_inversions = [
            sum(by_inversions[max(0, number - length + 1) : number + 1])
            for number in range(most + 1)
        ]
    pairs = len(by_inversions) - 1
    reached, orders = 0, sum(by_inversions)
    for inversions, number in enumerate(by_inversions):
        reached += number
        if reached > 0.01 * orders:
            return pairs - 2 * inversions + 2
    return pairs


def _greatest_deviate(count: int) -> float:
    """Return the greatest studentised deviate of `count` values within chance (Grubbs)."""
    t = float(stdtrit(count - 2.0, 1 - OUTLIER_CHANCE / (2 * count)))
    return (count - 1) * t / math.sqrt((count - 2 + t * t) * count)
