"""What a storage has to hold of a question: the data set, what it grows by, and the redo log."""

from __future__ import annotations

from dataclasses import dataclass

from tameshi.ask.question import Question
from tameshi.model_error import WAREHOUSE_BYTES

GROWTH, LEAST_GROWTH = 0.25, 32 << 20
"""For each byte of data, and in any case: new rows, undo logs, and changes that are buffered."""


@dataclass(frozen=True)
class Room:
    """Bytes at full size."""

    data: int
    growth: int
    log: int

    @property
    def whole(self) -> int:
        """All of them."""
        return self.data + self.growth + self.log


def room_of(question: Question, scale: int, rows: float = 1.0, log: float = 0.0) -> Room:
    """The room that a run needs, its rows so many times as large, its log at least so large."""
    # There is one warehouse at least.
    data = max(question.database_bytes * rows, WAREHOUSE_BYTES * scale)
    return Room(
        int(data), int(data * GROWTH) + LEAST_GROWTH * scale, int(max(log, question.redo_bytes))
    )
