"""Which buffer pools are tried: doubling over the range, then between where it turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

FINE = 1.2
"""Neighbouring pools are not brought nearer to each other than this factor."""
NEAR = 0.9
"""With less of the target nobody looks for a pool beside the fastest that would meet it."""
LARGE, SMALL = 256 << 20, 1 << 20
"""What pools between rungs are rounded to: up from 4 GiB, and below."""


@dataclass(frozen=True)
class Tried:
    """A configuration that was run: whether it meets the target, and its cost.

    `reach`: what share of the target it reaches, by the part that it is nearer to missing.
    """

    storage: str
    pool: int
    meets: bool
    cost: float
    reach: float


def rungs(low: int, high: int) -> list[int]:
    """From the least size by doubling to the greatest, which is always one of them."""
    found = []
    size = low
    while size < high:
        found.append(size)
        size *= 2
    if found and high / found[-1] < FINE and len(found) > 1:
        found.pop()
    return [*found, high]


def between(low: int, high: int) -> int | None:
    """A size in the middle, as a factor; None where they are near enough already."""
    if high / low <= FINE:
        return None
    step = LARGE if low >= 4 << 30 else SMALL
    middle = round(math.sqrt(low * high) / step) * step
    return middle if low < middle < high else None


def refinements(tried: Sequence[Tried], cost: Callable[[str, int], float]) -> dict[str, int]:
    """By storage, the pool to try next, where it could be cheaper than the best.

    A larger pool is mostly the better one, but now and then some per cent slower: what lies beside
    the fastest is tried, too, before a storage that nearly meets the target is given up.
    """
    best = min((each.cost for each in tried if each.meets), default=math.inf)
    found: dict[str, int] = {}
    for storage, pools in by_storage(tried).items():
        middle = _below(pools) if any(each.meets for each in pools) else _beside(pools)
        if middle is not None and cost(storage, middle) < best:
            found[storage] = middle
    return found


def _below(pools: Sequence[Tried]) -> int | None:
    """Between the least pool that meets the target and the greatest below it, which does not."""
    good = next(place for place, each in enumerate(pools) if each.meets)
    return between(pools[good - 1].pool, pools[good].pool) if good else None


def _beside(pools: Sequence[Tried]) -> int | None:
    """Beside the fastest pool, on the wider side, where a larger one was no faster."""
    peak = max(range(len(pools)), key=lambda place: pools[place].reach)
    if peak == len(pools) - 1 or pools[peak].reach < NEAR:
        return None
    sides = [(pools[place].pool, pools[place + 1].pool) for place in (peak, peak - 1) if place >= 0]
    wide = sorted(sides, key=lambda side: side[1] / side[0], reverse=True)
    return next((middle for side in wide if (middle := between(*side))), None)


def falls(tried: Sequence[Tried]) -> list[tuple[Tried, Tried]]:
    """By storage where it is so: a pool that meets the target, and the next larger, which does not.

    Of several the first.
    """
    found = []
    for pools in by_storage(tried).values():
        steps = pairwise(pools)
        fall = next((step for step in steps if step[0].meets and not step[1].meets), None)
        found += [fall] if fall else []
    return found


def by_storage(tried: Sequence[Tried]) -> Mapping[str, Sequence[Tried]]:
    """By storage what was tried, from the least pool to the greatest."""
    found: dict[str, list[Tried]] = {}
    for each in sorted(tried, key=lambda each: each.pool):
        found.setdefault(each.storage, []).append(each)
    return found
