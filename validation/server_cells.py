"""Cells of `bench.beside_servers`: emulated storages, loads and settings, and their studies."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tameshi.core.data import PROFILES

UNHURRIED, EASY, SLOW, SLOWER = 1.001, 4, 8, 24
"""Factors of slow motion, by the speed of a drive's writes. The first changes no figure, but has
the server read its clock by the same library as the others, which costs processor time: one host
holds for all. At 1 the path took half of the time of requests to a cache with a battery, at 8 more
than a quarter of that to NVMe drives."""
SECONDS, RAMP_SECONDS, INTERVAL_SECONDS = 56, 8, 0.5
"""Wall time of a cell's load, its ramp and its intervals."""
PAGE_READ_CYCLES = 28_800
"""Cost of a page read in the profile of the engine: 12 us at 2.4 GHz."""
MOST_WAKE_UP_US = 39
"""A profile's longest."""
LEAST_SLICE = 200
"""Least time slice of a host profile, in microseconds."""
REPEATED = 10
POOLS = {"small": "16 MiB", "medium": "72 MiB", "large": "448 MiB"}
"""About 5, 25 and 100 % of the data, which are 265 to 295 MB."""
LOADS = {
    "key_update": ("key_update", ""),
    "read_write": ("oltp", "read_write"),
    "read_only": ("oltp", "read_only"),
    "tpcc": ("tpcc", ""),
}
"""Workload and mix of each load."""
ONE_PURGER = {"read_write"}
"""Loads whose server has one purge thread. On two processors its pool of threads is so small that
four of them and the completions of writes wait for each other, up to 0.8 s at a time, until the
pool's timer adds a thread: with four, the rate on NVMe was 512 a second, with one 2,181."""
KINDS = (
    ("tpcc", "medium", "1"),
    ("key_update", "small", "1"),
    ("read_only", "small", "1"),
    ("read_write", "medium", "1"),
    ("tpcc", "small", "1"),
    ("key_update", "large", "1"),
    ("read_only", "medium", "1"),
    ("tpcc", "large", "1"),
    ("read_write", "small", "1"),
    ("key_update", "small", "2"),
    ("read_write", "large", "1"),
    ("key_update", "large", "2"),
    ("read_write", "medium", "2"),
    ("read_only", "large", "1"),
)
"""Loads with their pools and commit settings: 14 on each storage. Any first part is a mixture."""
ENGINE_CLOCK = re.compile(r'^(clock\s*= \{ value = ")(\d+)( /s")', re.MULTILINE)


@dataclass(frozen=True)
class Storage:
    """Storage of a study, its slow motion, and whether its pages have neighbours worth flushing."""

    text: str
    slow: float = UNHURRIED
    rotates: bool = False


STORAGES = {
    "disk": Storage('device = "sas-15k-146gb"', rotates=True),
    "raid10": Storage('array = "sas-6x146gb-raid10"', rotates=True),
    "raid10_battery": Storage(
        'cache = { memory = "64 MiB", kind = "battery_backed", of.array = "sas-6x146gb-raid10" }',
        EASY,
        rotates=True,
    ),
    "sata": Storage('device = "sata-ssd-480gb"', SLOW),
    "sata_bare": Storage('device = "sata-ssd-480gb"\nwithout_capacitor = true', SLOW),
    "nvme": Storage('device = "nvme-tlc-3.84tb"', SLOWER),
    "optane": Storage('device = "optane-p4800x-375g"', SLOWER),
    "cloud": Storage('device = "cloud-volume-1tb"'),
}
STUDY = """
title = "MariaDB on emulated drives"
question = "How near does the simulated server come to the real one on the same drives?"
[axis.cell]
{levels}
{storages}
{host}
[engine.mariadb]
redo_log = "32 MiB"
flush_method = "O_DIRECT"
options = {{ innodb_lru_scan_depth = "100" }}
[workload.key_update]
tables = 1
rows = 800_000
row_size = "300 B"
clients = 4
[workload.oltp]
mix = "read_write"
tables = 4
rows = 300_000
clients = 4
popularity = "uniform"
[workload.tpcc]
warehouses = 3
clients = 4
[phase.run]
workload = ["tpcc"]
ramp = "{ramp} ms"
until.time = "{until} ms"
[run]
start = "{start}"
interval = "{interval} us"
repetitions = {repetitions}
seed = 1
"""
HOST_PROFILE = """
description = "The machine as the load of a served drive sees it"

[host]
sockets          = {{ value = 1, source = "this machine" }}
cores_per_socket = {{ value = {cores}, source = "this machine" }}
threads_per_core = {{ value = 1, source = "this machine" }}
clock            = {{ value = "{clock} /s", source = "set by one cell", fitted_on = "{cell}" }}
context_switch   = {{ value = "0 ns", source = "part of the fitted speed" }}
wake_up          = {{ value = "{rest} ns", source = "python -m bench.beside_servers --path" }}
time_slice       = {{ value = "{slice} us", source = "3 ms, in slow motion; a profile's least" }}
interrupt = {{ cost = {{ value = "0 ns", source = "part of the request's cost" }}, \
placement = {{ value = "submitting_core", source = "the kernel's" }} }}
"""
ACCESS = """
[host.{way}]
read     = {{ value = "{processor} ns", source = "python -m bench.beside_servers --path" }}
write    = {{ value = "{processor} ns", source = "that of a read" }}
complete = {{ value = "{after} ns", source = "a page read's further cost, from counters" }}
"""


