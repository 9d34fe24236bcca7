"""Dask client without a cluster: batches are answered by the test, in the order it wants."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sealing import sealed_files_of

from tameshi.cluster import remote
from tameshi.run.tasks import Task

Answer = Callable[["FakeFuture"], None]
FIRST, SECOND = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"


@dataclass(eq=False)
class FakeFuture:
    """Batch that was handed out."""

    client: FakeClient
    key: str
    asked: Mapping[str, Any]
    workers: Sequence[str] | None
    status: str = "pending"
    outcome: Any = None
    callbacks: list[Callable[[Any], None]] = field(default_factory=list)

    @property
    def identities(self) -> list[str]:
        """Return the runs of the batch."""
        return [run["identity"] for run in self.asked["runs"]]

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        self.callbacks.append(call)
        if self.status != "pending":
            call(self)
        else:
            self.client.handed(self)

    def end(self, status: str, outcome: Any = None) -> None:
        """End the batch as Dask does."""
        if self.status == "pending":
            self.status, self.outcome = status, outcome
            for call in self.callbacks:
                call(self)

    def result(self, timeout: float | None = None) -> Any:
        if self.status == "cancelled":
            raise CancelledError
        if self.status == "error":
            raise self.outcome
        return self.outcome

    def cancel(self) -> None:
        self.end("cancelled")

    # Answers of a worker

    def finish(self, worker: str = FIRST, **changes: Any) -> None:
        """Return the records of all runs, which were made by a worker."""
        if "runs" not in changes:
            changes["runs"] = [self.client.record(identity) for identity in self.identities]
        self.end("finished", {"worker": worker, "left": [], **changes})


@dataclass(eq=False)
class FakeClient:
    """Client whose batches are answered by `answers`, one after the other; the last one stays."""

    folder: Path
    tasks: Sequence[Task]
    answers: list[Answer]
    status: str = "running"
    workers: dict[str, int] = field(default_factory=lambda: {FIRST: 1, SECOND: 1})
    batches: list[FakeFuture] = field(default_factory=list)
    handlers: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    stops: list[str] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    descriptions: dict[str, Any] = field(default_factory=dict)
    scheduler: Any = field(default_factory=lambda: SimpleNamespace(address="tcp://10.0.0.9:8786"))

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._records: dict[str, dict[str, Any]] = {}

    def record(self, identity: str, status: str = "complete", took_s: float = 1.0) -> Any:
        """Return the answer of a worker for a run."""
        (task,) = (task for task in self.tasks if task.identity == identity)
        files = sealed_files_of(task, self.folder / "worker", status)
        return {"identity": identity, "took_s": took_s, "files": files}

    def handed(self, future: FakeFuture) -> None:
        with self._lock:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer(future)

    def submit(self, function: Any, asked: bytes, **options: Any) -> FakeFuture:
        assert function is remote.execute and options["pure"] is False
        batch = json.loads(zlib.decompress(asked))
        future = FakeFuture(self, options["key"], batch, options["workers"])
        self.batches.append(future)
        return future

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": {address: {"nthreads": n} for address, n in self.workers.items()}}

    def run(self, function: Any, *given: Any, **options: Any) -> dict[str, Any]:
        if function is remote.stop:
            self.stops.append(given[0])
            return {}
        if function is remote.release:
            self.released.append(given[0])
            return {}
        own = remote.described()
        return {each: self.descriptions.get(each, own) for each in options["workers"]}

    def subscribe_topic(self, topic: str, handler: Callable[[Any], None]) -> None:
        self.handlers[topic] = handler

    def unsubscribe_topic(self, topic: str) -> None:
        del self.handlers[topic]

    def cancel(self, futures: Sequence[FakeFuture]) -> None:
        self.cancelled += [future.key for future in futures]

    def publish(self, message: Mapping[str, Any]) -> None:
        """Send an event of Dask, or of a batch."""
        topic = "all" if "action" in message else next(t for t in self.handlers if t != "all")
        self.handlers[topic]((0.0, message))
