"""Which buffer pools are tried: doubling over the range, then between where it turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

FINE = 1.2
"""Neighbouring pools are not brought nearer to each other than this factor."""
LARGE, SMALL = 256 << 20, 1 << 20
"""What pools between rungs are rounded to: up from 4 GiB, and below."""


@dataclass(frozen=True)
class Tried:
    """A configuration that was run: whether it meets the target, and its cost."""

    storage: str
    pool: int
    meets: bool
    cost: float


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
    """By storage, the pool to try next, where what lies below could be cheaper than the best.

    A storage's pools are taken to be the better the larger; its least one that meets the target
    and the greatest one below it that does not enclose what is looked for.
    """
    meeting = [each for each in tried if each.meets]
    best = min((each.cost for each in meeting), default=math.inf)
    found: dict[str, int] = {}
    for storage, pools in by_storage(tried).items():
        good = min((pool for pool, meets in pools.items() if meets), default=None)
        if good is None:
            continue
        bad = max((pool for pool, meets in pools.items() if not meets and pool < good), default=0)
        middle = between(bad, good) if bad else None
        if middle is not None and cost(storage, middle) < best:
            found[storage] = middle
    return found


def by_storage(tried: Sequence[Tried]) -> Mapping[str, Mapping[int, bool]]:
    """By storage and pool, whether the target is met."""
    found: dict[str, dict[int, bool]] = {}
    for each in tried:
        found.setdefault(each.storage, {})[each.pool] = each.meets
    return found
