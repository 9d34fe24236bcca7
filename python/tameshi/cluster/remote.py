"""Worker side of a cluster: makes batches of runs, each in a process of its own.

A worker makes a run by the dispatcher's own code in a scratch folder, and returns the record as
bytes. It takes only runs of its own version: a record must not depend on the machine that made it.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.cluster import shared
from tameshi.core import compiled
from tameshi.core.environment import tameshi_version
from tameshi.core.errors import TameshiError
from tameshi.core.spec_types import RunSpec
from tameshi.record import store
from tameshi.record.seal import OUTCOME
from tameshi.record.transfer import content_of, packed, write_record
from tameshi.run.dispatcher import Session, run_one
from tameshi.run.forks import ForkServer
from tameshi.run.preflight import Examined
from tameshi.run.tasks import Task

PROGRESS_S = 2.0
"""Shortest time between two reports of a run's progress."""
WATCH_S = 1.0
"""Time between two checks whether a batch is still wanted."""
MOST_BYTES = 64 << 20
"""Size of the records after which a batch ends."""
LEVEL = 1
ENDING = ("closing", "closed", "failed", "stopping", "stopped")
"""States of a worker that makes no more runs."""
WANTED = ("executing", "long-running")
"""States of a task that somebody waits for."""

_sessions: dict[str, list[Session]] = defaultdict(list)
"""Running batches of this worker process, by the collector's name."""
_stopped: set[str] = set()
_forks = ForkServer()
"""Fork server of all batches of this worker process."""
_users: set[str] = set()
"""Collectors whose batches have used the fork server."""
_guarded = threading.Lock()


def described() -> dict[str, Any]:
    """Return what decides whether a worker makes the same records as another."""
    return {
        "version": tameshi_version(),
        "core": compiled.core_hash(),
        "record": store.OUTCOME_VERSION,
    }


def stop(name: str) -> None:
    """Begin no more runs for a collector; let current ones leave a partial result."""
    with _guarded:
        _stopped.add(name)
        sessions = list(_sessions[name])
    for session in sessions:
        session.stop()


def release(name: str) -> None:
    """End the fork server, unless another collector uses it."""
    with _guarded:
        _users.discard(name)
        if _users:
            return
    # A thread: Dask's event loop would wait for the last run.
    threading.Thread(target=_forks.close, daemon=True).start()


def request(
    name: str,
    number: int,
    needs: Mapping[str, Any],
    limit_s: float,
    environment: Mapping[str, Any],
    tasks: Sequence[Task],
) -> bytes:
    """Return a batch as bytes: Dask looks for tasks in structured arguments, and not in bytes."""
    runs = [{"identity": task.identity, "spec": compiled.to_json(task.spec)} for task in tasks]
    batch = {"name": name, "number": number, "needs": needs, "limit_s": limit_s}
    text = json.dumps({**batch, "environment": environment, "runs": runs})
    return zlib.compress(text.encode(), LEVEL)


def execute(batch: bytes) -> dict[str, Any]:
    """Make the runs of a batch, until its time limit or a stop.

    Returns the worker's address, and `runs` with `identity` and the `files` of the record, whether
    it `is_left` on a shared file system, or why it is `lost`; `left`: identities of runs that were
    not made; or why the batch is `refused`.
    """
    from distributed import get_worker

    asked = json.loads(zlib.decompress(batch))
    worker = get_worker()
    answer: dict[str, Any] = {"worker": worker.address, "runs": [], "left": []}
    own = described()
    if own != asked["needs"]:
        return {**answer, "refused": own}
    report = Report(worker, asked["name"])
    report.send({"kind": "began", "number": asked["number"], "worker": worker.address})
    with _guarded:
        _users.add(asked["name"])
    with scratch(worker) as folder, store.locked_study(folder) as lock:
        session = Session(folder, lock, report, lambda: None, is_scratch=True, forks=_forks)
        with registered(asked["name"], session), watched(worker, session):
            _make(session, report, asked, answer)
    return answer


