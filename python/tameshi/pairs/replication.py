"""Interface of all replications: copy, attachment, promotion and return of a failed side."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from tameshi.pairs.side import Side
from tameshi.pairs.way import Way


class Replication(Way):
    """Replication of a database product from a primary to a standby. Stateless.

    Each method raises `RunFailed` for a failure of a server.
    """

    standbys = 1
    has_slow_link = True
    by_log: ClassVar[str]
    """Means of a return without a full copy."""

    @abstractmethod
    def prepare(self, primary: Side, standby: Side) -> None:
        """Let the standby connect to a running primary."""

    @abstractmethod
    def copy(self, primary: Side, standby: Side) -> None:
        """Replace the standby's data by a copy over the link, and start its server."""

    @abstractmethod
    def attach(self, primary: Side, standby: Side) -> None:
        """Start replication to a copied standby."""

    @abstractmethod
    def is_attached(self, primary: Side, standby: Side) -> bool:
        """Return whether the standby receives what the primary writes."""

    @abstractmethod
    def problem(self, standby: Side) -> str:
        """Return the error that has ended replication; empty while there is none."""

    @abstractmethod
    def arm(self, primary: Side) -> None:
        """Let commits of the primary wait for the attached standby, if the replication does."""

    @abstractmethod
    def position(self, primary: Side) -> int:
        """Return the primary's position in its log."""

    @abstractmethod
    def applied(self, standby: Side) -> int:
        """Return the position up to which the standby has applied the primary's log."""

    @abstractmethod
    def stop_receiving(self, standby: Side) -> None:
        """Receive nothing more of a fenced primary."""

    @abstractmethod
    def has_caught_up(self, standby: Side) -> bool:
        """Return whether the standby has applied all that it has received."""

    @abstractmethod
    def promote(self, standby: Side) -> None:
        """Make a standby that has caught up the primary, which waits for no standby."""

    @abstractmethod
    def rejoin(self, primary: Side, failed: Side) -> None:
        """Start a failed side as a standby with the data that it has, and attach it.

        Raises `RunFailed` if only a full copy helps, for example because it holds commits that the
        primary does not have.
        """
