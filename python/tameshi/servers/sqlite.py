"""SQLite: embedded database without installation or server."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Self

from tameshi.core.compiled import query
from tameshi.core.errors import BadInput
from tameshi.servers.installed import Program
from tameshi.servers.product import (
    Address,
    Client,
    ClientError,
    Home,
    Product,
    Rows,
    refuse_setting,
    size_of,
)

if TYPE_CHECKING:
    from tameshi.core.spec_types import Engine

_COMMITS = ("OFF", "NORMAL", "FULL", "EXTRA")
_SHAPING = ("page_size", "auto_vacuum", "encoding", "journal_mode")
_PAGE_BYTES = 4096


class SQLite(Product):
    """SQLite. Its options are pragmas, which each connection sets first."""

    name = "sqlite"
    title = "SQLite"
    program = "sqlite"
    remedy = "It comes with Tameshi."
    embedded = True
    own_pattern = re.compile(r".*_directory|.*key.*|writable_schema|trusted_schema")

    def neutral(self, engine: Engine, version: str) -> dict[str, str]:
        """Return cache, size of the write-ahead log, synchronous."""
        chosen = {}
        if engine.buffer_pool:
            chosen["cache_size"] = f"-{size_of(engine.buffer_pool) // 1024}"
        if engine.redo_log:
            page = int((engine.options or {}).get("page_size", _PAGE_BYTES))
            chosen["wal_autocheckpoint"] = str(size_of(engine.redo_log) // page)
        if engine.flush_method:
            accepted = ["options.journal_mode"]
            raise refuse_setting(self, "flush_method", engine.flush_method, accepted)
        if engine.doublewrite and engine.doublewrite != "on":
            accepted = ["on: its journal always protects pages", "options.journal_mode"]
            raise refuse_setting(self, "doublewrite", engine.doublewrite.value, accepted)
        if engine.commit:
            if engine.commit.upper() not in _COMMITS:
                raise refuse_setting(self, "commit", engine.commit, _COMMITS)
            chosen["synchronous"] = engine.commit.upper()
        return chosen

    def shaping(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the options stored in the file."""
        return {name: value for name, value in options.items() if name in _SHAPING}

    def initialise(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return None: the first connection makes the file."""
        return []

    def command(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return None: it runs in its client."""
        return []

    def shell(self, address: Address) -> list[str]:
        """Return the shell of SQLite on the file."""
        return ["sqlite3", str(address.file)]

    def address(self, home: Home, options: Mapping[str, str]) -> Address:
        """Return the file, with options stored in it first: later they have no effect."""
        pragmas = tuple((name, options[name]) for name in sorted(options, key=_first))
        return Address(self.name, "tameshi", file=home.data / "tameshi.sqlite", pragmas=pragmas)

    own_session = ("PRAGMA busy_timeout = 60000", "PRAGMA query_only = 0")

    def connect(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """Connect by the interpreter's own SQLite, whose version may differ from the load
        driver's."""
        return SqliteClient(address, timeout_seconds)

    def create(self, client: Client) -> None:
        """Do nothing: a connection creates it."""

    def settle(self, client: Client) -> None:
        """Move everything into the one file."""
        client.query("PRAGMA wal_checkpoint(TRUNCATE)")

    def options(self, engine: Engine, program: Program) -> dict[str, str]:
        """Return options as for all; a pragma's value is one word, since it is part of a
        statement."""
        chosen = super().options(engine, program)
        for name, value in chosen.items():
            if not re.fullmatch(r"[-+]?\w[\w.]*", value):
                key = f"engine.sqlite.options.{name}"
                raise BadInput("a pragma's value is one word", key=key, found=repr(value))
        return chosen

    def known_options(self, program: Program) -> frozenset[str] | None:
        """Return all its pragmas."""
        with closing(sqlite3.connect(":memory:")) as connection:
            return frozenset(str(row[0]) for row in connection.execute("PRAGMA pragma_list"))


def _first(name: str) -> int:
    """Put the page size first: after the first write it is fixed."""
    return {"page_size": 0, "auto_vacuum": 1, "encoding": 2, "journal_mode": 3}.get(name, 4)


def here() -> Program:
    """Return the SQLite of Tameshi's own connections."""
    return Program("sqlite", sqlite3.sqlite_version, "")


def driven() -> Iterator[Program]:
    """Return the SQLite in the load driver; None if the driver was not built."""
    with suppress(ImportError):
        rows = query({"sqlite": {"file": ":memory:"}}, "SELECT sqlite_version()")
        yield Program("sqlite", str(rows[0][0]), "in Tameshi")


class SqliteClient:
    """Connection by the standard library."""

    def __init__(self, address: Address, timeout_seconds: float) -> None:
        try:
            self._connection = sqlite3.connect(
                str(address.file),
                timeout=timeout_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
            for name, value in address.pragmas:
                self._connection.execute(f"PRAGMA {name} = {value}")
            for statement in SQLite.own_session:
                self._connection.execute(statement)
        except sqlite3.Error as error:
            raise ClientError(str(error)) from None

    def query(self, statement: str) -> Rows:
        """Return the rows of a statement."""
        try:
            return list(self._connection.execute(statement))
        except sqlite3.Error as error:
            raise ClientError(str(error)) from None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