@dataclass(frozen=True)
class Cell:
    """Load, pool and commit setting on a storage."""

    storage: str
    load: str
    pool: str
    commit: str

    @property
    def name(self) -> str:
        """Name in studies and tables."""
        return f"{self.storage}-{self.load}-{self.pool}-{self.commit}"

    @property
    def slow(self) -> float:
        """Factor of slow motion."""
        return STORAGES[self.storage].slow

    @property
    def is_cold(self) -> bool:
        """True if it starts with an empty pool, which it then fills."""
        return self.load == "read_only" and self.pool != "small"

    @property
    def level(self) -> str:
        """Level of the study's axis."""
        workload, mix = LOADS[self.load]
        options = [] if STORAGES[self.storage].rotates else ['innodb_flush_neighbors = "0"']
        if self.load in ONE_PURGER:
            options.append('innodb_purge_threads = "1"')
        settings = [
            f'use.storage = "{self.storage}"',
            f'engine.mariadb = {{ buffer_pool = "{POOLS[self.pool]}", '
            f'commit = "{self.commit}"{"".join(f", options.{each}" for each in options)} }}',
            f'phase.run.workload = ["{workload}"]',
            *([f'workload.oltp.mix = "{mix}"'] if mix else []),
            *(['run.start = "cold"'] if self.is_cold else []),
        ]
        return f"{self.name} = {{ {', '.join(settings)} }}"


@dataclass(frozen=True)
class HostPath:
    """Cost of a synchronous request to a served drive, in microseconds of the wall.

    `miss_us` is the further processor time of a server's page read: its own work, with cold caches.
    """

    processor_us: float
    miss_us: float
    rest_us: float


KNOWN_PATH = HostPath(processor_us=7.4, miss_us=40.4, rest_us=40.7)
"""Result of `python -m bench.beside_servers --path` on the machine of servers.csv."""
READS_CELL = Cell("cloud", "read_only", "small", "1")
"""The one whose counters tell the processor time of a page read; its rate sets nothing."""
HOST_CELL = Cell("nvme", "read_only", "large", "1")
"""The one that sets the host: its pool holds all data, and it writes nothing."""


def all_cells() -> list[Cell]:
    """Return the whole matrix, the host's cell first, then kind by kind over all storages."""
    cells = [Cell(storage, *kind) for kind in KINDS for storage in STORAGES]
    return sorted(cells, key=lambda cell: cell != HOST_CELL)


def repeated(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that are measured twice, spread over loads and storages."""
    by_storage = sorted(cells, key=lambda cell: list(STORAGES).index(cell.storage))
    count = min(REPEATED, len(by_storage))
    return [by_storage[index * len(by_storage) // count] for index in range(count)]


def study_text(cells: Collection[Cell], *, repetitions: int = 1, host: str = "") -> str:
    """Return the study of cells in one slow motion; `host`: a profile, to be simulated."""
    (factor,) = {round(cell.slow) for cell in cells}
    storages = dict.fromkeys(cell.storage for cell in cells)
    return STUDY.format(
        levels="\n".join(cell.level for cell in cells),
        storages="\n".join(
            f'[storage.{name}]\nsize = "1 GiB"\n{STORAGES[name].text}' for name in storages
        ),
        host=f'[host]\nprofile = "{host}"' if host else "",
        # A real server that starts warm has read its tables, and nothing else.
        start="scanned" if host else "warm",
        ramp=1000 * RAMP_SECONDS // factor,
        until=1000 * SECONDS // factor,
        interval=round(1e6 * INTERVAL_SECONDS / factor),
        repetitions=repetitions,
    )


def digest_of(cell: Cell) -> str:
    """Return a digest of what a cell is measured with."""
    return hashlib.sha256(f"{cell.slow} {study_text([cell])}".encode()).hexdigest()[:16]


def host_profile(clock: float, path: HostPath, slow: float) -> str:
    """Return the profile of this machine: its processors, and what a request costs.

    Costs of requests hold at any clock; in slow motion they are a K-th.
    """
    known = {"cores": os.cpu_count() or 1, "clock": round(clock), "cell": HOST_CELL.name}
    engine_us = 1e6 * PAGE_READ_CYCLES / clock  # the model charges it as well
    costs = (path.processor_us, path.miss_us - engine_us, min(path.rest_us, MOST_WAKE_UP_US))
    processor, miss, rest = (max(round(1e3 * each / slow), 0) for each in costs)
    text = HOST_PROFILE.format(**known, slice=max(round(3000 / slow), LEAST_SLICE), rest=rest)
    for way in ("synchronous", "libaio", "io_uring"):
        # A thread that waits for a plain call is a client that misses a page, or writes the log.
        after = miss if way == "synchronous" else 0
        text += ACCESS.format(way=way, processor=processor, after=after)
    return text


def engine_profile(slow: float) -> str:
    """Return the server's profile with processor times of slow motion.

    Times hold at the profile's clock: at a K-th of it, they are a K-th on the same host.
    """
    text = (PROFILES / "engines" / "mariadb-10.11.toml").read_text(encoding="utf-8")
    return ENGINE_CLOCK.sub(lambda at: f"{at[1]}{round(int(at[2]) / slow)}{at[3]}", text)
