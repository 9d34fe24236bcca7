"""Database on one host without a standby: after an event its server restarts and recovers."""

from __future__ import annotations

import time
from typing import ClassVar

from tameshi.core.errors import BadInput
from tameshi.pairs.deployment import Deployment, Failover
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.pairs.way import Way
from tameshi.servers.installed import Program

RESTART = ("fence", "mount", "recovery", "repointing")
"""Steps of a restart."""


class Single(Way):
    """One server on one drive, with the settings of the engine alone."""

    promises = True

    def options(self, number: int) -> dict[str, str]:
        """Return nothing: there is no standby that needs a log."""
        return {}

    def require_tools(self, program: Program) -> None:
        """Need nothing but the server."""


class MariaDBSingle(Single):
    """MariaDB without a binary log."""

    name: ClassVar[str] = "mariadb-single"
    product = "mariadb"
    port = 3306


class PostgreSQLSingle(Single):
    """PostgreSQL with its usual log."""

    name: ClassVar[str] = "postgresql-single"
    product = "postgresql"
    port = 5432


class SingleHost(Deployment):
    """Host with a server, and the service that clients connect to."""

    def __init__(self, side: Side, single: Single, service: Service) -> None:
        self.primary = side
        self.service = service
        self._single = single
        # A setting of the user's own stays.
        side.server.options = {**single.options(1), **side.server.options}

    @property
    def way(self) -> Single:
        """Return the way to run the database."""
        return self._single

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the only side."""
        return (self.primary,)

    def set_up(self) -> None:
        """Start the server on the data that it has, and lead the service to it."""
        if not self.primary.is_up:
            self.primary.server.start()
        self.service.lead_to(self.primary)

    def wait_ready(self) -> None:
        """Do nothing: no other side lags behind."""

    def lag_ns(self) -> None:
        """Return nothing: there is no standby."""

    def fail_over(self, *, fence: bool = True) -> Failover:
        """End what is left of the server, mount its drive after a power cut, and start the server
        on it, which recovers."""
        side, begin = self.primary, time.monotonic_ns()
        side.fence()
        fenced = time.monotonic_ns()
        side.restore_power()
        mounted = time.monotonic_ns()
        side.server.start()
        recovered = time.monotonic_ns()
        self.service.lead_to(side)
        return Failover(begin, fenced, mounted, recovered, time.monotonic_ns(), RESTART)

    def take_back(self) -> None:
        """Do nothing: the failed side serves."""

    def link_bytes(self) -> int:
        """Return 0: there is no link."""
        return 0

    def cut_link(self, *, one_way: bool = False) -> None:
        """Raise `BadInput`: there is no link."""
        raise no_link("a link cut")

    def slow_link(self, factor: float) -> None:
        """Raise `BadInput`: there is no link."""
        raise no_link("a slow link")


def no_link(found: str) -> BadInput:
    """Return the refusal of an event that needs a link."""
    return BadInput(
        "a server without a standby has no link",
        where="--event",
        found=found,
        accepted=["kill", "power-cut", "a replication with a standby"],
    )
