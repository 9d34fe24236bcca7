"""Interface of all products: private instance, client and settings."""

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
from tameshi.servers.tls import Tls

if TYPE_CHECKING:
    from tameshi.core.spec_types import Doublewrite, Engine, Size


@dataclass(frozen=True)
class Address:
    """Address of a database; `socket` is a Unix socket, `file` an embedded database.

    `user` needs no password there. Each connection of an embedded database sets `pragmas` first.
    """

    product: str
    database: str
    user: str = ""
    host: str = ""
    port: int | None = None
    socket: Path | None = None
    file: Path | None = None
    pragmas: tuple[tuple[str, str], ...] = ()
    tls: Tls = field(default_factory=Tls)

    def as_json(self) -> dict[str, Any]:
        """Return the address for the database driver."""
        facts = {
            "product": self.product,
            "database": self.database,
            "user": self.user,
            "host": self.host,
            "port": self.port,
            "socket": str(self.socket) if self.socket else None,
            "file": str(self.file) if self.file else None,
            "pragmas": [list(pragma) for pragma in self.pragmas],
            "tls": self.tls.as_json() if self.host else None,
        }
        return {key: value for key, value in facts.items() if value}


Rows = Sequence[Sequence[Any]]


class Client(Protocol):
    """Connection with one transaction per statement. Every failure is a `ClientError`."""

    def query(self, statement: str) -> Rows:
        """Return the rows of a statement, possibly none."""

    def close(self) -> None:
        """Close the connection; a second call does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class ClientError(Exception):
    """Message of an unreachable database or of a refused statement."""


LOOPBACK = "127.0.0.1"
"""Address of a server's TCP port outside of hosts."""


@dataclass(frozen=True)
class Home:
    """Place of an instance: data, folder of its socket, and TCP port, if any.

    `folder` is the data directory of Tameshi's, `data` the server's own subfolder. `log`, `binlog`
    and `temp` are folders of their own for these files; None: where the server has them by itself.
    `bind` is the address of the port: another than the loopback's for a server in a host.
    """

    folder: Path
    data: Path
    port: int | None = None
    log: Path | None = None
    binlog: Path | None = None
    temp: Path | None = None
    bind: str = LOOPBACK

    @property
    def run(self) -> Path:
        """Return the folder of its socket."""
        return self.folder / "run"

    @property
    def folders(self) -> list[Path]:
        """Return all folders with files of the database."""
        return [self.data, *(each for each in (self.log, self.binlog, self.temp) if each)]


@dataclass(frozen=True)
class Counted:
    """Counters of a server since its start (`birth`), and current states.

    `own` is the increase caused by this sample. Names are those of the metric registry; counters
    missing in a version are absent.
    """

    birth: str
    counters: Mapping[str, int]
    gauges: Mapping[str, float]
    own: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pool:
    """Bytes in a buffer pool, and the most that it could hold of this database."""

    bytes: int
    useful_bytes: int


