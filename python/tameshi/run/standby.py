"""Standby of an emulated run: two hosts with a link, a second server on a drive of its own.

Both servers have a replication by their product's log. A failover leads the clients' address to the
standby; the first host does not come back in the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tameshi.core import compiled
from tameshi.core.clock import Clock
from tameshi.core.errors import TameshiError
from tameshi.core.spec_types import Cause, RunSpec
from tameshi.hosts import Hosts
from tameshi.pairs import Pair, Service, Side
from tameshi.pairs.assembly import place_of_pair
from tameshi.record.events import append_event
from tameshi.run.crashes import Crash, Wait
from tameshi.run.database import Database
from tameshi.run.emulation import Drives
from tameshi.run.standby_plan import FIRST, SECOND, replication_of
from tameshi.servers.placement import Serving
from tameshi.servers.private import PrivateServer, prepare_directory

LOG = "standby.log"
WATCH_NS = 1_000_000_000
"""Time between two measurements of the lag."""


class Standby:
    """Second server of a run's database, from `set_up` to the end of `with`.

    The thread that sets it up has to outlive both servers.
    """

    def __init__(
        self,
        run: RunSpec,
        folder: Path,
        hosts: Hosts,
        database: Database,
        drives: Drives,
        serving: Serving,
        clock: Clock,
    ) -> None:
        assert run.database
        self._run, self._folder, self._hosts = run, folder, hosts
        self._database, self._drives, self._serving = database, drives, serving
        self._clock = clock
        self._replication = replication_of(run.database, serving.product.name)
        self._storage = run.database.storage
        self._pair: Pair | None = None
        self._t0_ns = 0
        self._bytes = 0
        self._lags_ns: list[int] = []
        self._over = threading.Event()
        self._watch: threading.Thread | None = None

    @contextmanager
    def serving(self) -> Iterator[Self]:
        """Copy the running database to the standby, attach it, and lead the service to it."""
        product, far = self._serving.product, self._drives.standby
        assert far and far.point
        size_bytes = compiled.size_bytes(self._run.storage[self._storage].size)
        with (
            place_of_pair() as place,
            prepare_directory(far.point / "db", product, size_bytes) as directory,
        ):
            server = PrivateServer(
                *(product, self._serving.engine, directory, self._folder / LOG),
                program=self._serving.program,
                connections=self._database.connections,
                slow=self._clock.slow,
                within=self._hosts.host(SECOND.name).running,
            )
            pair = self._pair_with(server, Service(place / "service"))
            try:
                pair.set_up()
                self._database.service = pair.service.address
                yield self
            finally:
                self._over.set()
                if self._watch:
                    self._watch.join()
                for side in pair.sides:
                    side.server.kill()
                    side.host.kill()
                    side.restore_power()

    def _pair_with(self, server: PrivateServer, service: Service) -> Pair:
        near, far = self._drives.of(self._storage), self._drives.standby
        port = self._replication.port
        first = Side(self._hosts.host(FIRST.name), self._database.server, port, near)
        second = Side(self._hosts.host(SECOND.name), server, port, far)
        self._pair = Pair(self._hosts, (first, second), self._replication, service)
        return self._pair

    def begin(self, t0_ns: int) -> None:
        """Start to measure lag and traffic of a run that begins at `t0_ns` of its clock."""
        assert self._pair
        self._t0_ns, self._bytes = t0_ns, self._pair.link_bytes()
        self._watch = threading.Thread(target=self._measure)
        self._watch.start()

    def _measure(self) -> None:
        """Measure the lag each second, until a failover or the end of the run."""
        assert self._pair
        while not self._clock.wait(self._over, WATCH_NS):
            try:
                self._lags_ns.append(self._clock.slowed_ns(self._pair.lag_ns()))
            except TameshiError as error:
                self._note("error", message=f"the lag of the standby: {error}")
                return

    def settle(self) -> None:
        """Record lag and traffic from the run's begin to now; a second call does nothing."""
        if self._over.is_set() or not self._watch or not self._pair:
            return
        self._over.set()
        self._watch.join()
        self._note(
            "standby_figures",
            replication=self._replication.name,
            promises=self._replication.promises,
            window_ns=self._clock.now_ns() - self._t0_ns,
            link_bytes=self._pair.link_bytes() - self._bytes,
            lags_ns=self._lags_ns,
        )

    def fail_over(self, crash: Crash, end_clients: Callable[[], None], wait: Wait) -> int:
        """Make the cause, wait, and let the standby take over; return the begin of the takeover.

        `wait` returns when the standby begins.
        """
        assert self._pair
        self.settle()
        pair, begin_ns = self._pair, self._clock.now_ns()
        losses: dict[str, Any] = {}
        match crash.cause:
            case Cause.kill:
                pair.primary.server.kill()
            case Cause.link_cut:
                pair.cut_link()
            case _:
                end_clients()
                losses = pair.primary.cut_power()
        wait()
        start_ns = self._clock.now_ns()
        done = pair.fail_over()
        self._database.server = pair.primary.server
        spans = {step: self._clock.slowed_ns(ns) for step, ns in done.spans_ns().items()}
        self._note(
            "took_over",
            begin_ns,
            event=crash.name,
            cause=crash.cause.value,
            replication=self._replication.name,
            spans_ns=spans,
            losses=losses,
        )
        return start_ns

    def _note(self, kind: str, at_ns: int | None = None, **fields: Any) -> None:
        now_ns = self._clock.now_ns() if at_ns is None else at_ns
        append_event(self._folder, now_ns - self._t0_ns, kind, **fields)
