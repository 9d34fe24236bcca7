"""Batches of runs for a cluster: one takes seconds, so that handing it out costs little."""

from __future__ import annotations

from collections.abc import Iterable

from tameshi.run.run_queue import RunQueue
from tameshi.run.tasks import Task

TARGET_S = 2.0
"""Expected time of a batch."""
LIMIT_S = 3 * TARGET_S
"""Time after which a worker begins no further run of a batch, and returns the rest."""
MOST_RUNS = 256
FIRST_RUNS = 4
"""Runs of a batch before the time of any run is known."""
ROUNDS = 2
"""Batches that each thread still gets when the last runs are handed out."""


class Backlog(RunQueue):
    """Runs to hand out, in the order of the dispatcher on one machine."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._all_s = 0.0
        self._noted = 0
        super().__init__(tasks)

    def note(self, task: Task, took_s: float) -> None:
        """Note the time that a run took."""
        self._all_s += took_s
        self._noted += 1
        super().note(task, took_s)

    def expected_s(self, task: Task) -> float | None:
        """Return the time of the cell's last run, or the mean of all; None before any is known."""
        if not self._noted:
            return None
        return self._took_s.get(task.setting, self._all_s / self._noted)

    def batch(self, threads: int) -> list[Task]:
        """Take the runs of a batch; near the end it is shorter, so that all threads have work."""
        if not self._noted:
            return [self.take() for _ in range(min(FIRST_RUNS, self._share(threads)))]
        mean_s = self._all_s / self._noted
        room_s = min(TARGET_S, self._share(threads) * mean_s)
        taken: list[Task] = []
        while self.count and len(taken) < MOST_RUNS:
            taken.append(self.take())
            room_s -= self.expected_s(taken[-1]) or 0.0
            if room_s <= 0:
                break
        return taken

    def _share(self, threads: int) -> int:
        """Return the runs per batch that leave each thread some batches."""
        return min(self.count, max(1, self.count // (ROUNDS * max(threads, 1))))