def _make(
    session: Session, report: Report, asked: Mapping[str, Any], answer: dict[str, Any]
) -> None:
    examined = Examined("simulated", {}, asked["environment"], {})
    begun_s, size = time.monotonic(), 0
    for run in asked["runs"]:
        is_late = bool(answer["runs"]) and time.monotonic() - begun_s > asked["limit_s"]
        if session.stopping.is_set() or is_late or size > MOST_BYTES:
            answer["left"].append(run["identity"])
            continue
        task = Task(run["identity"], RunSpec.model_validate_json(run["spec"]), examined)
        made_s = time.monotonic()
        report.turn_to(task.identity)
        run_one(session, task)
        place = store.run_folder(session.folder, task.identity)
        made: dict[str, Any] = {"identity": task.identity, "took_s": time.monotonic() - made_s}
        if (place / OUTCOME).exists():
            made |= _given(place, asked["name"], task.identity)
            size += sum(map(len, made.get("files", {}).values()))
        elif report.reason is not None:
            made["lost"] = report.reason
        else:
            answer["left"].append(run["identity"])
            continue
        answer["runs"].append(made)


def _given(place: Path, name: str, identity: str) -> dict[str, Any]:
    """Return a record as `files`, or leave it on a file system that the collector shares."""
    folder = shared.found(name)
    if folder is None:
        return {"files": packed(place)}
    try:
        write_record(shared.place_of(folder, identity), content_of(place), synced=False)
    except (OSError, TameshiError):  # It may be full.
        return {"files": packed(place)}
    return {"is_left": True}


@dataclass
class Report:
    """Display of a worker: sends progress to the collector."""

    worker: Any
    topic: str
    identity: str = ""
    """Identity of the current run."""
    reason: str | None = None
    """Reason of the last run that has no record."""
    _next_s: float = 0.0

    def turn_to(self, identity: str) -> None:
        """Report on the next run."""
        self.identity, self.reason = identity, None

    def send(self, message: Mapping[str, Any]) -> None:
        """Send the collector a message; ignore a scheduler that is gone."""
        with suppress(OSError, RuntimeError):
            self.worker.log_event(self.topic, dict(message))

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        """Do nothing: the collector counts the runs."""

    def began(self, run: str, world: str, folder: Path) -> None:
        """Do nothing: the record is not at the collector yet."""

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """Send a run's progress, if the last report is old."""
        now_s = time.monotonic()
        if not self._next_s:
            self._next_s = now_s + PROGRESS_S  # A short run needs no report.
        if now_s >= self._next_s:
            self._next_s = now_s + PROGRESS_S
            message = {"kind": "progress", "identity": self.identity, "stage": stage}
            self.send({**message, "progress": dict(progress)})

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        """Keep the reason of a run without a record."""
        self.reason = reason or status

    def say(self, line: str) -> None:
        """Do nothing: the collector speaks."""

    def close(self) -> None:
        """Do nothing."""


@contextmanager
def scratch(worker: Any) -> Iterator[Path]:
    """Make a folder for records in the worker's own, which Dask cleans up after a kill."""
    folder = Path(tempfile.mkdtemp(prefix="tameshi-", dir=worker.local_directory))
    try:
        yield folder
    finally:
        with suppress(OSError, TameshiError):
            guard.remove_folder(folder)


@contextmanager
def registered(name: str, session: Session) -> Iterator[None]:
    """Let `stop` reach the runs of a batch."""
    with _guarded:
        _sessions[name].append(session)
        is_stopped = name in _stopped
    if is_stopped:
        session.stop()
    try:
        yield
    finally:
        with _guarded:
            _sessions[name] = [each for each in _sessions[name] if each is not session]


@contextmanager
def watched(worker: Any, session: Session) -> Iterator[None]:
    """Stop the runs of a batch that no collector waits for any more, or of a worker that ends."""
    key, over = worker.get_current_task(), threading.Event()

    def watch() -> None:
        while not over.wait(WATCH_S):
            task = worker.state.tasks.get(key)
            is_wanted = task is not None and task.state in WANTED
            if not is_wanted or worker.status.name in ENDING:
                session.stop()
                return

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
