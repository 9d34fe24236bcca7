"""Gain of one level of an axis over another, over all cells that differ in nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

INNER = (0.05, 0.95)
"""Quantiles of the pairs' ratios between which nine tenths lie."""


@dataclass(frozen=True)
class Gain:
    """Ratio of a figure at one level to that at another, over pairs of cells."""

    ratio: float
    """Of the median pair."""
    low: float
    high: float
    """Ends of the range of nine tenths of the pairs."""
    pairs: int
    rows: tuple[int, int]
    """Places of the cells of the median pair: at the level, and at its base."""


def gain(
    figures: Sequence[float],
    levels: Mapping[str, Sequence[Any]],
    axis: str,
    sides: tuple[str, str],
    at: Mapping[str, str] | None = None,
) -> Gain | None:
    """Return the gain of the first of the `sides` over the second; None without a pair.

    `levels`: of each axis the level of every cell, in the order of `figures`. `at`: levels of other
    axes to which pairs are limited.
    """
    others = [levels[name] for name in levels if name != axis]
    limits = [(levels[name], level) for name, level in (at or {}).items() if name in levels]
    by_side: dict[str, dict[tuple[Any, ...], int]] = {side: {} for side in sides}
    for row, (level, figure) in enumerate(zip(levels[axis], figures, strict=True)):
        is_wanted = level in by_side and math.isfinite(figure) and figure > 0
        if is_wanted and all(column[row] == wanted for column, wanted in limits):
            by_side[level][tuple(column[row] for column in others)] = row
    tops, bottoms = (by_side[side] for side in sides)
    pairs = sorted(
        (float(figures[row] / figures[bottoms[rest]]), row, bottoms[rest])
        for rest, row in tops.items()
        if rest in bottoms
    )
    if not pairs:
        return None
    ratio, *rows = pairs[(len(pairs) - 1) // 2]
    low, high = (pairs[round(share * (len(pairs) - 1))][0] for share in INNER)
    return Gain(ratio, low, high, len(pairs), (rows[0], rows[1]))
