"""Three naive predictors of round 2's figures, a few lines each, chosen without a look at results.

*Nothing changes*: every gain is 0 %. *Data sheet*: the maker's figure, and ratios of makers'
figures. *Spreadsheet*: Little's law up to the maker's rate, harmonic mixes, reads and writes of a
transaction from the share of the data in the pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from validation.round2 import profiles

READ_S = {"sata": 120e-6, "nvme": 80e-6, "xpoint": 10e-6}
WRITE_S = {"sata": 60e-6, "nvme": 15e-6, "xpoint": 10e-6}
"""Usual latencies of one request at depth 1, by class."""
SYNC_S = {"sata": 1e-3, "nvme": 1e-3, "xpoint": 10e-6}
"""Usual time of a flush of a drive without a capacitor: one program of the flash."""
VOLUME_S = 0.7e-3
STATEMENT_S = 100e-6
"""Processor time of a statement."""
TPCC_STATEMENTS, TPCC_PAGES, NEW_ORDERS = 30, 25, 0.45
"""Of a mean transaction of TPC-C: statements, pages that a cold pool would read, New-Orders."""
SKEW = 1 / 3
"""Hit ratio of a pool: (share of the data)^SKEW."""
DATA_GB = 100
PAGE_KB = 16.384


@dataclass(frozen=True)
class Naive:
    """Values of the two predictors that have values; None: no prediction."""

    sheet: float | None = None
    spreadsheet: float | None = None


@dataclass(frozen=True)
class Array:
    """Equal drives: their data sheet, number, and the copies of each block."""

    drive: str
    members: int = 1
    copies: int = 1

    @property
    def sheet(self) -> Mapping[str, Any]:
        """The data sheet."""
        sheet: Mapping[str, Any] = profiles.entries("devices")[self.drive]["sheet"]
        return sheet

    @property
    def kind(self) -> str:
        """Class of the drive: sata, nvme or xpoint."""
        like = profiles.entries("devices")[self.drive]["like"]
        return "sata" if like.startswith("sata") else "xpoint" if "optane" in like else "nvme"

    def rates(self, kib: float = 4) -> tuple[float, float]:
        """Reads and writes a second of this size at most."""
        sheet = self.sheet
        if "rpm" in sheet:
            one = 1 / (sheet["seek_ms"] / 1e3 + 30 / sheet["rpm"])
            return one * self.members, one * self.members / self.copies
        if "limit_iops" in sheet:
            one = min(sheet["limit_iops"], sheet["limit"] * 1e6 / kib / 1024)
            return one * self.members, one * self.members
        read = min(sheet["read_iops"], sheet["read"] * 1e6 / kib / 1024)
        write = min(
            sheet["write_iops"] * 4 / kib if kib > 4 else sheet["write_iops"],
            sheet["write"] * 1e6 / kib / 1024,
        )
        return read * self.members, write * self.members / self.copies

    def load(self, read: float, outstanding: int, kib: float = 4) -> float:
        """Requests a second of a mix with this share of reads."""
        reads, writes = self.rates(kib)
        most = 1 / (read / reads + (1 - read) / writes)
        return min(most, outstanding / self.service(read))

    def service(self, read: float) -> float:
        """Seconds of one request alone."""
        sheet = self.sheet
        if "rpm" in sheet:
            return float(sheet["seek_ms"]) / 1e3 + 30 / float(sheet["rpm"])
        if "limit_iops" in sheet:
            return VOLUME_S
        return read * READ_S[self.kind] + (1 - read) * WRITE_S[self.kind]


def requests(array: Array, metric: str, read: float, outstanding: int, kib: float = 4) -> Naive:
    """A figure of a stream of requests."""
    found = array.load(read, outstanding, kib)
    sheet = None
    if read in (0, 1) and "rpm" not in array.sheet:
        sheet = array.rates(kib)[0 if read else 1]
    operation, _, measure = metric.partition(".")
    share = {"read": read, "write": 1 - read, "all": 1.0}[operation]
    if measure == "iops":
        return Naive(sheet, found * share)
    if measure == "bandwidth":
        size = kib * 1024
        return Naive(sheet and sheet * size, found * share * size)
    if measure in ("latency.mean", "latency.p50"):
        alone = array.service(1.0 if operation == "read" else 0.0)
        return Naive(None, 1e9 * max(alone, outstanding / found if read in (0, 1) else alone))
    return Naive()


def database(
    array: Array,
    pool: float,
    data: float,
    clients: int,
    processors: int,
    *,
    pages: float = TPCC_PAGES,
    statements: float = TPCC_STATEMENTS,
    twice: bool = True,
    writes: float = 0.5,
) -> tuple[float, float, float]:
    """Transactions a second, and pages read and kB written of each."""
    miss = 1 - min(1.0, pool / data) ** SKEW
    read, written = pages * miss, pages * max(miss, 0.02) * writes
    stored = written * (2 if twice else 1)
    reads, programs = array.rates(16)
    most = 1 / max(read / reads + stored / programs, 1e-9)
    work = statements * STATEMENT_S
    one = work + read * array.service(1.0) + array.service(0.0)
    return min(most, processors / work, clients / one), read, stored * PAGE_KB
