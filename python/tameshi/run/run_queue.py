"""Queue of runs: those of unknown cells first, then those of the longest, so that no processor
idles at the end."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Iterable
from heapq import heappop, heappush

from tameshi.run.tasks import Task


class RunQueue:
    """Runs that wait, by cell; a run costs the same whatever their number is."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._waiting: dict[str, deque[Task]] = defaultdict(deque)
        self._unknown: deque[str] = deque()
        """Cell of each run whose cell was unknown when the run was added."""
        self._known: list[tuple[float, int, str]] = []
        """Heap of cells by time, the longest first; some may have no run left."""
        self._took_s: dict[str, float] = {}
        self._order = itertools.count()
        self.count = 0
        for task in tasks:
            self.put(task)

    def put(self, task: Task) -> None:
        """Add a run."""
        cell = task.setting
        self._waiting[cell].append(task)
        self.count += 1
        if cell in self._took_s:
            self._rank(cell)
        else:
            self._unknown.append(cell)

    def note(self, task: Task, took_s: float) -> None:
        """Note the time that a run took."""
        cell = task.setting
        self._took_s[cell] = took_s
        if self._waiting.get(cell):
            self._rank(cell)

    def take(self) -> Task:
        """Take the next run."""
        self.count -= 1
        while self._unknown:
            cell = self._unknown.popleft()
            if cell not in self._took_s and self._waiting[cell]:
                return self._waiting[cell].popleft()
        while not self._waiting[self._known[0][2]]:
            heappop(self._known)
        return self._waiting[self._known[0][2]].popleft()

    def clear(self) -> None:
        """Forget all runs."""
        self._waiting.clear()
        self._unknown.clear()
        self._known.clear()
        self.count = 0

    def _rank(self, cell: str) -> None:
        heappush(self._known, (-self._took_s[cell], next(self._order), cell))


class InOrder:
    """Runs that wait in an order that must not change."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._waiting = deque(tasks)

    @property
    def count(self) -> int:
        """Return the number of runs."""
        return len(self._waiting)

    def note(self, task: Task, took_s: float) -> None:
        """Do nothing."""

    def take(self) -> Task:
        """Take the next run."""
        return self._waiting.popleft()
