"""Block mirror: one served drive with a far side, on which the standby's server starts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Protocol

from tameshi.core.errors import RunFailed
from tameshi.hosts import Hosts
from tameshi.pairs.deployment import Failover, Return
from tameshi.pairs.pair import PATIENCE_SECONDS, Pair
from tameshi.pairs.replication import Replication
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.serve.faults import change_mirror
from tameshi.serve.plans import ServePlan
from tameshi.servers.installed import Program
from tameshi.servers.private import DataDirectory, PrivateServer

_POLL_SECONDS = 0.005
_BOTH = "both"


class BlockMirror(Replication):
    """Replication of the drive's writes, not of the server's: the standby has no server until a
    failover, and recovers as after a crash.

    Its copy is the drive's far side, and its state is the drive's: `MirroredPair` asks that.
    """

    protocol: ClassVar[str] = "far_medium"
    """When a write is done: `asynchronous`, `far_memory` or `far_medium`, as of the model."""
    promises = True
    # The drive computes its link by itself.
    has_slow_link = False
    by_log = "resync"

    def options(self, number: int) -> dict[str, str]:
        """Return nothing: the server knows of no standby."""
        return {}

    def require_tools(self, program: Program) -> None:
        """Need nothing but the server."""

    def prepare(self, primary: Side, standby: Side) -> None:
        """Do nothing: the far side has all writes."""

    def copy(self, primary: Side, standby: Side) -> None:
        """Do nothing: the far side has all writes."""

    def attach(self, primary: Side, standby: Side) -> None:
        """Do nothing: the standby's server does not run."""

    def is_attached(self, primary: Side, standby: Side) -> bool:
        """Return true: the drive knows the state."""
        return True

    def problem(self, standby: Side) -> str:
        """Return nothing: the standby's server does not run."""
        return ""

    def arm(self, primary: Side) -> None:
        """Do nothing: the protocol decides when a write is done."""

    def position(self, primary: Side) -> int:
        """Return 0: the drive knows the position."""
        return 0

    def applied(self, standby: Side) -> int:
        """Return 0: the drive knows the position."""
        return 0

    def stop_receiving(self, standby: Side) -> None:
        """Do nothing: the near side is gone."""

    def has_caught_up(self, standby: Side) -> bool:
        """Return true: what has arrived is there."""
        return True

    def promote(self, standby: Side) -> None:
        """Start the server on the far side; it recovers as after a crash."""
        standby.server.start()

    def rejoin(self, primary: Side, failed: Side) -> None:
        """Do nothing: the drive resyncs by itself."""


class MariaDBBlockMirror(BlockMirror):
    """MariaDB on a mirror whose writes are on both sides' drives."""

    name: ClassVar[str] = "mariadb-block-mirror"
    product = "mariadb"
    port = 3306


class MariaDBFarMemoryMirror(MariaDBBlockMirror):
    """MariaDB on a mirror whose writes the far host's memory has."""

    name: ClassVar[str] = "mariadb-block-mirror-far-memory"
    protocol = "far_memory"


class MariaDBAsynchronousMirror(MariaDBBlockMirror):
    """MariaDB on a mirror whose writes do not wait for the far side."""

    name: ClassVar[str] = "mariadb-block-mirror-asynchronous"
    protocol = "asynchronous"
    promises = False


class PostgreSQLBlockMirror(BlockMirror):
    """PostgreSQL on a mirror whose writes are on both sides' drives."""

    name: ClassVar[str] = "postgresql-block-mirror"
    product = "postgresql"
    port = 5432


class PostgreSQLFarMemoryMirror(PostgreSQLBlockMirror):
    """PostgreSQL on a mirror whose writes the far host's memory has."""

    name: ClassVar[str] = "postgresql-block-mirror-far-memory"
    protocol = "far_memory"


class PostgreSQLAsynchronousMirror(PostgreSQLBlockMirror):
    """PostgreSQL on a mirror whose writes do not wait for the far side."""

    name: ClassVar[str] = "postgresql-block-mirror-asynchronous"
    protocol = "asynchronous"
    promises = False


class MirrorDrive(Protocol):
    """Served block mirror; `serve.ServedDrive` is one."""

    @property
    def plan(self) -> ServePlan:
        """Return its plan."""

    @property
    def node(self) -> Path | None:
        """Return its block device while it is attached."""

    def ask(self, message: str) -> dict[str, Any]:
        """Send the drive a message; return the answer."""

    def restore_power(self, cut_ns: int, *, kill: bool) -> dict[str, Any]:
        """Mount the drive again, as after a power cut."""


