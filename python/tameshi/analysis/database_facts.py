"""Facts about a simulated database: what tells the conditions of two figures apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.evidence import digest
from tameshi.core import compiled
from tameshi.core.spec_types import PhaseSpec, RunSpec
from tameshi.study import least

WAREHOUSE_BYTES = 100_800_000
"""Size of a TPC-C warehouse with tpcc-mysql's tables and indexes: 80 warehouses take 8 GB, 240 take
24 GB, 1000 take 100 GB."""
FOREIGN_KEY_BYTES = 12_600_000
"""Part of a warehouse in indexes of foreign keys, which the specification's schema lacks."""
OLTP_ROW_BYTES = 245
"""Size of a sysbench row with its page's free sixteenth and its index entry."""
ROOM_IN_PAGE, PAGE_BYTES, ROW_EXTRA_BYTES = 15_240, 16_384, 32
UNPROTECTED = "flash without capacitor"
SYNCS_TIMES = "mysql"
"""Begin of the profiles whose syncs commit a file's times, too (`fsync`)."""
MODELS = ("hdd", "flash", "xpoint", "volume", "null")
COUNTED = ("clients", "warehouses", "tables", "rows", "row_size", "size", "records")
"""Keys of a program that are the clients or the size of its data."""
SEPARATOR = "|"


@dataclass(frozen=True)
class Facts:
    """Facts about a simulated database."""

    profile: str
    workload: str
    storage: str
    clients: int
    data_bytes: int
    pool_bytes: int
    node: str = ""
    """Digest of the storage's devices, of those of its logs, too."""
    settings: str = ""
    """Digest of all else that a study may set: of server, host and program."""

    @property
    def key(self) -> str:
        """All facts as one word, which `changes` takes apart."""
        server = f"{self.profile} {self.workload}"
        numbers = (min(self.pool_bytes, self.data_bytes), self.clients, self.data_bytes)
        return SEPARATOR.join((server, self.node, *map(str, numbers), self.settings))

    @property
    def has_slow_syncs(self) -> bool:
        """Return whether the server syncs by `fsync` on flash without a capacitor."""
        return self.profile.startswith(SYNCS_TIMES) and self.storage.startswith(UNPROTECTED)

    @property
    def pool_share(self) -> float:
        """Share of the data that the pool holds, at most 1."""
        return min(self.pool_bytes / self.data_bytes, 1.0)


CHANGES = ("storage", "pool", "clients", "data", "settings")
"""Differences between two cells of one server and one program, in the order of `Facts.key`."""


def changes(one: str, other: str) -> list[str] | None:
    """Return what differs between two cells by their keys; None for another server or program."""
    parts = [key.split(SEPARATOR) for key in (one, other)]
    if parts[0][0] != parts[1][0]:
        return None
    both = zip(CHANGES, parts[0][1:], parts[1][1:], strict=True)
    return [change for change, own, others in both if own != others]


def facts_of(spec: RunSpec, phase: PhaseSpec) -> Facts | None:
    """Return facts about a run's simulated database in a phase; None without one."""
    database = spec.database
    if database is None or database.model is None or not phase.programs:
        return None
    engine = (spec.engines or {})[database.engine]
    ((word, program),) = phase.programs[0].model_dump(mode="json", by_alias=True).items()
    model = database.model.model_dump(mode="json", by_alias=True)["innodb"]
    pool = engine.buffer_pool.root if engine.buffer_pool else model["pool"]["size"]["value"]
    manner = f"{word} {program['manner']}" if program.get("manner") else word

    def node(storage: str | None) -> Any:
        model = spec.storage[storage].model if storage else None
        return model.model_dump(mode="json", by_alias=True, exclude_none=True) if model else None

    # No validated figure has its log on a storage of its own.
    log = f", log on {drive_of(node(database.log))}" if database.log else ""
    nodes = [node(storage) for storage in (database.storage, database.log, database.binlog)]
    host = spec.host and spec.host.model_dump(mode="json", by_alias=True, exclude_none=True)
    server = engine.model_dump(mode="json", exclude={"buffer_pool"}, exclude_none=True)
    rest = {key: value for key, value in program.items() if key not in COUNTED}
    return Facts(
        database.profile or database.engine,
        manner,
        kind_of(nodes[0]) + log,
        int(program.get("clients") or 1),
        data_bytes(word, program),
        max(compiled.size_bytes(pool), least.POOL),
        digest([nodes, spec.storage[database.storage].scale]),
        digest([server, host, word, rest]),
    )


def data_bytes(word: str, program: Mapping[str, Any]) -> int:
    """Return the approximate size of a program's data set after loading."""
    if word == "tpcc":
        without = FOREIGN_KEY_BYTES if program.get("manner") != "tpcc-mysql" else 0
        return (WAREHOUSE_BYTES - without) * int(program["warehouses"])
    if word == "oltp":
        return OLTP_ROW_BYTES * int(program["tables"]) * int(program["rows"])
    if word == "key_update":
        row = compiled.size_bytes(program["row_size"]) + ROW_EXTRA_BYTES
        return int(program["rows"]) * PAGE_BYTES // max(ROOM_IN_PAGE // row, 1)
    if word == "scan":
        return compiled.size_bytes(program["size"])
    return 1200 * int(program.get("records") or 1)


def kind_of(node: Any) -> str:
    """Return the model of a storage's first drive; of flash, whether it lacks a capacitor."""
    model = drive_of(node)
    has_capacitor = "power_loss_protection" in json.dumps(node)
    return UNPROTECTED if model == "flash" and not has_capacitor else model


def drive_of(node: Any) -> str:
    """Return the model of the first drive in a storage's device tree."""
    if not isinstance(node, Mapping):
        return "unknown"
    for key in node:
        if key in MODELS:
            return str(key)
    return next(
        (drive for child in node.values() if (drive := drive_of(child)) != "unknown"), "unknown"
    )
