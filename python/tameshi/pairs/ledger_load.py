"""Load on a pair's service with a ledger of acknowledged commits, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tameshi import guard
from tameshi.core import compiled
from tameshi.core.compiled import Oltp, database_target
from tameshi.core.errors import RunFailed
from tameshi.record.events import read_events, whole_lines
from tameshi.servers.product import Address

START_SECONDS = 60.0
"""Time limit until every client has had a commit acknowledged, in s."""
LONGEST = "3600 s"
"""Longest time of a load."""
_POLL_SECONDS = 0.01
JOURNAL, RECORD = "journal", "record"


class LedgerLoad:
    """Program whose clients note each acknowledged commit outside of the database.

    A client reconnects 20 ms after a failure. A context manager: the load runs until `stop`.
    `folder` is one of Tameshi's, and not on the storage under test. `sizes`: rows of TPC-C.
    """

    def __init__(
        self,
        address: Address,
        program: Mapping[str, Any],
        folder: Path,
        *,
        seed: int = 1,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self._address = address
        self._program = program
        self._folder = folder
        self._seed = seed
        self._sizes = sizes
        self._t0_ns = 0
        self._oltp: Oltp | None = None
        self._thread: threading.Thread | None = None
        self._failure: RunFailed | None = None
        self._lock = threading.Lock()
        self._counted: dict[Path, tuple[int, int]] = {}

    def load(self, address: Address) -> int:
        """Make the tables and the ledger on a server; return the rows."""
        return Oltp(self._spec(address)).load()

    def __enter__(self) -> Self:
        """Start the clients, and wait until each has had a commit acknowledged."""
        guard.claim_folder(self._folder / JOURNAL)
        self._t0_ns = time.monotonic_ns()
        self._start()
        end = time.monotonic() + START_SECONDS
        try:
            while not self.acknowledged():
                failure = self._problem()
                if failure or time.monotonic() > end:
                    message = f"the clients had nothing acknowledged in {START_SECONDS:g} s"
                    raise failure or RunFailed(message)
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _start(self) -> None:
        """Start the clients."""
        record = self._folder / RECORD
        claim_record(record)
        self._oltp = Oltp(self._spec(self._address))
        self._thread = threading.Thread(target=self._execute, args=(self._oltp, record))
        self._thread.start()

    def _problem(self) -> RunFailed | None:
        """Return the failure that has ended the clients."""
        return self._failure

    def _records(self) -> list[tuple[Path, int]]:
        """Return the records of the clients, each with its begin on the monotonic clock."""
        return [(self._folder / RECORD, self._t0_ns)]

    def stop(self) -> None:
        """Stop the clients, and wait for their end."""
        if self._oltp and self._thread:
            self._oltp.stop()
            self._thread.join()

    def fail_power(self) -> None:
        """Let no answer arrive from now on: commits under way are without an answer."""
        assert self._oltp
        self._oltp.fail_power()

    def restore_power(self) -> None:
        """Let clients connect again."""
        assert self._oltp
        self._oltp.restore_power()

    def acknowledged(self) -> int:
        """Return the ranges of acknowledged commits that every client has noted at least."""
        journals = list((self._folder / JOURNAL).glob("client-*.journal"))
        return min((path.read_text("utf-8").count("\na ") for path in journals), default=0)

    def commits(self) -> int:
        """Return the acknowledged commits that the clients have noted, up to 20 ms ago."""
        with self._lock:
            for path in (self._folder / JOURNAL).glob("client-*.journal"):
                # Each call reads what is new: a journal grows by each commit.
                offset, commits = self._counted.get(path, (0, 0))
                with path.open("rb") as file:
                    file.seek(offset)
                    text = whole_lines(file.read().decode())
                self._counted[path] = (offset + len(text), commits + acknowledged_in(text))
            return sum(commits for _, commits in self._counted.values())

    def outages(self) -> list[dict[str, Any]]:
        """Return the outages that the clients saw, once stopped; times are in ns from `t0_ns`."""
        if self._failure:
            raise self._failure
        events = read_events(self._folder / RECORD)
        return [dict(event["outage"]) for event in events if event["kind"] == "outage"]

    def errors(self) -> dict[str, int]:
        """Return the errors that the clients received, by code, once stopped."""
        found: dict[str, int] = {}
        for record, _ in self._records():
            for event in read_events(record):
                if event["kind"] == "errors":
                    found.update(event["by_code"])
        return found

    def latencies_ns(self, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return median and 99th percentile of transactions' latencies, once stopped.

        `spans`: begin and end of each, on the monotonic clock; 0 without a transaction.
        """
        intervals = self.intervals()
        found = []
        for begin, end in spans:
            counts: Counter[int] = Counter()
            for at, length, rows in intervals:
                if begin <= at and at + length <= end:
                    counts.update(dict(rows))
            found.append((quantile(counts, 0.5), quantile(counts, 0.99)))
        return found

    def intervals(self) -> list[tuple[int, int, Sequence[tuple[int, int]]]]:
        """Return begin, length and latencies of the transactions in each interval, once stopped."""
        found = []
        for record, t0_ns in self._records():
            log = record / "histograms" / "load.hlog"
            text = whole_lines(log.read_text("utf-8")) if log.exists() else ""
            for each in compiled.histogram_intervals(text) if text else ():
                if each["tag"].endswith("/transaction"):
                    found.append((each["begin_ns"] + t0_ns, each["length_ns"], each["counts"]))
        return found

    @property
    def t0_ns(self) -> int:
        """Return the begin of the load, on the monotonic clock."""
        return self._t0_ns

    def check(self, address: Address | None = None) -> dict[str, Any]:
        """Compare the journals with the service's database, or with that at another address.

        `broken`: rows that violate TPC-C's conditions of consistency.
        """
        checked = Oltp(self._spec(address or self._address)).check(fresh=False)
        broken = sum(condition["broken"] for condition in checked["conditions"])
        return {**checked["ledger"], "broken": broken}

    def _execute(self, oltp: Oltp, record: Path) -> None:
        try:
            oltp.execute(record, self._t0_ns)
        except RunFailed as error:
            self._failure = error

    def _spec(self, address: Address) -> dict[str, Any]:
        """Return the load as the database driver reads it."""
        return {
            "target": database_target(address.as_json()),
            "program": self._program,
            "data_seed": 1,
            "seed": self._seed,
            "interval": "20 ms",
            "phases": [{"name": "run", "ramp": "0 s", "time": LONGEST}],
            "ledger": {"journal": str(self._folder / JOURNAL)},
            "sizes": self._sizes,
        }


def claim_record(record: Path) -> None:
    """Make the folders of a record."""
    for folder in (record / "series", record / "histograms"):
        guard.claim_folder(folder)


def acknowledged_in(journal: str) -> int:
    """Return the acknowledged commits of a client's journal, without a line under way."""
    ranges = [line.split() for line in whole_lines(journal).splitlines() if line.startswith("a ")]
    return sum(int(last) - int(first) + 1 for _, first, last in ranges)


def quantile(counts: Mapping[int, int], share: float) -> int:
    """Return the value that a share of counted values does not exceed; 0 for none."""
    wanted = share * sum(counts.values())
    reached = 0
    for value in sorted(counts):
        reached += counts[value]
        if reached >= wanted:
            return value
    return 0
