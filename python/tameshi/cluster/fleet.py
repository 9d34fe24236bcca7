"""Fleet: measured runs on hosts that are named, at most one at a time on each.

Each host has a worker that its own user started with a permission (`tameshi worker`). The host
examines itself; the collector stores the records that come back. Hosts measure side by side.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tameshi.cluster import measuring, remote
from tameshi.core import compiled
from tameshi.core.errors import BadInput, RunFailed, TameshiError
from tameshi.core.spec_types import Plan, World
from tameshi.record import store
from tameshi.record.transfer import BadRecord, stored
from tameshi.run.dispatcher import Session, Task, said
from tameshi.run.preflight import Examined

HOST = "host"
"""Axis of a study that is measured on a fleet."""
WAIT_S = 30.0
"""Time in which the workers of all hosts must be there."""
POLL_S = 0.25
GONE_S = 60.0
"""Time after which the runs of a host that is gone are given up."""
STOP_S = 30.0
"""Time after a stop in which current runs may leave a partial result."""
REQUEST_S = 2.0
"""Time between two stop requests."""
ANSWER_S = 300.0
"""Time in which a host must answer an examination."""
LIVES = ("pending", "lost")


@dataclass
class Fleet:
    """Hosts of a cluster: address of the worker of each, and the storages that are bound there."""

    client: Any
    storage: Mapping[str, Mapping[str, str]]
    """Paths by host and storage."""
    plan: Plan | None = None
    places: dict[str, str] = field(default_factory=dict)
    """Address of the worker of each host."""
    name: str = field(default_factory=lambda: f"tameshi-{uuid.uuid4().hex[:12]}")

    def __post_init__(self) -> None:
        self.needs = remote.described()
        self._find()

    def _find(self) -> None:
        """Wait for the worker of each host; raise `BadInput` without."""
        until_s = time.monotonic() + WAIT_S
        while missing := self._missing():
            if time.monotonic() > until_s:
                raise BadInput(
                    "no worker measures on this host",
                    where="--on",
                    found=", ".join(missing),
                    accepted=sorted(self._there()) or ["a host whose worker is connected"],
                    hint="Start it there: tameshi worker ADDRESS --host NAME --allow PATH.",
                )
            time.sleep(POLL_S)

    def _there(self) -> dict[str, str]:
        """Return the address of each host's worker that is connected now."""
        workers = self.client.scheduler_info()["workers"]
        return {
            str(worker["name"]): address
            for address, worker in workers.items()
            if worker["resources"].get(measuring.RESOURCE)
        }

    def _missing(self) -> list[str]:
        there = self._there()
        self.places = {host: there[host] for host in self.storage if host in there}
        return [host for host in self.storage if host not in there]

    def examine(self, plan: Plan) -> tuple[dict[str, Examined], list[str]]:
        """Let every host examine itself; return the findings by host, and lines to announce.

        Raises `BadInput` for a host that refuses.
        """
        self.plan = plan
        asked = {
            host: self.client.submit(
                measuring.examine,
                measuring.request(self.needs, plan, self.storage[host]),
                workers=[address],
                pure=False,
            )
            for host, address in self.places.items()
        }
        found, lines = {}, []
        for host, future in asked.items():
            answer = future.result(timeout=ANSWER_S)
            if "refused" in answer:
                raise BadInput(f"host {host} refuses", where="--on", found=answer["refused"])
            facts = answer["environment"], answer["identity"], answer["findings"]
            found[host] = Examined(World.measured.value, {}, *facts)
            lines += [f"{host}: {line}" for line in answer["lines"]]
        return found, lines

    def run(self, session: Session, tasks: Sequence[Task]) -> None:
        """Make the runs of each host in order, and store their records."""
        waiting: dict[str, deque[Task]] = {}
        for task in tasks:
            waiting.setdefault(task.spec.cell[HOST], deque()).append(task)
        running: dict[str, tuple[Task, Any]] = {}
        gone_s: dict[str, float] = {}
        stop_s: float | None = None
        request_s = 0.0
        try:
            while running or (any(waiting.values()) and not session.stopping.is_set()):
                if session.stopping.is_set():
                    now_s = time.monotonic()
                    stop_s = stop_s or now_s
                    if now_s >= request_s:
                        request_s = now_s + REQUEST_S
                        self._request_stop()
                    if now_s - stop_s > STOP_S:
                        return
                else:
                    self._watch(session, waiting, running, gone_s)
                    self._hand_out(session, waiting, running)
                self._take_in(session, running)
                time.sleep(POLL_S)
        finally:
            for _, future in running.values():
                with suppress(Exception):
                    future.cancel()

    def _hand_out(
        self,
        session: Session,
        waiting: Mapping[str, deque[Task]],
        running: dict[str, tuple[Task, Any]],
    ) -> None:
        for host, tasks in waiting.items():
            if host in running or not tasks or host not in self.places:
                continue
            task = tasks.popleft()
            more = {"spec": compiled.to_json(task.spec), "identity": task.identity}
            assert self.plan
            asked = measuring.request(
                self.needs, self.plan, self.storage[host], name=self.name, **more
            )
            session.display.say(f"{task.label} begins")
            future = self.client.submit(
                measuring.measure,
                asked,
                workers=[self.places[host]],
                resources={measuring.RESOURCE: 1},
                pure=False,
            )
            running[host] = task, future

    def _watch(
        self,
        session: Session,
        waiting: dict[str, deque[Task]],
        running: dict[str, tuple[Task, Any]],
        gone_s: dict[str, float],
    ) -> None:
        """Give up the runs of a host that stays away; take back the run of one that is back."""
        before = dict(self.places)
        missing = self._missing()
        for host in self.storage:
            if host in missing:
                since_s = gone_s.setdefault(host, time.monotonic())
                if host in before:
                    session.display.say(f"host {host} is gone: its runs wait for it")
                if time.monotonic() - since_s > GONE_S and (waiting.get(host) or host in running):
                    waiting[host].clear()
                    running.pop(host, None)
                    session.display.say(f"host {host} stays away: its runs remain to be made")
                continue
            is_back = gone_s.pop(host, None) is not None
            is_another = self.places[host] != before.get(host, self.places[host])
            if host in running and (is_back or is_another):
                task, future = running.pop(host)
                future.cancel()
                waiting[host].appendleft(task)

    def _take_in(self, session: Session, running: dict[str, tuple[Task, Any]]) -> None:
        """Store the records of runs that have ended."""
        for host, (task, future) in list(running.items()):
            if future.status in LIVES:
                continue
            del running[host]
            try:
                answer = future.result(timeout=ANSWER_S)
            except Exception as error:
                answer = {"lost": f"{type(error).__name__}: {error}"}
            self._store(session, task, host, answer)
            session.on_sealed()

    def _store(self, session: Session, task: Task, host: str, answer: Mapping[str, Any]) -> None:
        folder = store.run_folder(session.folder, task.identity)
        reason = answer.get("refused") or answer.get("lost")
        if reason and session.stopping.is_set():
            return  # It remains to be made.
        if reason is None:
            try:
                sealed = stored(folder, task.spec, task.identity, answer["files"])
            except BadRecord as bad:
                reason = f"damaged record: {bad}"
            except (OSError, TameshiError) as error:
                hint = "Finished runs are kept. Make room; the same command resumes."
                message = "a record cannot be stored"
                raise RunFailed(message, where=str(folder), found=str(error), hint=hint) from error
            else:
                session.display.began(task.label, task.spec.world.value, folder)
                status = sealed.outcome["status"]
                session.display.ended(task.label, status, said(sealed), task.length_ns)
                return
        reason = f"host {host}: {reason}"
        with suppress(OSError, TameshiError):
            store.write_lost(session.folder, task.spec, task.identity, reason)
        session.display.ended(task.label, "failed", reason, task.length_ns)

    def _request_stop(self) -> None:
        addresses = list(self.places.values())

        def ask() -> None:
            with suppress(Exception):  # The next request tries again.
                self.client.run(remote.stop, self.name, workers=addresses, on_error="ignore")

        threading.Thread(target=ask, daemon=True).start()

    def clean(self) -> list[str]:
        """Remove what was made for storages on all hosts; return why some keep their files."""
        assert self.plan
        kept = []
        for host, address in self.places.items():
            asked = measuring.request(self.needs, self.plan, self.storage[host])
            future = self.client.submit(measuring.clean, asked, workers=[address], pure=False)
            try:
                future.result(timeout=ANSWER_S)
            except Exception as error:
                kept.append(f"host {host} keeps the files of its storages: {error}")
        return kept
