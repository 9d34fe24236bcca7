"""Collector of a cluster: hands out batches of runs and stores the records that come back.

Dask schedules the batches and repeats those of a lost worker. The collector decides nothing about
places, except that a refused worker gets no runs and that a late batch is given to a second worker.
A run is done when its record is stored here. The first record counts; a second one is dropped.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tameshi import guard
from tameshi.cluster import remote, scheduler, shared
from tameshi.cluster.batches import LIMIT_S, Backlog
from tameshi.cluster.members import Members
from tameshi.core.errors import RunFailed, TameshiError, counted
from tameshi.record import store
from tameshi.record.store import SealedRun
from tameshi.record.transfer import BadRecord, left_at, stored, stored_content
from tameshi.run.dispatcher import Session, said
from tameshi.run.tasks import Task

QUEUED = 2
"""Batches per thread that are handed out: one runs, one waits at the worker."""
POLL_S = 0.25
LOOK_S = 10.0
"""Time between two looks at the workers without an event."""
LOOK_AGAIN_S = 1.0
"""Shortest time between two looks: many workers may come at once."""
ALONE_S = 60.0
"""Time in which a usable worker must come, if only refused ones are there."""
RESULT_S = 60.0
"""Time in which a finished batch must arrive."""
STOP_S = 2.0
"""Time between two stop requests: workers may join in between."""
GIVE_UP_S = 30.0
"""Time after a stop in which current runs may leave a partial result."""
LATE_S = 60.0
LATE_FACTOR = 5.0
"""A batch is late after this time and this multiple of its expected time."""
RELEASE_S = 2.0
"""Longest wait for workers to end their fork servers; one may hang."""
ATTEMPTS = 3
"""Attempts at a run that leaves no usable record."""
REPEATED = ("pending", "lost")
"""States of a finished batch whose result is gone."""
WORKERS = "all"
"""Dask's topic of workers that come and go."""


@dataclass
class Batch:
    """Runs that were handed out together."""

    key: str
    tasks: Sequence[Task]
    future: Any
    expected_s: float
    places: frozenset[str] | None
    """Workers that may make it; None: any."""
    worker: str = ""
    began_s: float | None = None
    is_copied: bool = False


class Cluster:
    """Dask cluster as the dispatcher's runner of simulated runs."""

    def __init__(self, client: Any, members: Members, refused: Sequence[str]) -> None:
        self.client = client
        self.members = members
        self._lines = list(refused)
        """Sentences to report before the first run."""
        workers, threads = len(members.usable), members.threads
        size = f"{counted(workers, 'worker')}, {counted(threads, 'thread')}"
        self._lines.append(f"cluster at {client.scheduler.address}: {size}")

    def run(self, session: Session, tasks: Sequence[Task]) -> None:
        """Make the runs on the cluster; raise `RunFailed` if it is lost or records have no room."""
        for line in self._lines:
            session.display.say(line)
        self._lines.clear()
        Collector(self.client, self.members, session, tasks).work()


