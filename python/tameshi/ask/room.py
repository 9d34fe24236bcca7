"""What a storage has to hold of a question: the data set, what it grows by, and the redo log."""

from __future__ import annotations

from dataclasses import dataclass

from tameshi.analysis.model_error import WAREHOUSE_BYTES
from tameshi.ask.question import Question

GROWTH, LEAST_GROWTH = 0.25, 32 << 20
"""For each byte of data, and in any case: new rows, undo logs, and changes that are buffered."""
ADDED = {"tpcc": 40, "oltp": 0, "key_update": 0}
"""Bytes of new rows for a mean statement, in tables and indexes (simulated TPC-C: 26 to 30)."""
FASTEST = 2_000_000
"""Statements a second: no simulated host carries out more."""


@dataclass(frozen=True)
class Room:
    """Bytes at full size; `added`: what the fastest of storages may add during the run."""

    data: int
    growth: int
    log: int
    added: int = 0

    @property
    def whole(self) -> int:
        """What any storage needs."""
        return self.data + self.growth + self.log

    @property
    def most(self) -> int:
        """What no storage outgrows."""
        return self.data + max(self.growth, self.added) + self.log


def room_of(
    question: Question, scale: int, lasts_ns: int, rows: float = 1.0, log: float = 0.0
) -> Room:
    """The room that a run needs, its rows so many times as large, its log at least so large."""
    # There is one warehouse at least.
    data = max(question.database_bytes * rows, WAREHOUSE_BYTES * scale)
    growth = int(data * GROWTH) + LEAST_GROWTH * scale
    added = int(ADDED[question.workload] * FASTEST * lasts_ns / 1e9) * scale
    return Room(int(data), growth, int(max(log, question.redo_bytes)), added)
