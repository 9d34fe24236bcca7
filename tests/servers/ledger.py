"""A ledger of acknowledged commits, kept outside the database: what a crash may not lose."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tameshi.servers.private import PrivateServer
from tameshi.servers.shape import ClientError

CLIENT = Path(__file__).with_name("ledger_client.py")

Entry = tuple[int, int]


@dataclass
class Verdict:
    """What a database has after a crash, held against the ledger."""

    lost: list[Entry]
    twice: list[Entry]
    never_sent: list[Entry]
    ambiguous_kept: int

    @property
    def is_whole(self) -> bool:
        return not (self.lost or self.twice or self.never_sent)


@dataclass
class Ledger:
    """Clients that insert (client, number), each commit acknowledged before the next begins."""

    server: PrivateServer
    clients: int = 3
    sent: set[Entry] = field(default_factory=set)
    acknowledged: set[Entry] = field(default_factory=set)
    heard: set[Entry] | None = None
    stopping: threading.Event = field(default_factory=threading.Event)
    threads: list[threading.Thread] = field(default_factory=list)
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    table: str = ""

    def __post_init__(self) -> None:
        self.table = "tameshi.ledger" if self.server.product.name == "mariadb" else "ledger"

    def create(self) -> None:
        with self.server.client() as client:
            client.query(f"CREATE TABLE {self.table} (client int, number int)")

    def start(self) -> None:
        self.stopping.clear()
        self.processes.clear()
        begin = len(self.sent)
        insert = self._insert_elsewhere if self.server.product.embedded else self._insert
        self.threads = [
            threading.Thread(target=insert, args=(client, begin), daemon=True)
            for client in range(self.clients)
        ]
        for thread in self.threads:
            thread.start()

    def freeze(self) -> None:
        """Power fails now: what is acknowledged from here on, nobody heard.

        A shutdown of XFS is not quite as sudden as a cut: a sync that is under way may still return
        as if it had worked.
        """
        self.heard = set(self.acknowledged)

    def join(self) -> None:
        """End the clients: an embedded database's are killed, as in a crash they are."""
        self.stopping.set()
        for process in self.processes:
            process.kill()
        for thread in self.threads:
            thread.join()

    def _insert(self, client: int, begin: int) -> None:
        number = begin
        with suppress(ClientError), self.server.client(timeout_seconds=20) as connection:
            while not self.stopping.is_set():
                entry = (client, number)
                self.sent.add(entry)
                connection.query(f"INSERT INTO {self.table} VALUES ({client}, {number})")
                self.acknowledged.add(entry)
                number += 1

    def _insert_elsewhere(self, client: int, begin: int) -> None:
        address = self.server.address
        pragmas = [f"{name}={value}" for name, value in address.pragmas]
        command = [sys.executable, str(CLIENT), str(address.file), str(client), str(begin)]
        with subprocess.Popen(
            [*command, *pragmas], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            self.processes.append(process)
            if self.stopping.is_set():
                process.kill()
            assert process.stdout
            for line in process.stdout:
                what, _, number = line.decode().partition(" ")
                kept = self.sent if what == "s" else self.acknowledged
                kept.add((client, int(number)))

    def verdict(self) -> Verdict:
        """What is there now; entries whose answer never came may be there or not."""
        with self.server.client() as client:
            rows = client.query(f"SELECT client, number FROM {self.table}")
        there = Counter((int(client), int(number)) for client, number in rows)
        if self.heard is not None:
            self.acknowledged, self.heard = self.heard, None
        return Verdict(
            lost=sorted(self.acknowledged - set(there)),
            twice=sorted(entry for entry, times in there.items() if times > 1),
            never_sent=sorted(set(there) - self.sent),
            ambiguous_kept=len(set(there) - self.acknowledged),
        )