@dataclass
class Collector:
    """Runs of one call: waiting, handed out, stored."""

    client: Any
    members: Members
    session: Session
    tasks: Sequence[Task]
    name: str = field(default_factory=lambda: f"tameshi-{uuid.uuid4().hex[:12]}")

    def __post_init__(self) -> None:
        self.backlog = Backlog(self.tasks)
        self.open = {task.identity: task for task in self.tasks}
        """Runs without a record."""
        self.out: dict[str, Batch] = {}
        """Batches that were handed out, by Dask's key."""
        self.attempts: Counter[str] = Counter()
        self.news: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self.again: set[str] = set()
        """Finished batches whose result was lost with its worker, and that Dask repeats."""
        self.shared: Path | None = None
        """Folder of records on a file system that workers share."""
        self.numbers = 0
        self.looked_s = 0.0
        self.look_s = 0.0
        self.stop_s: float | None = None
        self.request_s = 0.0
        self.has_given_up = False
        self.is_cut_off = False
        self.alone_s: float | None = None

    def work(self) -> None:
        """Hand out runs and store records until all runs are done or the session stops."""
        self.shared = shared.opened(self.name)
        self._listen()
        try:
            while self._remains():
                if self._is_connected():
                    self._act()
                self._read_news()
        finally:
            self._close()
            shared.close(self.shared)

    def _remains(self) -> bool:
        if self.session.stopping.is_set():
            return bool(self.out) and not self.has_given_up
        return bool(self.open)

    def _act(self) -> None:
        """Look at the workers, and hand out runs or stop."""
        with suppress(OSError):  # The connection is lost: the next turn finds that.
            self._look()
            if self.session.stopping.is_set():
                self._stop()
            else:
                self._hand_out()

    # Connection and workers

    def _listen(self) -> None:
        """Get messages of batches, and of workers that come and go."""
        for topic in (self.name, WORKERS):
            self.client.subscribe_topic(topic, lambda event: self.news.put(("event", event[1])))

    def _is_connected(self) -> bool:
        """Return whether the scheduler answers; raise `RunFailed` if Dask has given up."""
        hint = "Finished runs are kept. Start it again; the same command resumes."
        if not scheduler.answers(self.client, hint):
            self._cut_off()
            return False
        if self.is_cut_off:
            self.is_cut_off = False
            self._look_soon()
            self._listen()
            self.session.display.say("the scheduler answers again")
        return True

    def _cut_off(self) -> None:
        if not self.is_cut_off:
            self.is_cut_off = True
            handed = sum(len(batch.tasks) for batch in self.out.values())
            self.session.display.say(
                f"the connection to the scheduler is lost: {counted(handed, 'run')} that it had "
                "are handed out again when it answers"
            )

    def _look(self) -> None:
        """Look at the workers after an event or some time."""
        if time.monotonic() < self.look_s:
            return
        self.looked_s = time.monotonic()
        self.look_s = self.looked_s + LOOK_S
        for line in self.members.refresh():
            self.session.display.say(line)
        if self.members.usable:
            self.alone_s = None
            self._release_stranded()
        else:
            self._wait_for_worker()

    def _wait_for_worker(self) -> None:
        """Report that no worker makes runs; fail if those that are there never will."""
        self._look_soon()
        if self.alone_s is None:
            self.alone_s = self.looked_s
            self.session.display.say("no worker is left that can make runs: waiting for one")
        elif not self.members.is_empty and self.looked_s - self.alone_s > ALONE_S:
            found = "; ".join(sorted(set(self.members.refused.values())))
            message = "no worker of the cluster can make runs"
            raise RunFailed(message, found=found, hint="Finished runs are kept.")

    def _look_soon(self) -> None:
        self.look_s = min(self.look_s, self.looked_s + LOOK_AGAIN_S)

    def _release_stranded(self) -> None:
        """Take back batches that may only run on workers that are gone."""
        usable = set(self.members.usable)
        for batch in list(self.out.values()):
            if batch.places is not None and not batch.places & usable:
                self._take_back(batch, cancel=True)

    # Out

    def _hand_out(self) -> None:
        threads, stopping = self.members.threads, self.session.stopping
        while self.backlog.count and len(self.out) < QUEUED * threads and not stopping.is_set():
            tasks = [t for t in self.backlog.batch(threads) if t.identity in self.open]
            if tasks:
                self._submit(tasks)
        if not self.backlog.count and len(self.out) < threads:
            self._copy_late()

    def _submit(self, tasks: Sequence[Task], without: Collection[str] = ()) -> Batch:
        """Give Dask a batch."""
        self.numbers += 1
        key = f"{self.name}-{self.numbers}"
        places = None
        if self.members.refused or without:
            places = frozenset(set(self.members.usable) - set(without))
        environment = tasks[0].examined.environment
        asked = remote.request(
            self.name, self.numbers, self.members.needs, LIMIT_S, environment, tasks
        )
        expected_s = sum(self.backlog.expected_s(task) or 0.0 for task in tasks)
        workers = None if places is None else sorted(places)
        future = self.client.submit(remote.execute, asked, key=key, workers=workers, pure=False)
        batch = self.out[key] = Batch(key, tasks, future, expected_s, places)
        future.add_done_callback(lambda done: self.news.put(("done", done.key)))
        return batch

    def _copy_late(self) -> None:
        """Give a second worker the runs of a batch that takes much longer than expected."""
        now_s = time.monotonic()
        for batch in list(self.out.values()):
            others = set(self.members.usable) - {batch.worker}
            if batch.is_copied or batch.began_s is None or not others:
                continue
            late_s = max(LATE_S, LATE_FACTOR * batch.expected_s)
            tasks = [task for task in batch.tasks if task.identity in self.open]
            if tasks and now_s - batch.began_s > late_s:
                batch.is_copied = True
                self._submit(tasks, without=[batch.worker]).is_copied = True
                self.session.display.say(
                    f"worker {batch.worker} is slow: {counted(len(tasks), 'run')} that it has "
                    "are also given to another; the first record counts"
                )

    # In

    def _read_news(self) -> None:
        """Wait a little for messages, and handle all that are there."""
        has_stored = False
        for key in [key for key in self.again if key not in self.out or self._ended(key)]:
            self.again.remove(key)
            self.news.put(("done", key))
        try:
            news = self.news.get(timeout=POLL_S)
            while True:
                kind, what = news
                if kind == "event":
                    self._event(what)
                elif what in self.out:
                    has_stored |= self._done(self.out[what])
                news = self.news.get_nowait()
        except Empty:
            pass
        if has_stored:
            self.session.on_sealed()

    def _ended(self, key: str) -> bool:
        return self.out[key].future.status not in REPEATED

    def _event(self, message: Mapping[str, Any]) -> None:
        match message:
            case {"kind": "began", "number": number, "worker": worker}:
                if batch := self.out.get(f"{self.name}-{number}"):
                    batch.worker, batch.began_s = str(worker), time.monotonic()
            case {"kind": "progress", "identity": identity, "stage": stage}:
                if task := self.open.get(identity):
                    self.session.display.run(task.label, stage, message["progress"])
            case {"action": "add-worker"}:
                self._look_soon()
            case {"action": "remove-worker", "worker": worker}:
                self._look_soon()
                keys = {*message["processing-tasks"], *message["lost-computed-tasks"]}
                self._lost_worker(str(worker), keys)

    def _lost_worker(self, worker: str, keys: Collection[str]) -> None:
        batches = [self.out[key] for key in keys if key in self.out]
        runs = sum(len(batch.tasks) for batch in batches)
        for batch in batches:
            batch.worker, batch.began_s = "", None
        if runs:
            self.session.display.say(
                f"worker {worker} is gone: {counted(runs, 'run')} that it had go to others"
            )

    def _done(self, batch: Batch) -> bool:
        """Handle a batch that Dask has finished; return whether a record was stored."""
        if batch.future.status in REPEATED:
            self.again.add(batch.key)
            return False
        try:
            answer = batch.future.result(timeout=RESULT_S)
        except (CancelledError, OSError) as error:
            if batch.future.status == "error":
                self._erred(batch, error)
            elif isinstance(error, TimeoutError):
                self.again.add(batch.key)
            else:
                self._cut_off()
                self._take_back(batch)
        except Exception as error:
            self._erred(batch, error)
        else:
            del self.out[batch.key]
            return self._arrived(batch, answer)
        return False

    def _arrived(self, batch: Batch, answer: Mapping[str, Any]) -> bool:
        worker = str(answer["worker"])
        if "refused" in answer and worker not in self.members.refused:
            why = self.members.difference(answer["refused"])
            self.session.display.say(self.members.refuse(worker, why))
            self._look_soon()
        results = {run["identity"]: run for run in answer["runs"]}
        has_stored = False
        for task in batch.tasks:
            if task.identity not in self.open:
                continue
            run = results.get(task.identity)
            if run is not None and self._store(task, run, worker):
                has_stored = True
            elif task.identity in self.open and not self._is_elsewhere(task):
                self.backlog.put(task)
        return has_stored

    def _is_elsewhere(self, task: Task) -> bool:
        """Return whether another batch has the run."""
        others = (each for batch in self.out.values() if batch.is_copied for each in batch.tasks)
        return any(each.identity == task.identity for each in others)

    def _store(self, task: Task, run: Mapping[str, Any], worker: str) -> bool:
        """Store the record of a run; return False if the run is to be made again."""
        if "lost" in run:
            return self._failed(task, f"no record from worker {worker}: {run['lost']}")
        folder = store.run_folder(self.session.folder, task.identity)
        try:
            sealed = self._stored(folder, task, run)
        except BadRecord as bad:
            return self._failed(task, f"damaged record from worker {worker}: {bad}")
        except (OSError, TameshiError) as error:
            raise RunFailed(
                "a record cannot be stored, and no more runs are handed out",
                where=str(folder),
                found=str(error),
                hint="Finished runs are kept. Make room; the same command resumes.",
            ) from error
        status = sealed.outcome["status"]
        if status == "partial" and not self.session.stopping.is_set():
            # The worker ended, not the session.
            return self._failed(task, f"worker {worker} stopped it")
        self.backlog.note(task, run["took_s"])
        del self.open[task.identity]
        display, label = self.session.display, replace(task, planned=sealed.spec).label
        display.began(label, task.world.value, folder)
        display.ended(label, status, said(sealed), task.length_ns)
        return True

    def _stored(self, folder: Path, task: Task, run: Mapping[str, Any]) -> SealedRun:
        """Store a record that came back, or that was left on the shared file system."""
        syncs = self.session.syncs(task)
        if self.shared is None or not run.get("is_left"):
            return stored(folder, task.spec, task.identity, run.get("files", {}), synced=syncs)
        place = shared.place_of(self.shared, task.identity)
        content = left_at(place)
        sealed = stored_content(folder, task.spec, task.identity, content, synced=syncs)
        guard.remove_folder(place)
        return sealed

    def _failed(self, task: Task, reason: str) -> bool:
        """Count an attempt without a usable record; give up after several."""
        self.attempts[task.identity] += 1
        if self.attempts[task.identity] < ATTEMPTS:
            self.session.display.say(f"{task.label}: {reason}: it is made again")
            return False
        self._give_up(task, reason)
        return True

    def _give_up(self, task: Task, reason: str) -> None:
        del self.open[task.identity]
        with suppress(OSError, TameshiError):
            store.write_lost(self.session.folder, task.spec, task.identity, reason)
        self.session.display.ended(task.label, "failed", reason, task.length_ns)

    def _erred(self, batch: Batch, error: BaseException) -> None:
        """Handle a batch that Dask could not execute."""
        from distributed.scheduler import KilledWorker

        del self.out[batch.key]
        tasks = [task for task in batch.tasks if task.identity in self.open]
        self._look_soon()  # Perhaps a new worker has no Tameshi.
        if not isinstance(error, KilledWorker):
            reason = f"{type(error).__name__}: {error}"
            for task in tasks:
                if not self._failed(task, reason):
                    self.backlog.put(task)
        elif len(tasks) > 1:
            for task in tasks:  # Alone, the run that kills workers is known.
                self._submit([task])
        elif tasks and not self._failed(tasks[0], "several workers ended while they made it"):
            self._submit(tasks)

    def _take_back(self, batch: Batch, *, cancel: bool = False) -> None:
        """Hand out the runs of a batch again."""
        self.out.pop(batch.key, None)
        if cancel:
            batch.future.cancel()
        for task in batch.tasks:
            if task.identity in self.open and not self._is_elsewhere(task):
                self.backlog.put(task)

    # End

    def _stop(self) -> None:
        """Ask the workers for partial results; give up on those that do not answer."""
        now_s = time.monotonic()
        if self.stop_s is None:
            self.stop_s = now_s
            self.backlog.clear()
        if not self.members.usable or now_s - self.stop_s > GIVE_UP_S:
            self.has_given_up = True
        elif now_s >= self.request_s:
            self.request_s = now_s + STOP_S
            # A thread: a worker that hangs would delay the others' results.
            threading.Thread(target=self._request_stop, daemon=True).start()

    def _request_stop(self) -> None:
        with suppress(Exception):  # The next request tries again.
            self.client.run(remote.stop, self.name, on_error="ignore")

    def _release(self) -> None:
        with suppress(Exception):  # A fork server ends with its worker at the latest.
            self.client.run(remote.release, self.name, on_error="ignore")

    def _close(self) -> None:
        """Cancel what is still handed out; listen no more."""
        if self.client.status != "running":
            return
        with suppress(OSError, RuntimeError, ValueError):
            futures = [batch.future for batch in self.out.values()]
            if futures:
                self.client.cancel(futures)
            for topic in (self.name, WORKERS):
                self.client.unsubscribe_topic(topic)
        releasing = threading.Thread(target=self._release, daemon=True)
        releasing.start()
        releasing.join(RELEASE_S)
