"""Sensitivity of a figure to many settings: share of its variance that each one explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_LEVELS = 12
"""Distinct values of a setting up to which each is a level of its own."""
BINS = 10
"""Levels of a setting with more values: its deciles."""
RESAMPLES = 100
LEAST_ROWS = 20
SEED = 1


@dataclass(frozen=True)
class MainEffect:
    """Effect of one setting on a figure, over all values of the others.

    `share`: share of the variance of the figure's logarithm, between `low` and `high` (95 %,
    bootstrap over cells). `ratio`: median at the setting's highest level by that at its lowest,
    between `ratio_low` and `ratio_high` in the same way.
    """

    share: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float


def main_effects(settings: Sequence[Any], values: Any) -> list[MainEffect] | None:
    """Return the effect of each setting; None with too few positive values.

    `settings`: a number per cell each, in the order of `values`; NaN is absent.
    """
    figures = np.asarray(values, float)
    columns = [np.asarray(each, float) for each in settings]
    kept = np.isfinite(figures) & (figures > 0)
    for column in columns:
        kept &= np.isfinite(column)
    logs = np.log(figures[kept])
    if len(logs) < LEAST_ROWS or float(np.var(logs)) == 0.0:
        return None
    codes = [levels(column[kept]) for column in columns]
    drawn = np.random.default_rng(SEED)
    samples = [drawn.integers(len(logs), size=len(logs)) for _ in range(RESAMPLES)]
    return [_effect(each, logs, samples) for each in codes]


def levels(column: Any) -> Any:
    """Return the level of each value: its place among few distinct ones, else its decile."""
    distinct, places = np.unique(column, return_inverse=True)
    if len(distinct) <= MOST_LEVELS:
        return places
    edges = np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1])
    return np.searchsorted(edges, column, side="right")


def _effect(codes: Any, logs: Any, samples: Sequence[Any]) -> MainEffect:
    shares = [_share(codes[rows], logs[rows]) for rows in samples]
    low, high = np.quantile(shares, (0.025, 0.975))
    drawn = [_between_ends(codes[rows], logs[rows]) for rows in samples]
    ratio = _between_ends(codes, logs)
    least, most = np.quantile(drawn, (0.025, 0.975))
    share = _share(codes, logs)
    return MainEffect(
        *(share, min(float(low), share), max(float(high), share)),
        *(ratio, min(float(least), ratio), max(float(most), ratio)),
    )


def _between_ends(codes: Any, logs: Any) -> float:
    """Return the median figure at the highest level by that at the lowest."""
    first, last = logs[codes == codes.min()], logs[codes == codes.max()]
    return float(np.exp(np.median(last) - np.median(first)))


def _share(codes: Any, logs: Any) -> float:
    """Return the share of variance between levels, without what chance alone would give."""
    counts = np.bincount(codes)
    sums = np.bincount(codes, weights=logs)
    there = counts > 0
    whole = float(np.sum((logs - logs.mean()) ** 2))
    if whole == 0.0:
        return 0.0
    means = sums[there] / counts[there]
    between = float(np.sum(counts[there] * (means - logs.mean()) ** 2))
    rows, groups = len(logs), int(there.sum())
    if rows <= groups:
        return 0.0
    within = (whole - between) / (rows - groups)
    return min(max((between - (groups - 1) * within) / whole, 0.0), 1.0)


def frontier(across: Any, up: Any, *, most: bool) -> list[int]:
    """Return the cells that no other one beats in both figures, by ascending `across`.

    `up` is better if smaller; `across` is better if larger with `most`, else if smaller.
    """
    first, second = np.asarray(across, float), np.asarray(up, float)
    places = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    order = places[np.lexsort((second[places], -first[places] if most else first[places]))]
    kept, least = [], np.inf
    for place in order:
        if second[place] < least:
            kept.append(int(place))
            least = second[place]
    return sorted(kept, key=lambda place: float(first[place]))


def thinned(across: Any, up: Any, bins: tuple[int, int]) -> list[int]:
    """Return one cell per field of a grid over both figures, both on logarithmic scales."""
    first, second = np.asarray(across, float), np.asarray(up, float)
    kept = np.flatnonzero(np.isfinite(first) & np.isfinite(second) & (first > 0) & (second > 0))
    if not len(kept):
        return []
    fields = [
        _fields(np.log(column[kept]), count)
        for column, count in zip((first, second), bins, strict=True)
    ]
    _, chosen = np.unique(fields[0] * bins[1] + fields[1], return_index=True)
    return sorted(int(kept[place]) for place in chosen)


def _fields(logs: Any, count: int) -> Any:
    span = float(logs.max() - logs.min()) or 1.0
    return np.minimum((logs - logs.min()) / span * count, count - 1).astype(int)
