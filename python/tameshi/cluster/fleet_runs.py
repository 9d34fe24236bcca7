"""Runs of a fleet: handed to each host one after the other, taken back from lost hosts, stored."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from tameshi.cluster import measuring, remote, scheduler
from tameshi.core import compiled
from tameshi.core.errors import RunFailed, TameshiError
from tameshi.record import store
from tameshi.record.transfer import BadRecord, stored
from tameshi.run.dispatcher import Session, said
from tameshi.run.tasks import Task

if TYPE_CHECKING:
    from tameshi.cluster.fleet import Fleet

POLL_S = 0.25
GONE_S = 60.0
"""Time after which the runs of a host that is gone are given up."""
STOP_S = 120.0
"""Time after a stop in which current runs may leave a partial result: servers end slowly."""
REQUEST_S = 2.0
"""Time between two stop requests."""
RESULT_S = 60.0
"""Time in which the record of a finished run must arrive."""
ATTEMPTS = 3
"""Attempts at a run during which its host is lost."""
LIVES = ("pending", "lost")
"""States of a run whose end is not known."""


class FleetRuns:
    """Runs of one call: waiting and running, by host."""

    def __init__(self, fleet: Fleet, session: Session, tasks: Sequence[Task]) -> None:
        self.fleet = fleet
        self.client = fleet.client
        self.session = session
        self.waiting: dict[str, deque[Task]] = {}
        for task in tasks:
            self.waiting.setdefault(task.spec.cell[measuring.HOST], deque()).append(task)
        self.running: dict[str, tuple[Task, Any]] = {}
        self.attempts: Counter[str] = Counter()
        self.gone_s: dict[str, float] = {}
        self.progress: SimpleQueue[Mapping[str, Any]] = SimpleQueue()
        self.stop_s: float | None = None
        self.request_s = 0.0
        self.is_cut_off = False

    def work(self) -> None:
        """Make all runs, until the session stops; raise `RunFailed` without a scheduler."""
        self._listen()
        try:
            while self._remains():
                if self._is_connected():
                    with suppress(OSError):  # The connection is lost: the next turn finds that.
                        self._act()
                self._show_progress()
                time.sleep(POLL_S)
        finally:
            self._close()

    def _remains(self) -> bool:
        if self.session.stopping.is_set():
            has_given_up = self.stop_s and time.monotonic() - self.stop_s > STOP_S
            return bool(self.running) and not has_given_up
        return bool(self.running) or any(self.waiting.values())

    def _act(self) -> None:
        self._watch()
        if self.session.stopping.is_set():
            self._stop()
        else:
            self._hand_out()
        self._take_in()

    # Scheduler

    def _listen(self) -> None:
        """Get the progress of runs."""
        self.client.subscribe_topic(self.fleet.name, lambda event: self.progress.put(event[1]))

    def _is_connected(self) -> bool:
        """Return whether the scheduler answers; raise `RunFailed` if Dask has given up."""
        again = "Start it and the hosts' workers again; the same command resumes."
        if not scheduler.answers(self.client, f"Finished runs are kept. {again}"):
            if not self.is_cut_off:
                self.is_cut_off = True
                self.session.display.say("the connection to the scheduler is lost: waiting for it")
            return False
        if self.is_cut_off:
            self.is_cut_off = False
            self._listen()
            for host in list(self.running):  # Workers end with their scheduler.
                self._take_back(host)
            self.session.display.say("the scheduler answers again")
        return True

    # Hosts

    def _watch(self) -> None:
        """Take back the run of a lost host; give up the runs of one that stays away."""
        before = dict(self.fleet.places)
        missing = self.fleet.refresh()
        for host in self.waiting:
            if host in missing:
                self._lost(host, is_new=host in before)
                continue
            self.gone_s.pop(host, None)
            if host in self.running and self.fleet.places[host] != before.get(host):
                self._take_back(host)

    def _lost(self, host: str, *, is_new: bool) -> None:
        has_runs = host in self.running or bool(self.waiting[host])
        if not has_runs:
            return
        since_s = self.gone_s.setdefault(host, time.monotonic())
        if is_new:
            self.session.display.say(f"host {host} is gone: its runs wait for it")
        self._take_back(host)
        if time.monotonic() - since_s > GONE_S:
            self.waiting[host].clear()
            self.session.display.say(f"host {host} stays away: its runs remain to be made")

    def _take_back(self, host: str) -> None:
        """Let the run of a host wait again; fail it if its host is lost each time."""
        if host not in self.running:
            return
        task, future = self.running.pop(host)
        with suppress(Exception):
            future.cancel()
        self.attempts[task.identity] += 1
        if self.attempts[task.identity] < ATTEMPTS or self.session.stopping.is_set():
            self.waiting[host].appendleft(task)
        else:
            self._failed(task, f"host {host} was lost {ATTEMPTS} times while it made this run")

    # Runs

    def _hand_out(self) -> None:
        for host, tasks in self.waiting.items():
            if host in self.running or not tasks or host not in self.fleet.places:
                continue
            task = tasks.popleft()
            spec = compiled.to_json(task.spec)
            asked = self.fleet.request(
                host, name=self.fleet.name, spec=spec, identity=task.identity
            )
            self.session.display.say(f"{task.label} begins")
            future = self.client.submit(
                measuring.measure,
                asked,
                workers=[self.fleet.places[host]],
                resources={measuring.RESOURCE: 1},
                pure=False,
            )
            self.running[host] = task, future

    def _take_in(self) -> None:
        """Store the records of runs that have ended."""
        for host, (task, future) in list(self.running.items()):
            if future.status in LIVES:
                continue
            try:
                answer = future.result(timeout=RESULT_S)
            except Exception as error:
                if isinstance(error, OSError) and future.status != "error":
                    continue  # The host or the scheduler is gone: the next turn finds that.
                answer = {"lost": f"{type(error).__name__}: {error}"}
            del self.running[host]
            self._arrived(task, host, answer)
            self.session.on_sealed()

    def _arrived(self, task: Task, host: str, answer: Mapping[str, Any]) -> None:
        reason = answer.get("refused") or answer.get("lost")
        if reason:
            if not self.session.stopping.is_set():  # Else it remains to be made.
                self._failed(task, f"host {host}: {reason}")
            return
        folder = store.run_folder(self.session.folder, task.identity)
        try:
            sealed = stored(folder, task.spec, task.identity, answer["files"])
        except BadRecord as bad:
            self._failed(task, f"host {host}: damaged record: {bad}")
        except (OSError, TameshiError) as error:
            raise RunFailed(
                "a record cannot be stored",
                where=str(folder),
                found=str(error),
                hint="Finished runs are kept. Make room; the same command resumes.",
            ) from error
        else:
            display = self.session.display
            display.began(task.label, task.spec.world.value, folder)
            display.ended(task.label, sealed.outcome["status"], said(sealed), task.length_ns)

    def _failed(self, task: Task, reason: str) -> None:
        with suppress(OSError, TameshiError):
            store.write_lost(self.session.folder, task.spec, task.identity, reason)
        self.session.display.ended(task.label, "failed", reason, task.length_ns)

    def _show_progress(self) -> None:
        labels = {task.identity: task.label for task, _ in self.running.values()}
        with suppress(Empty):
            while True:
                match self.progress.get_nowait():
                    case {"kind": "progress", "identity": identity, "stage": stage, "progress": of}:
                        if identity in labels:
                            self.session.display.run(labels[identity], stage, of)

    # End

    def _stop(self) -> None:
        """Ask the hosts for partial results."""
        now_s = time.monotonic()
        self.stop_s = self.stop_s or now_s
        if now_s < self.request_s:
            return
        self.request_s = now_s + REQUEST_S
        addresses = list(self.fleet.places.values())

        def ask() -> None:
            with suppress(Exception):  # The next request tries again.
                self.client.run(remote.stop, self.fleet.name, workers=addresses, on_error="ignore")

        # A thread: a host that hangs would delay the others' results.
        threading.Thread(target=ask, daemon=True).start()

    def _close(self) -> None:
        """Cancel what still runs; listen no more."""
        if self.client.status != "running":
            return
        with suppress(OSError, RuntimeError, ValueError):
            for _, future in self.running.values():
                future.cancel()
            self.client.unsubscribe_topic(self.fleet.name)
