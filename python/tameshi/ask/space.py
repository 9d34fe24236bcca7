"""Space of a question on a storage: data set, growth, and redo log."""

from __future__ import annotations

from dataclasses import dataclass

from tameshi.analysis.database_facts import WAREHOUSE_BYTES
from tameshi.ask.question import Question

GROWTH, LEAST_GROWTH = 0.25, 32 << 20
"""Growth per byte of data, and least growth: new rows, undo logs, and buffered changes."""
ADDED = {"tpcc": 40, "oltp": 0, "key_update": 0}
"""Bytes of new rows per mean statement, in tables and indexes (simulated TPC-C: 26 to 30)."""
FASTEST = 2_000_000
"""Upper bound on statements per second of any simulated host."""


@dataclass(frozen=True)
class Space:
    """Bytes at full size; `added`: growth in a run on the fastest storage."""

    data: int
    growth: int
    log: int
    added: int = 0

    @property
    def required(self) -> int:
        """Return the bytes that any storage needs."""
        return self.data + self.growth + self.log

    @property
    def upper_bound(self) -> int:
        """Return the bytes that no run exceeds."""
        return self.data + max(self.growth, self.added) + self.log


def space_of(
    question: Question, scale: int, lasts_ns: int, rows: float = 1.0, log: float = 0.0
) -> Space:
    """Return the space of a run, with rows scaled by a factor and a log of at least this size."""
    # There is at least one warehouse.
    data = max(question.database_bytes * rows, WAREHOUSE_BYTES * scale)
    growth = int(data * GROWTH) + LEAST_GROWTH * scale
    added = int(ADDED[question.workload] * FASTEST * lasts_ns / 1e9) * scale
    return Space(int(data), growth, int(max(log, question.redo_bytes)), added)
