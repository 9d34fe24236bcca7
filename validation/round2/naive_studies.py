"""Naive predictions by study: each study's cells as loads of the formulas in `naive.py`.

Makers' rates, members that add up, and pools by their share of the data; no constant of a study is
chosen by a known figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from validation.round2.naive import (
    DATA_GB,
    NEW_ORDERS,
    PAGE_KB,
    SKEW,
    STATEMENT_S,
    SYNC_S,
    Array,
    Naive,
    database,
    requests,
)


def of(study: str, figure: Any, cell: Mapping[str, str]) -> Naive:
    """Return the predictions of a metric in one cell, in the metric's own unit."""
    maker = STUDIES.get(study)
    return maker(figure, cell) if maker else Naive()


SATA = {
    "860pro": "samsung-860-pro-512g",
    "dc500m": "kingston-dc500m-480g",
    "pm883": "samsung-pm883-480g",
    "s4510": "intel-s4510-3840g",
    "s4610": "intel-s4610-480g",
    "s4610_p420i": "intel-s4610-480g",
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
    drive = {"f1": "samsung-f1-1t", "raid5": "sata-2t"}.get(cell["disk"], "hgst-7k100-100g")
    members, copies = (8, 4) if cell["disk"] == "raid5" else (1, 1)
    array = Array(drive, members, copies)
    return requests(array, figure.metric, READS[cell["test"]], jobs * depth)


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
    if figure.metric == "server.page_read_rate":
        return Naive(None, read)
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


def raw_nvme(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Little's law up to the maker's rates."""
    array = Array("samsung-pm9a3-1920g")
    if figure.phase == "linear":
        return sequential(array, read=True)
    jobs, depth = map(int, cell["load"].split("x"))
    return requests(array, figure.metric, READS[cell["test"]], jobs * depth)


def sequential(array: Array, *, read: bool) -> Naive:
    """The maker's bytes a second of all members."""
    rate = array.sheet["read" if read else "write"] * 1e6 * array.members
    return Naive(rate, rate)


def card_mix(figure: Any, cell: Mapping[str, str]) -> Naive:
    """A harmonic mix."""
    return requests(Array("memblaze-pblaze3-800g"), figure.metric, 0.9, int(cell["depth"]), 16)


def optane(figure: Any, cell: Mapping[str, str]) -> Naive:
    """The package's drive, by its maker's figures."""
    share = {"read": 1.0, "mix": 0.67}[cell["test"]]
    array = Array("intel-optane-900p-480g")
    return requests(array, figure.metric, share, int(cell["depth"]), 8)


SUSTAINED = {
    "860evo": "samsung-860-evo-250g",
    "870": "samsung-870-evo-1t",
    "970pro": "samsung-970-pro-512g",
    "980pro": "samsung-980-pro-1t",
    "p3plus": "crucial-p3-plus-1t",
}


def consumer_sustained(figure: Any, cell: Mapping[str, str]) -> Naive:
    """What the maker states, for as long as it takes."""
    array = Array(SUSTAINED[cell["drive"]])
    if figure.phase.startswith("linear"):
        return sequential(array, read=figure.phase == "linear_read")
    return requests(array, figure.metric, READS[figure.phase], 2048)


STEADY = {
    "eco": "micron-5100-eco-1920g",
    "max": "micron-5100-max-960g",
    "sm843": "samsung-sm843-480g",
    "hk4e": "toshiba-hk4e-800g",
    "hk4r": "toshiba-hk4r-1920g",
}


def sata_steady(figure: Any, cell: Mapping[str, str]) -> Naive:
    """The maker's steady writes."""
    array = Array(STEADY[cell["drive"]])
    if figure.metric == "read.latency.mean":
        return Naive(None, 1e9 * 32 * 128 * 1024 / (array.sheet["read"] * 1e6))
    if figure.phase == "linear_write":
        return sequential(array, read=False)
    depth, kib = (256, 8) if figure.phase == "write_8k" else (32, 4)
    return requests(array, figure.metric, 0.0, depth, kib)


SYNCED_JOBS = {
    "750": "intel-750-400g",
    "pm963": "samsung-pm963-960g",
    "pm1643a": "samsung-pm1643a-960g",
    "pm863a": "samsung-pm863a-240g",
    "pm883": "samsung-pm883-7680g",
    "860pro": "samsung-860-pro-512g",
    "860evo": "samsung-860-evo-1t",
    "970pro": "samsung-970-pro-512g",
    "545s": "intel-545s-512g",
    "blue": "wd-blue-3d-1t",
}
CAPACITORS = {"750", "pm963", "pm1643a", "pm863a", "pm883"}


def synced_jobs(_figure: Any, cell: Mapping[str, str]) -> Naive:
    """A flush is free with a capacitor, else one program of the flash for each job's write."""
    array, jobs = Array(SYNCED_JOBS[cell["drive"]]), int(cell["jobs"])
    flush = 0.0 if cell["drive"] in CAPACITORS else SYNC_S[array.kind]
    return Naive(None, min(array.rates()[1], jobs / (array.service(0.0) + flush)))


BATTERY = {
    "laptop_off": "seagate-7200-4-320g",
    "laptop_on": "seagate-7200-4-320g",
    "areca": "wd1600aajs-160g",
    "areca_3": "wd1600aajs-160g",
    "one": "wd1600aajs-160g",
    "three": "wd1600aajs-160g",
}
CACHED_S = 100e-6
"""Time of a write into a controller's or a disk's cache."""


def battery_disks(figure: Any, cell: Mapping[str, str]) -> Naive:
    """A turn a commit without a cache; a cache's own time with one."""
    members = 3 if cell["disk"] in ("three", "areca_3") else 1
    array = Array(BATTERY[cell["disk"]], members)
    if figure.phase == "scan":
        return Naive(None, array.sheet["rate"] * 1e6 * members)
    if figure.phase == "seek":
        return Naive(None, 1 / array.service(1.0))
    return Naive(None, array.sheet["rpm"] / 60 if cell["disk"] == "laptop_off" else 1 / CACHED_S)


def write_back_disks(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Members add up; a cache changes nothing for long."""
    if cell["array"] == "raid10":
        return Naive(None, 2 / (3.5e-3 + 2e-3))
    array = Array("wd-black-1t", 2)
    if figure.phase == "linear":
        return Naive(None, array.sheet["rate"] * 1e6 * 2)
    return requests(array, figure.metric, READS[figure.phase], 512)


def sata_raid_card(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Members add up; a mirror writes twice, RAID 5 four times."""
    level, members = cell["array"].split("_")
    array = Array("intel-s3500-480g", int(members), 4 if level == "raid5" else 2)
    depth = 8 * int(members)
    if figure.phase == "linear":
        return sequential(array, read=True)
    if figure.phase == "write_one":
        return Naive(None, 1 / array.service(0.0))
    share = {"read": 1.0, "write": 0.0, "mix": 0.7}[figure.phase]
    if figure.metric == "all.latency.mean":
        return Naive(None, 1e9 * depth / array.load(share, depth))
    return requests(array, figure.metric, share, depth)


def nvme_sequential(figure: Any, cell: Mapping[str, str]) -> Naive:
    """The maker's bytes a second, times the members."""
    array = Array("pcie4-nvme-2t", {"one": 1, "stripe_4": 4, "mirror_2": 2}[cell["array"]])
    rate = array.sheet["read"] * 1e6 * array.members
    if figure.metric == "read.bandwidth":
        return Naive(rate, rate)
    size = {"large": 512, "small": 4}[figure.phase] * 1024
    return Naive(rate / size, rate / size)


def volume_of(name: str) -> Array:
    """The array of one cloud volume; io1-20000 and gp2-2000, with -32 for 32 clients."""
    kind, number = name.split("-")[:2]
    return Array(f"gp2-{number}g" if kind == "gp2" else f"io1-{number}")


def cloud_volume_rates(figure: Any, cell: Mapping[str, str]) -> Naive:
    """The volume's rate."""
    few = cell["volume"].endswith("-32") or cell["volume"] == "io1-1000"
    array = volume_of(cell["volume"])
    found = database(array, float(cell["pool"]), 471, 32 if few else 72, 36)
    return transactions(figure, found, array.rates(16)[0])


def cloud_volume_pools(figure: Any, cell: Mapping[str, str]) -> Naive:
    """The volume's rate."""
    array = Array("gp2-1200g")
    found = database(array, float(cell["pool"]), DATA_GB, 16, 36)
    return transactions(figure, found, array.rates(16)[0])


def uniform_pools(figure: Any, cell: Mapping[str, str]) -> Naive:
    """As `working-set`: uniform keys, and the pool's share of the data hits."""
    drive = {"s4510": "intel-s4510-960g", "p4610": "intel-p4610-3200g"}[cell["drive"]]
    array, data = Array(drive), 9.4 * 50
    pool = float(cell["pool"])
    miss = 1 - min(1.0, pool / data)
    pages = 15 * miss / max(1 - min(1.0, pool / data) ** SKEW, 1e-9)
    found = database(array, pool, data, 150, 80, pages=pages, statements=20, writes=0.3)
    return transactions(figure, found, array.rates(16)[0])


def redo_log_size(figure: Any, _cell: Mapping[str, str]) -> Naive:
    """A redo log's size changes nothing."""
    array = Array("samsung-sm863-1920g")
    return transactions(figure, database(array, 64, 1.5 * DATA_GB, 100, 56), array.rates(16)[0])


def threads_in_memory(figure: Any, cell: Mapping[str, str]) -> Naive:
    """Threads up to the processors."""
    array, threads = Array("intel-s4510-960g"), int(cell["threads"])
    found = database(array, 140, DATA_GB, threads, 80)
    if figure.metric == "transaction.latency.mean":
        return Naive(None, 1e9 * threads / found[0])
    return transactions(figure, found, array.rates(16)[0])


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
    "raw-nvme": raw_nvme,
    "card-16k-mix": card_mix,
    "optane-8k": optane,
    "consumer-sustained": consumer_sustained,
    "sata-steady": sata_steady,
    "synced-jobs": synced_jobs,
    "battery-disks": battery_disks,
    "write-back-disks": write_back_disks,
    "sata-raid-card": sata_raid_card,
    "nvme-sequential": nvme_sequential,
    "cloud-volume-rates": cloud_volume_rates,
    "cloud-volume-pools": cloud_volume_pools,
    "uniform-pools": uniform_pools,
    "redo-log-size": redo_log_size,
    "threads-in-memory": threads_in_memory,
}


DATABASES = {
    *("tpcc-mysql-pools", "sysbench-tpcc-pools", "io-capacity", "sata-or-nvme-tpcc"),
    *("tproc-c-pools", "cloud-volumes", "working-set", "beyond-memory", "controller-cache"),
    *("cloud-volume-rates", "cloud-volume-pools", "uniform-pools", "redo-log-size"),
    "threads-in-memory",
}
"""Studies of a database; the others are of drives."""


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
