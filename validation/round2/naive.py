"""Three naive predictors of round 2's figures, a few lines each, chosen without a look at results.

*Nothing changes*: every gain is 0 %. *Data sheet*: the maker's figure, and ratios of makers'
figures. *Spreadsheet*: Little's law up to the maker's rate, harmonic mixes, reads and writes of a
transaction from the share of the data in the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


def of(study: str, figure: Any, cell: Mapping[str, str]) -> Naive:
    """Return the predictions of a metric in one cell, in the metric's own unit."""
    maker = STUDIES.get(study)
    return maker(figure, cell) if maker else Naive()


SATA = {
    "860pro": "samsung-860-pro-512g",
    "dc500m": "kingston-dc500m-480g",
    "pm883": "samsung-pm883-480g",
    "s4510": "intel-s4510-3840g",
}
READS = {"read": 1.0, "write": 0.0, "mix": 0.5, "write_through": 0.0}


def sata_depths(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Writes through are one program of the flash after the other, in as many dies."""
    array, depth = Array(SATA[cell["drive"]]), int(cell["depth"])
    if cell["test"] == "write_through":
        rate = depth / SYNC_S["sata"]
        return Naive(
            None,
            rate
            if figure.metric == "write.iops"
            else 1e9 * SYNC_S["sata"]
            if figure.metric == "write.latency.mean"
            else None,
        )
    return requests(array, figure.metric, READS[cell["test"]], depth)


def sata_stripes(figure: Any, cell: Mapping[str, str]) -> Naive:
    """As many times one drive."""
    jobs, depth = map(int, cell["load"].split("x"))
    array = Array("intel-s4610-480g", int(cell["drives"]))
    return requests(array, figure.metric, READS[cell["test"]], jobs * depth)


def old_disks(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Half a turn and a mean seek, whatever the depth."""
    jobs, depth = map(int, cell["load"].split("x"))
    drive = {"f1": "samsung-f1-1t", "hgst": "hgst-7k100-100g"}[cell["disk"]]
    return requests(Array(drive), figure.metric, READS[cell["test"]], jobs * depth)


def consumer_mixes(figure: Any, cell: Mapping[str, str]) -> Naive:
    """A harmonic mix."""
    drive = Array("sabrent-rocket4-plus-2t")
    return requests(drive, figure.metric, int(cell["share"]) / 100, int(cell["depth"]))


NVME = {
    "pm9a3_mirror": Array("samsung-pm9a3-960g", 2, 2),
    "pm9a3_stripe": Array("samsung-pm9a3-1920g", 2),
    "pm1733_stripe": Array("samsung-pm1733-3840g", 2),
    "p4510_stripe": Array("intel-p4510-4t", 4),
    "p3700_400g": Array("intel-p3700-400g"),
    "p3700_800g": Array("intel-p3700-800g"),
}
LOADS = {
    "mix_4k": (0.75, 128, 4),
    "mix_16k": (0.75, 128, 16),
    "single": (1.0, 1, 4),
    "read_28k": (1.0, 256, 28),
    "read_deep": (1.0, 512, 4),
    "write_deep": (0.0, 512, 4),
    "write_8k": (0.0, 64, 8),
}
"""Share of reads, requests outstanding and KiB by phase."""


def nvme_arrays(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Members add up; a mirror writes twice."""
    return requests(NVME[cell["array"]], figure.metric, *LOADS[figure.phase])


def sata_many(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Members add up."""
    array = Array("intel-s3700-800g", int(cell["drives"]))
    read, kib = {
        "read": (1.0, 4),
        "mix": (0.67, 8),
        "sequential_read": (1.0, 128),
        "sequential_write": (0.0, 128),
    }[figure.phase]
    if kib == 128:
        rate = array.sheet["read" if read else "write"] * 1e6 * array.members
        return Naive(rate, rate)
    return requests(array, figure.metric, read, 1024, kib)


SYNCED = {
    "rocket4": "sabrent-rocket4-2t",
    "sn750": "wd-sn750-1t",
    "970evoplus": "samsung-970-evo-plus-2t",
    "970evo": "samsung-970-evo-1t",
    "980pro": "samsung-980-pro-2t",
    "900p": "intel-optane-900p-480g",
    "wd2002": "wd-re4-gp-2t",
    "wd2002_raid5": "wd-re4-gp-2t",
    "wd1001_raid10": "wd-black-1t",
}


def syncs(figure: Any, cell: Mapping[str, str]) -> Naive:
    """A write and a flush one after the other; a disk turns once."""
    array = Array(SYNCED[cell["drive"]])
    if "rpm" in array.sheet:
        return Naive(None, array.sheet["rpm"] / 60)
    if cell["test"] == "plain":
        return requests(array, figure.metric, 0.0, 1)
    return Naive(None, 1 / (array.service(0.0) + SYNC_S[array.kind]))


def transactions(figure: Any, found: tuple[float, float, float], sheet: float) -> Naive:
    """A database's figure from what `database` found; `sheet` stands for its rate."""
    rate, read, written = found
    if figure.metric == "transaction.tpmc":
        return Naive(sheet, rate * NEW_ORDERS * 60)
    if figure.metric == "server.write_bandwidth":
        return Naive(None, written * 1e3 * (1 if figure.per else rate))
    if figure.metric == "server.read_bandwidth":
        return Naive(None, read * PAGE_KB * 1e3 * rate)
    if figure.metric in ("transaction.rate", "statement.rate"):
        return Naive(sheet, rate)
    return Naive()


def tpcc_mysql_pools(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Two processors of 28 threads; redo and connections do not matter."""
    drive = {
        "850pro": "samsung-850-pro-2tb",
        "sm863": "samsung-sm863-1920g",
        "pm1725": "samsung-pm1725-3200g",
    }[cell["drive"]]
    array = Array(drive)
    found = database(array, float(cell["pool"]), DATA_GB, 100, 56)
    return transactions(figure, found, array.rates(16)[0])


def sysbench_tpcc_pools(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Doublewrite doubles the writes."""
    array = Array("samsung-sm863-1920g")
    twice = cell["doublewrite"] == "on"
    found = database(array, float(cell["pool"]), DATA_GB, 56, 56, twice=twice)
    return transactions(figure, found, array.rates(16)[0])


def io_capacity(figure: Any, _cell: Mapping[str, str]) -> Naive:
    """Flushing does not matter."""
    array = Array("intel-s4510-960g")
    return transactions(figure, database(array, 140, DATA_GB, 56, 80), array.rates(16)[0])


def sata_or_nvme(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Flushing does not matter."""
    drive = {"s4510": "intel-s4510-960g", "p4610": "intel-p4610-3200g"}[cell["drive"]]
    array = Array(drive)
    found = database(array, float(cell["pool"]), DATA_GB, 56, 80)
    return transactions(figure, found, array.rates(16)[0])


def tproc_c(figure: Any, cell: Mapping[str, str]) -> Naive:
    """As TPC-C."""
    array = Array("intel-p4610-3200g")
    found = database(array, float(cell["pool"]), DATA_GB, int(cell["users"]), 80)
    return transactions(figure, found, array.rates(16)[0])


def cloud_volumes(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Volumes add up."""
    number, size = cell["volumes"].split("x")
    array = Array(f"gp2-{size}g", int(number))
    found = database(array, 54, 471, 32 if number == "2" else 72, 36)
    return transactions(figure, found, array.rates(16)[0])


def working_set(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Uniform keys: the pool's share of the data hits. Ten pages of a transaction's rows."""
    array = Array("intel-s4510-960g")
    data = 9.4 * int(cell["rows"].removesuffix("M"))
    miss = 1 - min(1.0, 60 / data)
    pages = 15 * miss / max(1 - min(1.0, 60 / data) ** SKEW, 1e-9) if miss else 0.0
    found = database(array, 60, data, 150, 80, pages=pages, statements=20, writes=0.3)
    return transactions(figure, found, array.rates(16)[0])


def beyond_memory(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Uniform keys: one page of a statement is missed as often as the pool is small."""
    array = Array("intel-p5520-3840g", 2, 2)
    miss = 1 - 100 / 480
    reads, writes = array.rates(16)
    written = (
        {
            "update_index": 2,
            "update_non_index": 1,
            "insert": 0.3,
            "delete": 1,
            "write_only": 0.7,
            "read_write": 0.3,
        }.get(cell["test"], 0)
        * 2
        * miss
    )
    pages = 60 if cell["test"] == "range10000" else 1
    service = STATEMENT_S + pages * miss * array.service(1.0)
    rate = min(1 / (pages * miss / reads + written / writes), 40 / service)
    return transactions(figure, (rate, pages * miss, written * PAGE_KB), reads)


def controller_cache(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Six disks of 15 000 rpm; write-back makes writes free."""
    one = 1 / (3.5e-3 + 2e-3)
    reads, stored = 8.0, 0.0 if cell["cache"] == "write_back" else 6.0
    return transactions(figure, (6 * one / (reads + 2 * stored), reads, stored), one)


STUDIES = {
    "sata-depths": sata_depths,
    "sata-stripes": sata_stripes,
    "old-disks": old_disks,
    "consumer-mixes": consumer_mixes,
    "nvme-arrays": nvme_arrays,
    "sata-many": sata_many,
    "syncs": syncs,
    "tpcc-mysql-pools": tpcc_mysql_pools,
    "sysbench-tpcc-pools": sysbench_tpcc_pools,
    "io-capacity": io_capacity,
    "sata-or-nvme-tpcc": sata_or_nvme,
    "tproc-c-pools": tproc_c,
    "cloud-volumes": cloud_volumes,
    "working-set": working_set,
    "beyond-memory": beyond_memory,
    "controller-cache": controller_cache,
}


def gain(one: float | None, other: float | None) -> float | None:
    """By how much one exceeds the other, in per cent."""
    return 100 * (one / other - 1) if one and other else None


def row(
    study: str,
    figure: Any,
    cell: Mapping[str, str],
    against: Mapping[str, str] | None,
    factor: float,
) -> Iterator[float | None]:
    """Yield the three predictions of a figure in its list's unit; `against`: the cell of a gain."""
    here = of(study, figure, cell)
    if against is None:
        # Of a database's rate a sheet says something only as a ratio.
        sheet = here.sheet if figure.metric.startswith(("read.", "write.", "all.")) else None
        yield from (None, sheet and sheet / factor, here.spreadsheet and here.spreadsheet / factor)
        return
    there = of(study, figure, {**cell, **against})
    yield from (0.0, gain(here.sheet, there.sheet), gain(here.spreadsheet, there.spreadsheet))
