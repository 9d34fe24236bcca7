"""Order of runs: random within a repetition, and a function of the seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def randomised(
    runs: Sequence[T], seed: int, block: Callable[[T], int], name: Callable[[T], str]
) -> list[T]:
    """Return the runs with each block (a repetition) shuffled.

    Changes over time, such as a filling drive or a warming machine, then affect all cells alike.
    Each run's place depends on the seed, its block and its name alone, so an interrupted study
    keeps its order.
    """

    def place(run: T) -> tuple[int, str]:
        text = f"{seed}/{block(run)}/{name(run)}"
        return block(run), hashlib.sha256(text.encode()).hexdigest()

    return sorted(runs, key=place)
