"""Crashes that a study asks for: server killed, power cut, or host lost; then a restart.

At the end of the run, a check compares acknowledged transactions with the database; its verdict
reports losses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from tameshi.core import compiled
from tameshi.core.clock import WALL, Clock
from tameshi.core.errors import RunFailed, TameshiError
from tameshi.core.spec_types import Cause, PowerCut, RunSpec
from tameshi.record.events import append_event
from tameshi.run.event_times import EventTimes, time_of_event
from tameshi.servers.private import PrivateServer

How = Literal["kill", "power_cut", "failover"]
Wait = Callable[[], object]
"""Wait until the standby starts its server."""

FailOver = Callable[["Crash", Callable[[], None], Wait], int]
"""Let the other side serve instead of a lost one; return when it began to."""

LET_GO_SECONDS = 60.0
"""Time in s for clients to disconnect, and for an embedded database's clients to close its
files."""


@dataclass(frozen=True)
class Crash:
    """Crash with its time, as of a hook.

    `down_ns`: time until the restart; `cut`: the power cut that it is; `cause`: of a failover.
    """

    name: str
    at_ns: int
    phases: tuple[int, ...] | None
    how: How
    down_ns: int
    cut: PowerCut | None = None
    cause: Cause = Cause.power_cut


def crashes_of(spec: RunSpec, commands: Mapping[str, Sequence[str]]) -> list[Crash]:
    """Return the crashes of a run without a command of the user, the earliest first."""
    crashes = []
    for name, event in (spec.events or {}).items():
        if name in commands or spec.database is None:
            continue
        at_ns, phases = time_of_event(spec, event)
        if event.kill is not None:
            down_ns = compiled.nanoseconds(event.kill.down or "0 s")
            crashes.append(Crash(name, at_ns, phases, "kill", down_ns))
        elif event.power_cut is not None:
            crashes.append(Crash(name, at_ns, phases, "power_cut", 0, event.power_cut))
        elif event.failover is not None:
            down_ns = compiled.nanoseconds(event.failover.down or "0 s")
            cause = event.failover.cause or Cause.power_cut
            crashes.append(Crash(name, at_ns, phases, "failover", down_ns, cause=cause))
    return sorted(crashes, key=lambda crash: crash.at_ns)


class Crashes:
    """Crashes and restarts of a server, from `begin` to the end of `with`.

    `cut` cuts the power of server and storage, and brings the storage back; `fail_over` loses both,
    waits, lets the other side serve, and returns when it began to. They inform clients by the
    function that they are given. One thread performs them all: a server dies with the thread that
    started it.
    """

    def __init__(
        self,
        folder: Path,
        server: PrivateServer,
        cut: Callable[[PowerCut, Callable[[], None]], None],
        crashes: Sequence[Crash],
        stopped: Callable[[], bool],
        clock: Clock = WALL,
        fail_over: FailOver | None = None,
    ) -> None:
        self._clock = clock
        self._fail_over = fail_over
        self._folder = folder
        self._server = server
        self._cut_power = cut
        self._crashes = crashes
        self._stopped = stopped
        self._over = threading.Event()
        self._left = threading.Event()
        self._let_go = threading.Event()
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self.failure: str | None = None
        """Reason that the run is void: a crash did not happen, or the server did not restart."""

    def begin(self, t0_ns: int, tell: Callable[[str], None]) -> None:
        """Start the run at `t0_ns`; `tell` informs clients of `power_cut`, `back` or `gone`."""
        if self._crashes:
            self._thread = threading.Thread(target=self._keep, args=(t0_ns, tell))
            self._thread.start()

    def let_go(self) -> None:
        """Note that clients have disconnected."""
        self._let_go.set()

    def settle(self) -> None:
        """After the last phase, wait until no crash is in progress."""
        self._over.set()
        if self._thread is not None:
            self._done.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._let_go.set()
        self._left.set()
        if self._thread is not None:
            self._thread.join()

    def _keep(self, t0_ns: int, tell: Callable[[str], None]) -> None:
        event_times = EventTimes(self._folder, t0_ns, self._over, self._clock)
        try:
            for crash in self._crashes:
                if event_times.wait_for(crash.at_ns, crash.phases):
                    self._make(crash, t0_ns, tell)
                elif not self._stopped():
                    self._fail(f"event `{crash.name}`: the run ended before its time")
                if self.failure:
                    break
        finally:
            self._done.set()
        self._left.wait()

    def _make(self, crash: Crash, t0_ns: int, tell: Callable[[str], None]) -> None:
        begin_ns = self._clock.now_ns()
        try:
            start_ns = self._bring_back(crash, lambda: self._end_clients(tell))
        except (TameshiError, OSError) as error:
            self._fail(f"event `{crash.name}`: the database did not come back: {error}")
            tell("gone")
            return
        back_ns = self._clock.now_ns()
        append_event(
            self._folder,
            begin_ns - t0_ns,
            "crash",
            event=crash.name,
            how=crash.how,
            recovery_ns=back_ns - start_ns,
            away_ns=back_ns - begin_ns,
        )
        tell("back")

    def _bring_back(self, crash: Crash, end_clients: Callable[[], None]) -> int:
        """Lose the server, and let it or another one serve; return when that one began to start."""

        def wait() -> bool:
            return self._clock.wait(self._left, crash.down_ns)

        if crash.how == "failover":
            assert self._fail_over
            return self._fail_over(crash, end_clients, wait)
        if crash.cut:
            self._cut_power(crash.cut, end_clients)
        else:
            self._server.kill()
            wait()
        start_ns = self._clock.now_ns()
        self._server.start()
        return start_ns

    def _end_clients(self, tell: Callable[[str], None]) -> None:
        """Inform the clients of a power cut, and wait until they have let go."""
        tell("power_cut")
        if not self._clock.wait(self._let_go, LET_GO_SECONDS * 1e9):
            raise RunFailed(f"the clients did not hear of the power cut in {LET_GO_SECONDS:g} s")
        self._let_go.clear()

    def _fail(self, why: str) -> None:
        self.failure = self.failure or why
