"""Database of a run on this machine: server and places, found before anything is created.

In the folder bound to a storage, `tameshi-NAME-db` is the data directory of one server at a time,
and `tameshi-NAME-sets` holds the kept data sets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core.errors import BadInput
from tameshi.core.reasons import reason, verdict
from tameshi.core.spec_types import DatabaseSpec, Engine, PhaseSpec
from tameshi.core.units import format_value
from tameshi.servers.accounts import account_of, require_passage
from tameshi.servers.catalog import fits, product_named, program_of
from tameshi.servers.dsn import RunningServer, reached, require_room, where_it_is
from tameshi.servers.installed import Program
from tameshi.servers.private import DataDirectory, prepare_directory
from tameshi.servers.product import Product

SHAPING: Mapping[str, Mapping[str, Any]] = {
    "tpcc": {"warehouses": 1},
    "oltp": {
        "tables": None,
        "rows": None,
        "auto_inc": True,
        "secondary": False,
        "create_secondary": True,
        "mysql_storage_engine": "innodb",
    },
    "key_update": {"tables": None, "rows": None, "row_size": None},
    "scan": {"size": None},
    "ycsb": {"records": None},
    "document": {"documents": None, "size": None},
    "pgbench": {"scale": 1},
}
"""Settings of each program that its data set depends on, with defaults."""


@dataclass(frozen=True)
class Serving:
    """Product for a study's engine on this machine, its program, and the settings."""

    product: Product
    program: Program
    engine: Engine
    replaced: str = ""
    """Engine named in the study, if another one replaces it."""
    running: RunningServer | None = None
    """Running server of the user, if the study names one."""
    pool_asked: str = ""
    """Buffer pool of the study, if it was raised to the smallest of the replacing product."""

    def settled(self, engine: Engine) -> Serving:
        """Return the same with the settings of one run."""
        if self.replaced:
            engine = _adapted(self.product, engine)
        running = RunningServer(self.product, engine.dsn) if engine.dsn else None
        return replace(self, engine=engine, running=running)

    def require_connections(self, number: int) -> None:
        """Raise `BadInput` if the server does not admit this many connections."""
        if self.running:
            require_room(self.running, number)
        else:
            self.product.admitting(number, self.product.options(self.engine, self.program))

    def described(self) -> str:
        """Return an announcement line for the user."""
        what = f"{self.product.title} {self.program.version}"
        if self.pool_asked:
            smallest = format_value("bytes", self.product.pool_bytes_min)
            what += f", with its smallest buffer pool, {smallest}, in place of {self.pool_asked}"
        if self.running is None:
            return what
        where = where_it_is(self.running.address)
        return f"{what} of yours, {where}: tables are created in it, and dropped after each run"

    def findings(self, engine: Engine) -> list[dict[str, Any]]:
        """Return verdicts on the settings of a run that the replacing product changes."""
        asked = _pool_asked(self.product, engine) if self.replaced else ""
        if not asked:
            return []
        values = {"asked": asked, "least_bytes": self.product.pool_bytes_min}
        return [verdict("warning", reason("server_pool_raised", self.product.title, **values))]

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the environment of a run, part of its identity."""
        entry = {"product": self.product.name, "version": self.program.version}
        path = {"program": self.program.path} if self.program.path else {}
        if self.running:
            path = {"running": where_it_is(self.running.address)}
        return {**entry, **path, **({"instead_of": self.replaced} if self.replaced else {})}


@dataclass(frozen=True)
class Place:
    """Places of a storage's databases."""

    storage: str
    folder: Path
    size_bytes: int
    destroy: tuple[str, ...]
    plan: guard.DirectoryPlan
    sets_in: Path | None = None
    """Folder of kept data sets elsewhere."""

    @property
    def directory(self) -> Path:
        """Return the data directory."""
        return self.folder / f"tameshi-{self.storage}-db"

    @property
    def sets(self) -> Path:
        """Return the folder of kept data sets."""
        return self.sets_in or self.folder / f"tameshi-{self.storage}-sets"

    @property
    def volume(self) -> Path:
        """Return the folder of the volume whose power a study cuts."""
        return self.folder / f"tameshi-{self.storage}-volume"

    def claim(self, product: Product) -> DataDirectory:
        """Examine the data directory again and claim it for one server."""
        return prepare_directory(self.directory, product, self.size_bytes, self.destroy)

    @contextmanager
    def claim_on_volume(self, product: Product) -> Iterator[tuple[DataDirectory, guard.Volume]]:
        """Claim it on a volume of its own, which exists until the end of the claim."""
        with guard.Volume(self.volume, volume_bytes(self.size_bytes)) as volume:
            yield prepare_directory(volume.point / "db", product, self.size_bytes), volume

    def remove(self) -> None:
        """Delete the data directory and the data sets, which are Tameshi's."""
        for folder in (self.directory, self.sets):
            if folder.exists():
                guard.remove_folder(folder)


