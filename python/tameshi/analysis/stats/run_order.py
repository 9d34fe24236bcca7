"""The order in which runs are made: random within a repetition, the same for the same seed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def randomised(
    runs: Sequence[T], seed: int, block: Callable[[T], int], name: Callable[[T], str]
) -> list[T]:
    """Block by block (a block is a repetition), the runs of each shuffled.

    So whatever changes with time, such as a drive that fills or a machine that warms up, hits no
    cell more than another. Each run's place follows from the seed, its block and its name alone:
    what remains of an interrupted study keeps the order it had.
    """

    def place(run: T) -> tuple[int, str]:
        text = f"{seed}/{block(run)}/{name(run)}"
        return block(run), hashlib.sha256(text.encode()).hexdigest()

    return sorted(runs, key=place)
