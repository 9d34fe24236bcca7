"""Embedded database on a block mirror: its engine runs in the clients' process, in a host.

A failover ends that process, mounts the far side, checks the database there, and starts another.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import tameshi
from tameshi import guard
from tameshi.core.errors import RunFailed
from tameshi.pairs.ledger_load import RECORD, LedgerLoad, claim_record
from tameshi.pairs.mirror import BlockMirror, MirroredServer
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.record.events import EVENTS
from tameshi.servers.private import START_SECONDS
from tameshi.servers.product import Address, ClientError

MODULE = "tameshi.pairs.embedded_client"
POLL_SECONDS = 0.005
SECOND_NS, RECOVERED = 10**9, 0.9
"""The rate has recovered when a second has this share of the commits before."""


class SQLiteBlockMirror(BlockMirror):
    """SQLite on a mirror whose writes are on both sides' drives."""

    name: ClassVar[str] = "sqlite-block-mirror"
    product = "sqlite"
    port = 0


class SQLiteFarMemoryMirror(SQLiteBlockMirror):
    """SQLite on a mirror whose writes the far host's memory has."""

    name: ClassVar[str] = "sqlite-block-mirror-far-memory"
    protocol = "far_memory"


class SQLiteAsynchronousMirror(SQLiteBlockMirror):
    """SQLite on a mirror whose writes do not wait for the far side."""

    name: ClassVar[str] = "sqlite-block-mirror-asynchronous"
    protocol = "asynchronous"
    promises = False


class EmbeddedServer(MirroredServer):
    """Process of the clients, which has the engine. `clients` is the load while there is one."""

    clients: EmbeddedLoad | None = None

    def start(self, patience_seconds: float = START_SECONDS) -> None:
        """Recover and check the database; start the clients on it, if there is a load."""
        try:
            with self.client(patience_seconds) as client:
                found = [str(row[0]) for row in client.query("PRAGMA integrity_check")]
        except ClientError as error:
            found = [str(error)]
        if found != ["ok"]:
            raise RunFailed(
                "the embedded database is corrupt",
                where=str(self.address.file),
                found=found[0],
                accepted=["ok, as PRAGMA integrity_check answers"],
            )
        if self.clients:
            self._spawn(self.clients.command())
            end = time.monotonic() + patience_seconds
            while not self.clients.has_begun():
                if problem := self.ended():
                    raise RunFailed(problem)
                if time.monotonic() > end:
                    raise RunFailed(f"the clients did not begin in {patience_seconds:g} s")
                time.sleep(POLL_SECONDS)

    def kill(self) -> None:
        """Kill the clients; note when."""
        if self.pid is not None and self.clients:
            self.clients.note_end()
        super().kill()


class EmbeddedService(Service):
    """File of the database: the side that has the drive has the service."""

    def lead_to(self, side: Side) -> None:
        """Note the file, which has the same path on both sides."""
        self._address = side.server.address


class EmbeddedLoad(LedgerLoad):
    """Load whose clients run in the host that has the drive, and end with it.

    Each start has a record of its own; all share the journals, which lie elsewhere.
    """

    def __init__(
        self,
        address: Address,
        program: Mapping[str, Any],
        folder: Path,
        servers: Sequence[EmbeddedServer],
        *,
        seed: int = 1,
    ) -> None:
        super().__init__(address, program, folder, seed=seed)
        self._servers = servers
        self._begun: list[tuple[Path, int]] = []
        self._ended_ns: list[int] = []

    def _start(self) -> None:
        """Start the clients on the first side."""
        for server in self._servers:
            server.clients = self
        self._servers[0].start()

    def _problem(self) -> RunFailed | None:
        ended = self._servers[0].ended()
        return RunFailed(ended) if ended else None

    def _records(self) -> list[tuple[Path, int]]:
        return self._begun

    def has_begun(self) -> bool:
        """Return whether the last process of the clients has begun its record."""
        record, _ = self._begun[-1]
        return (record / EVENTS).exists()

    def command(self) -> list[str]:
        """Return the command of the next process of the clients."""
        number = len(self._begun)
        record, begin_ns = self._folder / f"{RECORD}-{number}", time.monotonic_ns()
        claim_record(record)
        self._begun.append((record, begin_ns))
        spec = {"load": self._spec(self._address), "record": str(record), "t0_ns": begin_ns}
        file = self._folder / f"clients-{number}.json"
        guard.write_file(file, json.dumps(spec).encode())
        path = Path(tameshi.__file__).parents[1]
        return ["env", f"PYTHONPATH={path}", sys.executable, "-m", MODULE, str(file)]

    def note_end(self) -> None:
        """Note that the clients are killed now."""
        self._ended_ns.append(time.monotonic_ns())

    def stop(self) -> None:
        """Let the clients end their transactions, and wait for their end."""
        for server in self._servers:
            server.clients = None
            if server.pid is not None:
                server.stop()

    def fail_power(self) -> None:
        """Do nothing: the clients have the power of their host."""

    def restore_power(self) -> None:
        """Do nothing: the clients have the power of their host."""

    def outages(self) -> list[dict[str, Any]]:
        """Return the time from the kill of each process to the first commit of the next."""
        commits = [
            (begin, begin + length, sum(count for _, count in rows))
            for begin, length, rows in self.intervals()
            if rows
        ]
        found = []
        for ended_ns in self._ended_ns:
            before = [each for each in commits if each[1] <= ended_ns]
            after = [each for each in commits if each[0] >= ended_ns]
            found.append(outage(ended_ns, before, after, self.t0_ns))
        return found


Commits = Sequence[tuple[int, int, int]]
"""Begin, end and number of commits of intervals in their order."""


def outage(error_ns: int, before: Commits, after: Commits, t0_ns: int) -> dict[str, Any]:
    """Return an outage; times are in ns from `t0_ns`, None for what did not come."""
    rate = 0.0
    if before:
        span_ns = max(before[-1][1] - before[0][0], 1)
        rate = sum(count for _, _, count in before) * SECOND_NS / span_ns
    success_ns = after[0][1] if after else None
    sums = [0, *itertools.accumulate(count for _, _, count in after)]
    recovered_ns = None
    for number, (begin, _, _) in enumerate(after):
        last = sum(end <= begin + SECOND_NS for _, end, _ in after)
        if sums[last] - sums[number] >= RECOVERED * rate:
            recovered_ns = max(begin, after[0][1])
            break
    ends = {"first_success_ns": success_ns, "recovered_ns": recovered_ns}
    since = {key: None if end is None else end - t0_ns for key, end in ends.items()}
    return {"first_error_ns": error_ns - t0_ns, **since}