def volume_bytes(size_bytes: int) -> int:
    """Return the size of a volume for databases of this size, with metadata and reserve."""
    return max(guard.SMALLEST_VOLUME_BYTES, size_bytes + size_bytes // 8 + (256 << 20))


def serving_of(name: str, engine: Engine, bound: Mapping[str, str]) -> Serving:
    """Return the server for the engine `name` of a study, with checked settings.

    Raises `BadInput` without a matching program, or for an invalid setting.
    """
    product = product_named(bound.get(name, name))
    replaced = name if product.name != name else ""
    asked = engine
    if replaced:
        engine = _adapted(product, engine)
    if engine.dsn:
        return _running(name, product, engine, engine.dsn, replaced)
    program = program_of(product, engine)
    product.options(engine, program)
    return Serving(product, program, engine, replaced, pool_asked=_pool_asked(product, asked))


def _adapted(product: Product, engine: Engine) -> Engine:
    """Return the settings of an engine for a product that replaces it.

    Versions of another product mean nothing here. Its smallest buffer pool may be too small.
    """
    return product.raised(engine).model_copy(update={"version": None})


def _pool_asked(product: Product, engine: Engine) -> str:
    """Return the buffer pool that a study asks for, if it is too small for the product."""
    pool = engine.buffer_pool
    return pool.root if pool and product.raised(engine) is not engine else ""


def _running(name: str, product: Product, engine: Engine, dsn: str, replaced: str) -> Serving:
    """Return a running server of the user, which has no settings."""
    settings = engine.model_dump(exclude_none=True, exclude={"dsn", "version"})
    for setting, value in settings.items():
        if value:
            raise BadInput(
                "Tameshi does not configure a running server",
                key=f"engine.{name}.{setting}",
                found=str(value),
                hint="Remove the setting, or the dsn to start a private instance.",
            )
    server, program = reached(product, dsn)
    if not fits(program.version, engine.version):
        raise BadInput(
            "the running server has another version than the study asks for",
            key=f"engine.{name}.version",
            found=program.version,
            accepted=[str(engine.version), "a study without a version"],
        )
    return Serving(product, program, engine, replaced, server)


def place_of(
    storage: str, folder: Path, size_bytes: int, destroy: Sequence[str], serving: Sequence[Serving]
) -> Place:
    """Examine the place of a storage's databases; create nothing.

    Raises `BadInput` for a missing folder, `GuardRefusal` for one that must not be used or that the
    server's user cannot reach.
    """
    real = Path(os.path.realpath(folder))
    if not real.is_dir():
        raise BadInput(
            "a database needs a directory",
            where=str(folder),
            found="a file" if real.exists() else "nothing",
            accepted=["a directory on the storage, such as its mount point"],
        )
    plan = guard.check_data_directory(real / f"tameshi-{storage}-db", size_bytes, destroy)
    for one in serving:
        if not one.product.embedded:
            require_passage(account_of(one.product), real)
    return Place(storage, real, size_bytes, tuple(destroy), plan)


ROLES = ("log", "binlog", "temp")
"""Files of a database that may have a storage of their own."""


def roles_of(database: DatabaseSpec) -> dict[str, str]:
    """Return the storage of each kind of files that has one of its own."""
    named = {role: getattr(database, role) for role in ROLES}
    return {role: storage for role, storage in named.items() if storage}


def refuse_roles(serving: Serving, database: DatabaseSpec) -> None:
    """Raise `BadInput` for files that the server does not keep on a storage of their own."""
    for role, storage in roles_of(database).items():
        if serving.running:
            raise BadInput(
                "Tameshi does not configure a running server: its files are where you put them",
                key=f"use.{role}",
                found=storage,
                hint="Remove the key, or the dsn to start a private instance.",
            )
        if role not in serving.product.roles:
            raise BadInput(
                f"{serving.product.title} keeps no such files on a storage of their own",
                key=f"use.{role}",
                found=storage,
                accepted=[f"use.{each}" for each in serving.product.roles] or ["no such key"],
            )


OWN_CONNECTIONS = 8
"""Most connections of Tameshi's own at once: sampling, checks and set-up."""


def connections_of(phases: Sequence[PhaseSpec]) -> int:
    """Return the connections of a run: its clients, or its loaders, and Tameshi's own."""
    programs = [program for phase in phases for program in phase.programs or ()]
    settings = [next(iter(program.model_dump(mode="json").values())) for program in programs]
    clients = [int(each.get("clients") or 1) + 1 for each in settings]  # one defers deliveries
    return max(loaders(), *clients, 0) + OWN_CONNECTIONS


def loaders() -> int:
    """Return the number of connections that load a data set."""
    return min(max(2, os.cpu_count() or 1), 64)


def data_of(phases: Sequence[PhaseSpec]) -> dict[str, Any]:
    """Return the settings that determine a run's data set; raise `BadInput` if phases differ."""
    values: dict[str, Any] = {}
    for phase in phases:
        for program in phase.programs or ():
            ((word, settings),) = program.model_dump(mode="json").items()
            shaping = SHAPING[word].items()
            data = {
                key: default if settings.get(key) is None else settings[key]
                for key, default in shaping
            }
            if word == "oltp" and settings["mix"] == "insert" and not data["auto_inc"]:
                data["rows"] = 0  # its clients number the rows, starting without any
            if values.setdefault(word, data) != data:
                raise BadInput(
                    "the size of a data set cannot change within a run",
                    key=f"workload.{word}",
                    found=f"{values[word]} and {data}",
                    hint="Let its axis vary across runs.",
                )
    return values
