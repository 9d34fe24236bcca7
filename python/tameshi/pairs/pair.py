"""Pair of hosts with one replication: set-up, lag, failover, return of the failed side."""

from __future__ import annotations

import time
from collections.abc import Callable

from tameshi.core.errors import RunFailed
from tameshi.hosts import Hosts
from tameshi.pairs.deployment import Deployment, Failover, Return
from tameshi.pairs.replication import Replication
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side

PATIENCE_SECONDS = 120.0
"""Time limit of a standby that catches up, in s."""
_POLL_SECONDS = 0.005
COPY = "copy"
"""Means of a return: all data again, over the link."""


class Pair(Deployment):
    """Primary and standby with a link, and the service that clients connect to.

    The thread that sets it up has to outlive its servers.
    """

    def __init__(
        self,
        hosts: Hosts,
        sides: tuple[Side, Side],
        replication: Replication,
        service: Service,
    ) -> None:
        self._hosts = hosts
        self.primary, self.standby = sides
        self.replication = replication
        self.service = service
        for number, side in enumerate(sides, 1):
            # A setting of the user's own stays.
            side.server.options = {**replication.options(number), **side.server.options}

    @property
    def way(self) -> Replication:
        """Return the replication."""
        return self.replication

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the primary and the standby."""
        return self.primary, self.standby

    def set_up(self) -> None:
        """Start the primary on the data that it has, copy them, and attach the standby."""
        if not self.primary.is_up:
            self.primary.server.start()
        self.replication.prepare(self.primary, self.standby)
        self.replication.copy(self.primary, self.standby)
        self.replication.attach(self.primary, self.standby)
        self.wait_ready()
        self.service.lead_to(self.primary)

    def wait_ready(self) -> None:
        """Wait until the standby has all that the primary has written by now, and let commits wait
        for it as the replication says. Raises `RunFailed`."""
        replication = self.replication
        position = replication.position(self.primary)

        def is_ready() -> bool:
            if problem := replication.problem(self.standby):
                raise RunFailed(problem, where=self.standby.name)
            attached = replication.is_attached(self.primary, self.standby)
            return attached and replication.applied(self.standby) >= position

        _wait_until(is_ready, f"the standby {self.standby.name} has not caught up")
        replication.arm(self.primary)

    def lag_ns(self) -> int:
        """Return the time until the standby has applied all that the primary has written by now.

        It includes the time of a question to each server, some milliseconds.
        """
        position = self.replication.position(self.primary)
        begin = time.monotonic_ns()

        def is_applied() -> bool:
            return self.replication.applied(self.standby) >= position

        _wait_until(is_applied, f"the standby {self.standby.name} lags behind")
        return time.monotonic_ns() - begin

    def fail_over(self, *, fence: bool = True) -> Failover:
        """Fence the primary, let the standby catch up, promote it, and lead clients to it.

        Without a fence, both sides serve: connected clients stay with the old primary.
        """
        begin = time.monotonic_ns()
        if fence:
            self.primary.fence()
        fenced = time.monotonic_ns()
        replication, standby = self.replication, self.standby
        replication.stop_receiving(standby)
        _wait_until(
            lambda: replication.has_caught_up(standby),
            f"the standby {standby.name} has not applied all that it received",
        )
        caught_up = time.monotonic_ns()
        replication.promote(standby)
        promoted = time.monotonic_ns()
        self.service.lead_to(standby)
        self.primary, self.standby = standby, self.primary
        return Failover(begin, fenced, caught_up, promoted, time.monotonic_ns())

    def take_back(self) -> Return:
        """Bring the fenced side back as the standby: by the log if that is possible, else by a
        full copy."""
        begin, before = time.monotonic_ns(), self.link_bytes()
        replication, failed = self.replication, self.standby
        means, refused = replication.by_log, ""
        self.heal_link()
        failed.restore_power()
        try:
            replication.rejoin(self.primary, failed)
            self.wait_ready()
        except RunFailed as error:
            means, refused = COPY, str(error)
            replication.copy(self.primary, failed)
            replication.attach(self.primary, failed)
            self.wait_ready()
        return Return(means, time.monotonic_ns() - begin, self.link_bytes() - before, refused)

    def link_bytes(self) -> int:
        """Return the bytes of data that have crossed the link so far, both ways."""
        (link,) = self._hosts.status()["links"]
        return sum(int(way["bytes"]) for way in link["ways"])

    def cut_link(self, *, one_way: bool = False) -> None:
        """Cut the link; `one_way`: from the primary to the standby only."""
        self._change_link("cut", one_way=one_way)

    def heal_link(self) -> None:
        """Let the link carry packets again."""
        self._change_link("heal", one_way=False)

    def slow_link(self, factor: float) -> None:
        """Slow the link both ways; 1 ends it."""
        self._change_link(f"slow {factor:g}", one_way=False)

    def _change_link(self, change: str, *, one_way: bool) -> None:
        links = self._hosts.links
        assert links
        direction = links.direction(self.primary.name, self.standby.name, one_way=one_way)
        links.change(direction, change)


def _wait_until(condition: Callable[[], bool], otherwise: str) -> None:
    """Wait until a condition holds; raise `RunFailed` after the time limit."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise RunFailed(f"{otherwise} in {PATIENCE_SECONDS:g} s")
        time.sleep(_POLL_SECONDS)
