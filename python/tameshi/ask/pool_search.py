"""Search over buffer pool sizes: doubling over the range, then bisection near the target."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

FINE = 1.2
"""Smallest ratio of neighbouring pools."""
NEAR = 0.9
"""Share of the target below which no pool next to the fastest is tested."""
LARGE, SMALL = 256 << 20, 1 << 20
"""Rounding of pools between steps: from 4 GiB up, and below."""


@dataclass(frozen=True)
class Tried:
    """Finished configuration: whether it meets the target, and its cost.

    `reach`: share of the target that it reaches, by its worst part.
    """

    storage: str
    pool: int
    meets: bool
    cost: float
    reach: float


def doubled_sizes(low: int, high: int) -> list[int]:
    """Return sizes from the least to the greatest by doubling, including both."""
    sizes = []
    size = low
    while size < high:
        sizes.append(size)
        size *= 2
    if sizes and high / sizes[-1] < FINE and len(sizes) > 1:
        sizes.pop()
    return [*sizes, high]


def middle_of(low: int, high: int) -> int | None:
    """Return the geometric mean of two sizes; None if they are near enough."""
    if high / low <= FINE:
        return None
    step = LARGE if low >= 4 << 30 else SMALL
    middle = round(math.sqrt(low * high) / step) * step
    return middle if low < middle < high else None


def refinements(tried: Sequence[Tried], cost: Callable[[str, int], float]) -> dict[str, int]:
    """Return, by storage, the pool to test next, if it could be cheaper than the best.

    A larger pool is usually faster, but sometimes some per cent slower. Before a storage that
    nearly meets the target is rejected, the pools next to its fastest one are tested too.
    """
    best = min((each.cost for each in tried if each.meets), default=math.inf)
    pools_to_test: dict[str, int] = {}
    for storage, pools in by_storage(tried).items():
        middle = _below(pools) if any(each.meets for each in pools) else _near_peak(pools)
        if middle is not None and cost(storage, middle) < best:
            pools_to_test[storage] = middle
    return pools_to_test


def _below(pools: Sequence[Tried]) -> int | None:
    """Return a pool between the smallest that meets the target and its smaller neighbour."""
    good = next(place for place, each in enumerate(pools) if each.meets)
    return middle_of(pools[good - 1].pool, pools[good].pool) if good else None


def _near_peak(pools: Sequence[Tried]) -> int | None:
    """Return a pool on the wider side of the fastest, if a larger pool is no faster."""
    peak = max(range(len(pools)), key=lambda place: pools[place].reach)
    if peak == len(pools) - 1 or pools[peak].reach < NEAR:
        return None
    sides = [(pools[place].pool, pools[place + 1].pool) for place in (peak, peak - 1) if place >= 0]
    wide = sorted(sides, key=lambda side: side[1] / side[0], reverse=True)
    return next((middle for side in wide if (middle := middle_of(*side))), None)


def falls(tried: Sequence[Tried]) -> list[tuple[Tried, Tried]]:
    """Return, by storage, the first pool that meets the target while the next larger misses it."""
    drops = []
    for pools in by_storage(tried).values():
        steps = pairwise(pools)
        fall = next((step for step in steps if step[0].meets and not step[1].meets), None)
        drops += [fall] if fall else []
    return drops


def by_storage(tried: Sequence[Tried]) -> Mapping[str, Sequence[Tried]]:
    """Return finished configurations by storage, in ascending order of pools."""
    groups: dict[str, list[Tried]] = {}
    for each in sorted(tried, key=lambda each: each.pool):
        groups.setdefault(each.storage, []).append(each)
    return groups
