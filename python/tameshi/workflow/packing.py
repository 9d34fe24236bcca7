"""Packing of a large study's records and computing of its cells, next to the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any

from tameshi.core.spec_types import Summary
from tameshi.record import packs as of_packs
from tameshi.record import store
from tameshi.record.packs import Packs, StoredRuns
from tameshi.run.tasks import Task
from tameshi.workflow.large_results import LargeResults

PARTS = 50
"""Times that cells are computed while runs go on: each looks at all packed runs."""


class Packing:
    """Thread that packs records and computes their cells while runs go on."""

    def __init__(
        self,
        packs: Packs,
        tasks: Sequence[Task],
        study: Summary,
        pace: Callable[[Callable[[], object]], None],
    ) -> None:
        """Take the records of these tasks; `pace` limits how often results.json is rewritten."""
        self._packs = packs
        self._study = study
        self._pace = pace
        self._large: LargeResults | None = None
        self._order = [task.identity for task in tasks]
        self._expected = Counter((task.world.value, task.cell) for task in tasks)
        """Planned runs of each group."""
        self._fresh = 0
        """Packed runs since cells were computed."""
        self._pool = ThreadPoolExecutor(max_workers=1)
        self._running: Future[Any] | None = None

    def __enter__(self) -> Packing:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def keep(self) -> None:
        """Pack what is sealed, unless that is in progress; raise the failure of the last time.

        No processor waits for it.
        """
        if self._running is not None:
            if not self._running.done():
                return
            self._running.result()
        self._running = self._pool.submit(self._work)

    def _work(self) -> None:
        self._fresh += self._packs.collect(of_packs.MOST_RUNS)
        if self._fresh < max(1, len(self._order) // PARTS):
            return
        self._fresh = 0
        folder = self._packs.study
        runs = StoredRuns(self._packs, {}, self._order)
        large = self._large = self._large or LargeResults(folder, self._study)
        groups = large.update(runs, self._expected)
        self._pace(lambda: store.write_json(folder / "results.json", large.document(runs, groups)))