class Mirror:
    """Drive of a mirrored pair, as its servers and sides use it.

    Both sides have the same directory, since one of them at a time has the drive.
    """

    def __init__(self, drive: MirrorDrive, directory: DataDirectory) -> None:
        self._drive = drive
        self._directory = directory
        self._lost_ns: int | None = None
        self._losses: dict[str, Any] = {}
        self._link_is_up = True

    @property
    def state(self) -> Mapping[str, Any]:
        """Return the state of the mirror."""
        return dict(self._drive.ask("status")["mirror"])

    @property
    def node(self) -> Path | None:
        """Return the block device that both sides share."""
        return self._drive.node

    @property
    def holds_back(self) -> bool:
        """Return whether requests may wait for a cut link without end."""
        return not self._link_is_up

    def lose_near_side(self) -> dict[str, Any]:
        """Lose the near side, unless it is lost already; return what the far side lacks.

        Requests under way fail, and all later ones.
        """
        if self._lost_ns is None:
            self._losses = change_mirror(self._drive, "fail_over")
            self._lost_ns, self._link_is_up = time.monotonic_ns(), True
        return self._losses

    def mount_far_side(self) -> None:
        """Mount the far side; programs that still use the near side are killed."""
        lost_ns, self._lost_ns = self._lost_ns, None
        assert lost_ns is not None
        with self._directory.let_go():
            self._drive.restore_power(lost_ns, kill=True)

    def change_link(self, change: str) -> None:
        """Cut the drive's link, or heal it; do nothing while one side is gone."""
        if self._lost_ns is None and self.state["sides"] != "alone":
            change_mirror(self._drive, f"link {change}")
            self._link_is_up = change == "heal"

    def take_back(self) -> None:
        """Bring the lost side back, and wait until it has all data. Raises `RunFailed`."""
        change_mirror(self._drive, "take_back")
        self.wait_synchronous()

    def wait_synchronous(self) -> None:
        """Wait until the far side has all data. Raises `RunFailed`."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.state["sides"] != _BOTH:
            if time.monotonic() > end:
                raise RunFailed(f"the far side was not up to date in {PATIENCE_SECONDS:g} s")
            time.sleep(_POLL_SECONDS)


class NearDrive:
    """Drive as a side has it: its power cut is the loss of the near side."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror

    @property
    def node(self) -> Path | None:
        """Return the block device of the mirror."""
        return self._mirror.node

    def ask(self, message: str) -> dict[str, Any]:
        """Cut the power; return what the far side lacks."""
        assert message == "cut"
        return dict(self._mirror.lose_near_side())

    def restore_power(self, cut_ns: int, *, kill: bool) -> dict[str, Any]:
        """Do nothing: a failover mounts the far side."""
        return {}


class MirroredServer(PrivateServer):
    """Server on a block mirror. Behind a cut link, a killed one ends only with its drive."""

    mirror: Mirror

    def kill(self) -> None:
        """Kill it; if it may wait for a cut link, its drive fails first."""
        if self.pid is not None and self.mirror.holds_back:
            with suppress(RunFailed):  # The drive's server has ended, and its requests with it.
                self.mirror.lose_near_side()
        super().kill()


class MirroredPair(Pair):
    """Pair whose sides share a block mirror: the primary has its near side."""

    def __init__(
        self,
        hosts: Hosts,
        sides: tuple[Side, Side],
        replication: BlockMirror,
        service: Service,
        mirror: Mirror,
    ) -> None:
        super().__init__(hosts, sides, replication, service)
        self._mirror = mirror

    def set_up(self) -> None:
        """Start the primary's server on the data that it has; the far side has them, too."""
        if not self.primary.is_up:
            self.primary.server.start()
        self.service.lead_to(self.primary)

    def wait_ready(self) -> None:
        """Wait until the far side is up to date, and fail over to it.

        A check of the service's data then is one of the side that has come back.
        """
        self._mirror.wait_synchronous()
        self.fail_over()
        self.take_back()

    def lag_ns(self) -> int:
        """Return the time until the far side has what has been written by now."""
        position = int(self._mirror.state["written"])
        begin = time.monotonic_ns()
        while int(self._mirror.state["arrived"]) < position:
            if time.monotonic_ns() - begin > PATIENCE_SECONDS * 1e9:
                raise RunFailed(f"the far side lags by more than {PATIENCE_SECONDS:g} s")
            time.sleep(_POLL_SECONDS)
        return time.monotonic_ns() - begin

    def fail_over(self, *, fence: bool = True) -> Failover:
        """Take the drive away from the primary, fence it, mount the far side, start the standby.

        Without a fence, the drive itself is one: the server of the old primary ends with it.
        """
        begin = time.monotonic_ns()
        self._mirror.lose_near_side()
        if fence:
            self.primary.fence()
        else:
            self.primary.server.kill()
        fenced = time.monotonic_ns()
        self._mirror.mount_far_side()
        mounted = time.monotonic_ns()
        self.replication.promote(self.standby)
        promoted = time.monotonic_ns()
        self.service.lead_to(self.standby)
        self.primary, self.standby = self.standby, self.primary
        return Failover(begin, fenced, mounted, promoted, time.monotonic_ns())

    def take_back(self) -> Return:
        """Bring the lost side back as the far side, which receives what it lacks."""
        begin, before = time.monotonic_ns(), self.link_bytes()
        self.heal_link()
        self._mirror.take_back()
        means = self.replication.by_log
        return Return(means, time.monotonic_ns() - begin, self.link_bytes() - before)

    def link_bytes(self) -> int:
        """Return the bytes of data that have crossed the link, those of the drive included."""
        return super().link_bytes() + int(self._mirror.state["sent_bytes"])

    def cut_link(self, *, one_way: bool = False) -> None:
        """Cut the link of the hosts and that of the drive, which needs both ways."""
        super().cut_link(one_way=one_way)
        self._mirror.change_link("cut")

    def heal_link(self) -> None:
        """Let both carry again."""
        super().heal_link()
        self._mirror.change_link("heal")
