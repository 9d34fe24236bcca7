"""Batches of runs for a cluster: one takes seconds, so that handing it out costs little."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterable
from heapq import heappop, heappush

from tameshi.run.dispatcher import Task, cell_of

TARGET_S = 2.0
"""Expected time of a batch."""
LIMIT_S = 3 * TARGET_S
"""Time after which a worker begins no further run of a batch, and returns the rest."""
MOST_RUNS = 256
FIRST_RUNS = 4
"""Runs of a batch before the time of any run is known."""
ROUNDS = 2
"""Batches that each thread still gets when the last runs are handed out."""


class Backlog:
    """Runs to hand out: those of unknown cells first, then those of the longest.

    This is the order of the dispatcher on one machine.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._waiting: dict[str, deque[Task]] = defaultdict(deque)
        self._unknown: deque[str] = deque()
        """Cell of each run whose cell was unknown when the run was added."""
        self._known: list[tuple[float, int, str]] = []
        """Heap of cells by time, the longest first; some may have no run left."""
        self._took_s: dict[str, float] = {}
        self._all_s = 0.0
        self._noted = 0
        self._order = itertools.count()
        self.count = 0
        for task in tasks:
            self.put(task)

    def put(self, task: Task) -> None:
        """Add a run."""
        cell = cell_of(task)
        self._waiting[cell].append(task)
        self.count += 1
        if cell in self._took_s:
            self._rank(cell)
        else:
            self._unknown.append(cell)

    def note(self, task: Task, took_s: float) -> None:
        """Note the time that a run took."""
        cell = cell_of(task)
        self._took_s[cell] = took_s
        self._all_s += took_s
        self._noted += 1
        if self._waiting[cell]:
            self._rank(cell)

    def expected_s(self, task: Task) -> float | None:
        """Return the time of the cell's last run, or the mean of all; None before any is known."""
        if not self._noted:
            return None
        return self._took_s.get(cell_of(task), self._all_s / self._noted)

    def batch(self, threads: int) -> list[Task]:
        """Take the runs of a batch; near the end it is shorter, so that all threads have work."""
        if not self._noted:
            return [self._take() for _ in range(min(FIRST_RUNS, self._share(threads)))]
        mean_s = self._all_s / self._noted
        room_s = min(TARGET_S, self._share(threads) * mean_s)
        taken: list[Task] = []
        while self.count and len(taken) < MOST_RUNS:
            taken.append(self._take())
            room_s -= self.expected_s(taken[-1]) or 0.0
            if room_s <= 0:
                break
        return taken

    def clear(self) -> None:
        """Forget all runs."""
        self._waiting.clear()
        self._unknown.clear()
        self._known.clear()
        self.count = 0

    def _share(self, threads: int) -> int:
        """Return the runs per batch that leave each thread some batches."""
        return min(self.count, max(1, self.count // (ROUNDS * max(threads, 1))))

    def _rank(self, cell: str) -> None:
        heappush(self._known, (-self._took_s[cell], next(self._order), cell))

    def _take(self) -> Task:
        """Take the next run."""
        self.count -= 1
        while self._unknown:
            cell = self._unknown.popleft()
            if cell not in self._took_s and self._waiting[cell]:
                return self._waiting[cell].popleft()
        while not self._waiting[self._known[0][2]]:
            heappop(self._known)
        return self._waiting[self._known[0][2]].popleft()
