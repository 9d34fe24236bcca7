"""Warm-up of the buffer pool: hits and reads from the drive before an event and after it."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.errors import RunFailed
from tameshi.pairs.deployment import Deployment
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.side import Side
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.product import ClientError

INTERVAL_SECONDS = 1.0
"""Time between readings: sessions of PostgreSQL report their counts once a second."""
DATABASE = "tameshi"


@dataclass(frozen=True)
class Warmth:
    """Service of one server over some time; times in ns from the event.

    `hit_ratio`: share of page requests that the buffer pool answered, by the server's counters.
    `reads_per_commit`: reads that its drive received. None: not known, or nothing asked for.
    """

    begin_ns: int
    end_ns: int
    rate: float
    hit_ratio: float | None
    reads_per_commit: float | None


@dataclass(frozen=True)
class WarmUp:
    """Service before the event, and in each interval from the failover on."""

    before: Warmth | None
    after: tuple[Warmth, ...]


@dataclass(frozen=True)
class PoolReading:
    """Counters of the server that serves, and of its drive, at one time."""

    time_ns: int
    server: tuple[str, int | None]
    commits: int
    requests: int | None
    misses: int | None
    drive_reads: int | None

    def until(self, later: PoolReading, event_ns: int) -> Warmth | None:
        """Return the service until a later reading; None if another server serves by then."""
        if self.server != later.server:
            return None
        requests = _gained(self.requests, later.requests)
        misses = _gained(self.misses, later.misses)
        reads = _gained(self.drive_reads, later.drive_reads)
        commits, span_ns = later.commits - self.commits, later.time_ns - self.time_ns
        return Warmth(
            begin_ns=self.time_ns - event_ns,
            end_ns=later.time_ns - event_ns,
            rate=commits * 1e9 / span_ns,
            hit_ratio=1 - misses / requests if requests and misses is not None else None,
            reads_per_commit=reads / commits if commits and reads is not None else None,
        )


def _gained(now: int | None, later: int | None) -> int | None:
    """Return the increase of a counter; None if it is unknown or began anew."""
    return None if now is None or later is None or later < now else later - now


class PoolWatch:
    """Readings of the server that serves: single ones, and one per interval."""

    def __init__(self, deployment: Deployment, load: LedgerLoad) -> None:
        self._deployment = deployment
        self._load = load
        self._stopped = threading.Event()

    def read(self) -> PoolReading:
        """Return the counters now."""
        side = self._deployment.primary
        counters: dict[str, int] = {}
        with suppress(RunFailed, ClientError), side.client() as client:
            found = PRODUCTS[self._deployment.way.product].count(client, DATABASE)
            counters = dict(found.counters) if found else {}
        return PoolReading(
            time_ns=time.monotonic_ns(),
            server=(side.name, side.server.pid),
            commits=self._load.commits(),
            requests=counters.get("server.page_requests"),
            misses=counters.get("server.page_misses"),
            drive_reads=drive_reads(side),
        )

    @contextmanager
    def following(self) -> Iterator[list[PoolReading]]:
        """Yield a list that a thread adds a reading to in each interval, until the end."""
        found = [self.read()]

        def follow() -> None:
            while not self._stopped.wait(INTERVAL_SECONDS):
                found.append(self.read())

        thread = threading.Thread(target=follow)
        thread.start()
        try:
            yield found
        finally:
            self._stopped.set()
            thread.join()


def warmths(readings: Sequence[PoolReading], event_ns: int) -> tuple[Warmth, ...]:
    """Return the service between neighbouring readings."""
    spans = (now.until(later, event_ns) for now, later in itertools.pairwise(readings))
    return tuple(span for span in spans if span)


def drive_reads(side: Side) -> int | None:
    """Return the reads that a side's drive has received; None without a served drive."""
    node = side.drive.node if side.drive else None
    if node is None:
        return None
    try:
        words = Path("/sys/block", node.name, "stat").read_text("utf-8").split()
    except OSError:
        return None
    return int(words[0])
