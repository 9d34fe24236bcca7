"""Running database of a trial: its sides, its service, and the steps after an event."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass

from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.pairs.way import Way

TAKEOVER = ("fence", "catch_up", "promotion", "repointing")
"""Steps of a failover to a standby."""


@dataclass(frozen=True)
class Failover:
    """Steps of a failover with their ends, in ns of the monotonic clock.

    Without a standby, the server restarts: `caught_up_ns` is the end of the mount of its drive,
    `promoted_ns` that of its crash recovery. `steps` names them.
    """

    begin_ns: int
    fenced_ns: int
    caught_up_ns: int
    promoted_ns: int
    end_ns: int
    steps: tuple[str, ...] = TAKEOVER

    def spans_ns(self) -> dict[str, int]:
        """Return the time of each step, and of all."""
        ends = (self.begin_ns, self.fenced_ns, self.caught_up_ns, self.promoted_ns, self.end_ns)
        spans = (end - begin for begin, end in itertools.pairwise(ends))
        return {**dict(zip(self.steps, spans, strict=True)), "failover": ends[-1] - ends[0]}


@dataclass(frozen=True)
class Return:
    """Return of a failed side: its means, its time, and the bytes of data that crossed the link.

    `refused`: why its own data did not suffice, if they did not.
    """

    means: str
    time_ns: int
    link_bytes: int
    refused: str = ""


class Deployment(ABC):
    """Servers of one database and the service that clients connect to; `primary` serves.

    The thread that sets it up has to outlive its servers.
    """

    primary: Side
    service: Service

    @property
    @abstractmethod
    def way(self) -> Way:
        """Return the way to run the database."""

    @property
    @abstractmethod
    def sides(self) -> tuple[Side, ...]:
        """Return the sides, the primary first."""

    @abstractmethod
    def set_up(self) -> None:
        """Start the servers on the data that the primary has, and lead the service to it."""

    @abstractmethod
    def wait_ready(self) -> None:
        """Wait until all sides have what the primary has written by now; raise `RunFailed`."""

    @abstractmethod
    def lag_ns(self) -> int | None:
        """Return the time until a standby has applied what the primary has written by now.

        None without a standby.
        """

    @abstractmethod
    def fail_over(self, *, fence: bool = True) -> Failover:
        """Let the service return after an event."""

    @abstractmethod
    def take_back(self) -> Return | None:
        """Bring the failed side back as the standby; None if there is no other side."""

    @abstractmethod
    def link_bytes(self) -> int:
        """Return the bytes of data that have crossed the link so far, both ways."""

    @abstractmethod
    def cut_link(self, *, one_way: bool = False) -> None:
        """Cut the link; `one_way`: from the primary to the standby only."""

    @abstractmethod
    def slow_link(self, factor: float) -> None:
        """Let delay and crossing of the link take this many times as long; 1 ends it."""