class Product(ABC):
    """Database product. Stateless: converts requests to the product's own terms."""

    name: ClassVar[str]
    """Name in studies."""
    title: ClassVar[str]
    program: ClassVar[str]
    """Name of its server in `installed`."""
    remedy: ClassVar[str]
    """Sentence on its installation."""
    tested: ClassVar[bool] = True
    """True if Tameshi's own tests run on it."""
    account: ClassVar[str] = ""
    """Its user if Tameshi runs as root."""
    embedded: ClassVar[bool] = False
    """True if it runs in its client's process: nothing is started, stopped or killed."""
    roles: ClassVar[tuple[str, ...]] = ()
    """Files that it can keep in a folder of their own: `log`, `binlog`, `temp`."""
    log_files: ClassVar[tuple[str, ...]] = ()
    """Patterns of the log's files and folders at the top of the data directory."""
    log_linked: ClassVar[bool] = False
    """True if links in the data directory lead to the log; else an option of the command does."""
    stop_signal: ClassVar[signal.Signals] = signal.SIGTERM
    """Signal for a clean shutdown without waiting for clients."""
    connections_max: ClassVar[int] = 0
    """Connections that it admits by default; 0: no limit."""
    own_session: ClassVar[tuple[str, ...]] = ()
    """Statements that lift limits of a session which a study may set for its clients."""
    pool_bytes_min: ClassVar[int] = 0
    """Smallest buffer pool with which it starts."""
    own_options: ClassVar[frozenset[str]] = frozenset()
    """Options reserved for Tameshi or reaching outside the data directory, spelled with `_`."""
    own_pattern: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")
    """Pattern of such options."""

    @abstractmethod
    def neutral(self, engine: Engine, version: str) -> dict[str, str]:
        """Return the engine-neutral settings of a study as the product's options."""

    @abstractmethod
    def shaping(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the options that determine the files."""

    @abstractmethod
    def initialise(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return the command that makes an empty database in `home.data`; None for an embedded
        one."""

    @abstractmethod
    def command(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return the command that runs the server in the foreground with its log on standard
        error."""

    @abstractmethod
    def shell(self, address: Address) -> list[str]:
        """Return the command of the product's own client at a local address."""

    @abstractmethod
    def address(self, home: Home, options: Mapping[str, str]) -> Address:
        """Return the address for clients."""

    @abstractmethod
    def connect(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """Connect with a time limit on every answer; raise `ClientError`."""

    def socket_in(self, folder: Path, port: int | None) -> Path:
        """Return the path of the server's socket in a folder; the folder itself if unknown."""
        return folder

    def enter(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """Connect to the database of the user's server; raise `ClientError`."""
        return self.connect(address, timeout_seconds, secret)

    def tables(self, client: Client, database: str) -> set[str]:
        """Return the tables of the current database of `client`; raise `ClientError`."""
        raise NotImplementedError(self.name)

    def table_name(self, address: Address, table: str) -> str:
        """Return a table's name as statements of `enter` need it."""
        return f'"{table}"'

    def drop_table(self, address: Address, table: str) -> str:
        """Return the statement that drops a table of a database."""
        return f"DROP TABLE IF EXISTS {self.table_name(address, table)}"

    def rehearsal(self, address: Address, table: str) -> list[str]:
        """Return statements that need every right of a run, on a table that does not exist.

        The first needs the right to drop it, so that nothing can remain.
        """
        name = self.table_name(address, table)
        return [
            self.drop_table(address, table),
            f"CREATE TABLE {name} (a INT PRIMARY KEY, b INT)",
            f"CREATE INDEX {table}_b ON {name} (b)",
            f"INSERT INTO {name} VALUES (1, 1)",
            f"UPDATE {name} SET b = 2 WHERE a = 1",
            f"SELECT b FROM {name}",
            f"DELETE FROM {name}",
            self.drop_table(address, table),
        ]

    def encryption(self, client: Client) -> str:
        """Return the version of TLS that a connection uses; empty without one.

        Raises `ClientError`.
        """
        return ""

    def room(self, client: Client) -> int | None:
        """Return how many more connections the user's server admits; None if unknown.

        Raises `ClientError`.
        """
        return None

    def bury(self, home: Home) -> None:
        """Remove a killed server's remains outside its directory; none of it is running."""
        return

    def placements(self, home: Home) -> list[str]:
        """Return statements by which a started server uses the folders of `home`."""
        return []

    def loading(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return options that load faster and do not change files; a clean stop follows."""
        return {}

    def admitting(self, connections: int, options: Mapping[str, str]) -> dict[str, str]:
        """Return the options with a limit of connections that admits this many.

        Raises `BadInput` if the study sets a lower limit.
        """
        if not self.connections_max:
            return dict(options)
        given = options.get("max_connections", "")
        if given.isdigit() and int(given) < connections:
            raise BadInput(
                "the server admits fewer connections than clients and Tameshi need",
                key=f"engine.{self.name}.options.max_connections",
                found=given,
                accepted=[f"{connections} or more", "no such option: Tameshi raises the limit"],
            )
        if given or connections <= self.connections_max:
            return dict(options)
        return {**options, "max_connections": str(connections)}

    def slowed(self, options: Mapping[str, str], slow: float) -> dict[str, str]:
        """Return the options with waits stretched that a slowed clock does not reach."""
        return dict(options)

    def create(self, client: Client) -> None:
        """Make the database `tameshi` in a new instance."""
        client.query("CREATE DATABASE tameshi")

    @abstractmethod
    def settle(self, client: Client) -> None:
        """Settle a loaded database, so that its files can be kept; `stop` follows."""

    def warm(self, address: Address) -> None:
        """Read all tables and indexes once, so that the pool holds as much as it can."""
        raise NotImplementedError(self.name)

    def pool(self, address: Address) -> Pool | None:
        """Return the contents of the buffer pool; None if unknown."""
        return None

    def count(self, client: Client, database: str) -> Counted | None:
        """Return counters and states now; None if the product has none.

        Raises `ClientError`.
        """
        return None

    def known_options(self, program: Program) -> frozenset[str] | None:
        """Return the options of this version, spelled with `_`; None if unknown."""
        return None

    # --- Common to all
    # -----------------------------------------------------------------------------

    def options(self, engine: Engine, program: Program) -> dict[str, str]:
        """Return all options of a study's engine. Raise `BadInput` for invalid or forbidden
        ones."""
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

    def raised(self, engine: Engine) -> Engine:
        """Return settings with the smallest buffer pool of this product, if theirs is smaller."""
        pool = engine.buffer_pool
        if pool is None or size_of(pool) >= self.pool_bytes_min:
            return engine
        smallest = type(pool)(f"{self.pool_bytes_min // 1024} KiB")
        return engine.model_copy(update={"buffer_pool": smallest})

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
"""Buffer pool while loading, if the study's is smaller."""


def size_of(size: Size) -> int:
    """Return bytes."""
    return size_bytes(size.root)


def on_or_off(kind: Doublewrite) -> str:
    """Return whether pages are written twice; a device with atomic writes does not need it."""
    return "ON" if kind == "on" else "OFF"


def refuse_setting(product: Product, setting: str, value: str, accepted: Sequence[str]) -> BadInput:
    """Return the refusal of an engine-neutral setting that the product lacks."""
    return BadInput(
        f"{product.title} has no such setting",
        key=f"engine.{product.name}.{setting}",
        found=value,
        accepted=accepted,
    )
