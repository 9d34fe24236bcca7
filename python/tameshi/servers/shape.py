"""The common shape of all products: what a private instance, a client and a setting are."""

from __future__ import annotations

import difflib
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from tameshi.core.compiled import size_bytes
from tameshi.core.errors import BadInput
from tameshi.servers.installed import Program

if TYPE_CHECKING:
    from tameshi.core.spec_types import Doublewrite, Engine, Size


@dataclass(frozen=True)
class Address:
    """Where a client finds a database; `socket` is a Unix socket, `file` an embedded database.

    `user` needs no secret there. `pragmas` are what each connection of an embedded database sets
    first.
    """

    product: str
    database: str
    user: str = ""
    host: str = ""
    port: int | None = None
    socket: Path | None = None
    file: Path | None = None
    pragmas: tuple[tuple[str, str], ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The same for the program that loads the database."""
        facts = {
            "product": self.product,
            "database": self.database,
            "user": self.user,
            "host": self.host,
            "port": self.port,
            "socket": str(self.socket) if self.socket else None,
            "file": str(self.file) if self.file else None,
            "pragmas": [list(pragma) for pragma in self.pragmas],
        }
        return {key: value for key, value in facts.items() if value}


Rows = Sequence[Sequence[Any]]


class Client(Protocol):
    """One connection, each statement its own transaction. Any failure is a `ClientError`."""

    def query(self, statement: str) -> Rows:
        """The rows that a statement gives; none of a statement that gives no rows."""

    def close(self) -> None:
        """Let it go; a second call does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class ClientError(Exception):
    """A database could not be reached, or refused a statement: its words."""


@dataclass(frozen=True)
class Home:
    """Where an instance lives: its data, a folder for its socket, and its TCP port, if it has one.

    `folder` is the data directory of Tameshi's, `data` the server's own inside.
    """

    folder: Path
    data: Path
    port: int | None = None

    @property
    def run(self) -> Path:
        """The folder of its socket."""
        return self.folder / "run"


@dataclass(frozen=True)
class Counted:
    """Server counters since it began (`birth` says when), and states as they are now.

    `own` is what this look itself added to the counters. Names are those of the metric registry;
    what a version does not tell is absent.
    """

    birth: str
    counters: Mapping[str, int]
    gauges: Mapping[str, float]
    own: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pool:
    """Bytes that a buffer pool holds, and could hold of this database: all of it, or it is full."""

    bytes: int
    useful_bytes: int


class Product(ABC):
    """One database product. Stateless: what it is told, it turns into the product's own words."""

    name: ClassVar[str]
    """As studies call it."""
    title: ClassVar[str]
    program: ClassVar[str]
    """As `installed` calls its server."""
    remedy: ClassVar[str]
    """How it gets installed: a sentence."""
    tested: ClassVar[bool] = True
    """Tameshi's own tests run on it."""
    account: ClassVar[str] = ""
    """Whom it runs as where Tameshi runs as root."""
    embedded: ClassVar[bool] = False
    """Whether it lives in its client's process: nothing is started, stopped or killed."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    """What has it shut down cleanly without waiting for its clients."""
    pool_bytes_min: ClassVar[int] = 0
    """The smallest buffer pool that it starts with."""
    own_options: ClassVar[frozenset[str]] = frozenset()
    """Options that Tameshi sets or that reach outside the data directory, spelled with `_`."""
    own_pattern: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    """The same by pattern."""

    @abstractmethod
    def neutral(self, engine: Engine, version: str) -> dict[str, str]:
        """The engine-neutral settings of a study as the product's options."""

    @abstractmethod
    def shaping(self, options: Mapping[str, str]) -> dict[str, str]:
        """Those of the options that decide what the files look like."""

    @abstractmethod
    def initialise(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """The command that makes an empty database in `home.data`; none for an embedded one."""

    @abstractmethod
    def command(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """The command that runs the server in the foreground with its log on standard error."""

    @abstractmethod
    def address(self, home: Home, options: Mapping[str, str]) -> Address:
        """Where clients find it."""

    @abstractmethod
    def connect(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """A connection, on which no answer takes longer than this; raises `ClientError`."""

    def enter(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """A connection within the database of a server of the user's; raises `ClientError`."""
        return self.connect(address, timeout_seconds, secret)

    def tables(self, client: Client, database: str) -> set[str]:
        """Names of the tables of a database, which `client` is in; raises `ClientError`."""
        raise NotImplementedError(self.name)

    def drop_table(self, address: Address, table: str) -> str:
        """The statement that drops a table of a database."""
        return f'DROP TABLE "{table}"'

    def bury(self, home: Home) -> None:
        """Remove what a killed server leaves outside its directory; none of it runs any more."""
        return

    def loading(self, options: Mapping[str, str]) -> dict[str, str]:
        """Options that load faster and shape no file; a clean stop comes after."""
        return {}

    def create(self, client: Client) -> None:
        """Make the database `tameshi` in a new instance."""
        client.query("CREATE DATABASE tameshi")

    @abstractmethod
    def settle(self, client: Client) -> None:
        """Bring a loaded database to rest, so that its files can be kept: `stop` comes next."""

    def warm(self, address: Address) -> None:
        """Read all tables and indexes of the database once, so that the pool holds what it can."""
        raise NotImplementedError(self.name)

    def pool(self, address: Address) -> Pool | None:
        """What the buffer pool holds; None where it can't be told."""
        return None

    def count(self, client: Client, database: str) -> Counted | None:
        """Counters and states now; None where the product has none to ask for.

        Raises `ClientError`.
        """
        return None

    def known_options(self, program: Program) -> frozenset[str] | None:
        """The options that this version has, spelled with `_`; None where it can't be asked."""
        return None

    # --- What is alike for all ------------------------------------------------------------------

    def options(self, engine: Engine, program: Program) -> dict[str, str]:
        """All options of a study's engine. Raises `BadInput` for what can't be or isn't allowed."""
        key = f"engine.{self.name}"
        pool = engine.buffer_pool
        if pool and size_of(pool) < self.pool_bytes_min:
            raise BadInput(
                f"{self.title} does not start with so small a buffer pool",
                key=f"{key}.buffer_pool",
                found=pool.root,
                accepted=[f"{self.pool_bytes_min // 1024} KiB or more"],
            )
        further = self._checked(engine.options or {}, program, f"{key}.options")
        chosen = self.neutral(engine, program.version)
        twice = sorted(set(chosen) & set(further))
        if twice:
            message = f"`{twice[0]}` is set twice, here and by a setting of its own"
            raise BadInput(message, key=f"{key}.options.{twice[0]}", found=further[twice[0]])
        return chosen | further

    def _checked(self, options: Mapping[str, str], program: Program, key: str) -> dict[str, str]:
        known = self.known_options(program) if options else None
        checked = {}
        for written, value in options.items():
            name = written.strip().lower().replace("-", "_")
            where = f"{key}.{written}"
            if name in self.own_options or self.own_pattern.fullmatch(name):
                raise BadInput(
                    "this option is Tameshi's to set: it reaches outside the private instance",
                    key=where,
                    found=value,
                )
            if "/" in value or "\n" in value or "\0" in value:
                message = "an option of a study names no path: real paths never stand in a study"
                raise BadInput(message, key=where, found=repr(value))
            if not re.fullmatch(r"[a-z][a-z0-9_.]*", name) or (known and name not in known):
                near = difflib.get_close_matches(name, known or (), 3)
                message = f"{self.title} {program.version} has no such option"
                raise BadInput(message, key=where, found=written, accepted=near)
            checked[name] = value
        return checked


LOADING_POOL_BYTES = 256 << 20
"""A buffer pool while loading, where the study's is smaller."""


def size_of(size: Size) -> int:
    """Bytes."""
    return size_bytes(size.root)


def on_or_off(kind: Doublewrite) -> str:
    """Whether pages are to be written twice; a device that writes them atomically needs it not."""
    return "ON" if kind == "on" else "OFF"


def refuse_setting(product: Product, setting: str, value: str, accepted: Sequence[str]) -> BadInput:
    """The refusal of an engine-neutral setting that the product does not have."""
    return BadInput(
        f"{product.title} has no such setting",
        key=f"engine.{product.name}.{setting}",
        found=value,
        accepted=accepted,
    )
