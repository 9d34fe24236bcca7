"""Database of a run: loaded once and kept, restored for each run, started in the requested state.

The thread that opens it has to live until it is closed: a server dies with its starter.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tameshi.core.clock import WALL, Clock
from tameshi.core.compiled import Oltp
from tameshi.core.errors import RunFailed
from tameshi.core.reasons import reason, verdict
from tameshi.core.spec_types import PowerCut, RunSpec
from tameshi.guard import Volume
from tameshi.record.events import append_event
from tameshi.run.database_work import loads_of
from tameshi.servers import cache_state
from tameshi.servers.crash import cut_power
from tameshi.servers.datasets import Aside, DataSets, Facts
from tameshi.servers.dsn import RunningServer, secret_name, where_it_is
from tameshi.servers.placement import (
    ROLES,
    Place,
    Serving,
    connections_of,
    data_of,
    loaders,
)
from tameshi.servers.private import DataDirectory, Kept, PrivateServer
from tameshi.servers.product import Address, ClientError, Home, Product

LOG = "server.log"
OF_STANDBY = 8
"""Connections of a standby, and of Tameshi to look after it."""
Within = Callable[[Sequence[str]], list[str]]
"""Return the command that runs another one in a host."""
Progress = Callable[[str, Mapping[str, Any]], None]
"""Callback for a stage and its progress; it raises to stop the run."""


class Database:
    """Database on its storage, from an empty data directory to a running server."""

    def __init__(
        self,
        spec: RunSpec,
        folder: Path,
        place: Place,
        serving: Serving,
        directory: DataDirectory,
        progress: Progress,
        volume: Volume | None = None,
        own: Mapping[str, DataDirectory] = MappingProxyType({}),
        clock: Clock = WALL,
        within: Within | None = None,
    ) -> None:
        assert spec.database
        self._clock = clock
        self._within = within
        self.service: Address | None = None
        """Address for clients, if it is not the server's own."""
        self._own = own
        """Directories of files on a storage of their own, by role."""
        self.volume = volume
        """File system of the database, if its power is cut."""
        self._spec = spec
        self._folder = folder
        self._serving = serving
        self._directory = directory
        self._progress = progress
        self._sets = DataSets(place.sets)
        self.is_left = False
        """True if its files stay after the run."""
        self.server = self._made(loading=False)
        self.facts = Facts(
            serving.product.name,
            serving.program.version,
            serving.product.shaping(self.server.options),
            data_of(spec.phases),
            spec.database.seed,
        )

    @property
    def connections(self) -> int:
        """Return the connections that its server admits, those of a standby included."""
        return connections_of(self._spec.phases) + (OF_STANDBY if self._within else 0)

    def _made(self, *, loading: bool) -> PrivateServer:
        return PrivateServer(
            self._serving.product,
            self._serving.engine,
            self._directory,
            self._folder / LOG,
            program=self._serving.program,
            loading=loading,
            connections=self.connections,
            home=None if loading else self._home(),
            slow=1 if loading else self._clock.slow,
            within=list if loading or not self._within else self._within,
        )

    def _home(self) -> Home:
        folders = {role: each.home.folder / role for role, each in self._own.items()}
        log, binlog, temp = (folders.get(role) for role in ROLES)
        return replace(self._directory.home, log=log, binlog=binlog, temp=temp)

    @property
    def address(self) -> dict[str, Any]:
        """Return the address for the load."""
        return _for_load(self.server.product, self.service or self.server.address)

    @property
    def is_kept(self) -> bool:
        """Return whether a kept data set exists."""
        return self._sets.find(self.facts) is not None

    @contextmanager
    def loading(self) -> Iterator[PrivateServer]:
        """Start a server on an empty database; settle and keep what is loaded meanwhile."""
        self._directory.empty()
        server = self._made(loading=True)
        self._progress("initialise", {})
        server.initialise()
        with server:
            server.start()
            yield server
            self._progress("settle", {})
            try:
                with server.client(timeout_seconds=3600) as client:
                    server.product.settle(client)
            except ClientError as error:
                where = str(server.home.folder)
                raise RunFailed(f"the loaded database can't rest: {error}", where=where) from None
        self._sets.keep(self.facts, server.home.data, self._copied)

    def restore(self) -> None:
        """Restore the kept files."""
        self.empty()
        for role, directory in self._own.items():
            directory.own_folder(role)
        product, home = self.server.product, self.server.home
        aside = Aside(home.log, product.log_files, product.log_linked) if home.log else None
        self._sets.restore(self.facts, home.data, self._copied, aside)

    def empty(self) -> None:
        """Delete all its files."""
        for directory in dict.fromkeys([self._directory, *self._own.values()]):
            directory.empty()

    def start(self) -> None:
        """Start the server in the state that the run asks for."""
        self._progress("start", {"state": self._spec.start.value})
        if self.server.pid is None:
            self.server.start()
        if statements := self.server.product.placements(self.server.home):
            with self.server.client() as client:
                for statement in statements:
                    client.query(statement)
        cache_state.enforce(self.server, self._spec.start)

    def verify(self) -> None:
        """Record the contents of caches; a run in another state than it claims is invalid."""
        residency = cache_state.look(self.server)
        state = self._spec.start.value
        append_event(self._folder, 0, "caches", start=state, **residency.as_json())
        for finding in cache_state.verify(
            self._spec.start, residency, self.server.product.embedded
        ):
            append_event(self._folder, 0, "finding", **finding)

    def cut_power(self, _: PowerCut, end_clients: Callable[[], None]) -> None:
        """Cut the power of its volume and the server; return with the volume mounted again."""
        assert self.volume
        end_clients()
        cut_power(self.volume, self.server, lambda: None)

    @contextmanager
    def let_go(self) -> Iterator[None]:
        """Close all files on its storages for a while."""
        with ExitStack() as stack:
            for directory in dict.fromkeys([self._directory, *self._own.values()]):
                stack.enter_context(directory.let_go())
            yield

    def end(self) -> str | None:
        """Stop the server cleanly; return why the run is void, if that or the server failed."""
        gone = self.gone()
        if gone is None:
            self.server.stop()
        return gone

    def leave(self) -> Kept | None:
        """Leave the stopped database on the disk; None on a volume of its own, which goes."""
        if self.volume:
            return None
        self.is_left = True
        return self.server.kept()

    def gone(self) -> str | None:
        """Return the end of the server with its cause; None while it runs."""
        product = self.server.product
        if product.embedded or self.server.pid is not None:
            return None
        return f"during the run, {self.server.ended() or f'{product.title} was gone'}"

    def _copied(self, done_bytes: int, size_bytes: int) -> None:
        self._progress("copy", {"done_bytes": done_bytes, "size_bytes": size_bytes})


def _for_load(product: Product, address: Address) -> dict[str, Any]:
    """Return a database's address with what its own sessions and loaders need."""
    own = {"own_session": list(product.own_session), "loaders": loaders()}
    return {**address.as_json(), **own}


class UsersDatabase:
    """Database in a running server of the user; tables are created for a run and dropped after it.

    Tameshi does not configure, start or stop this server, nor touch its caches.
    """

    is_kept = False

    def __init__(self, spec: RunSpec, folder: Path, server: RunningServer) -> None:
        self._folder = folder
        self.server = server
        secret_in = secret_name(server.product)
        self.address = _for_load(server.product, server.address) | {"secret_in": secret_in}
        loads = loads_of(spec, folder, self.address)[1]
        names = (name for load in loads for name in Oltp(load).tables())
        self._tables = list(dict.fromkeys(names))
        self._making = False

    @contextmanager
    def loading(self) -> Iterator[RunningServer]:
        """Connect to the server, after a check that no table of these names exists."""
        there = self._there()
        if there:
            raise RunFailed(
                "the database has tables of these names, and Tameshi overwrites none",
                where=where_it_is(self.server.address),
                found=", ".join(there),
                hint="Name an empty database, or drop them yourself: "
                f"DROP TABLE {', '.join(there)}",
            )
        self._require_rights()
        self._making = True
        yield self.server

    def _require_rights(self) -> None:
        """Try every right of a run on a table of its own, before the load."""
        product, address = self.server.product, self.server.address
        table = f"tameshi_rights_{secrets.token_hex(4)}"
        statements = product.rehearsal(address, table)
        try:
            with self.server.client() as client:
                client.query(statements[0])
                try:
                    for statement in statements[1:]:
                        client.query(statement)
                finally:
                    client.query(statements[0])
        except ClientError as error:
            raise RunFailed(
                "this user lacks a right that a run needs",
                where=where_it_is(address),
                found=str(error),
                accepted=["a user who may create, index, read, change and drop tables there"],
            ) from None

    def restore(self) -> None:
        """Do nothing: the database was loaded for this run."""

    def start(self) -> None:
        """Do nothing: the server is running."""

    def verify(self) -> None:
        """Record that the state of its caches is unknown, and how its connections are encrypted."""
        address = self.server.address
        with self.server.client() as client:
            version = self.server.product.encryption(client)
        tls = {"version": version, "verified": address.tls.verifies} if version else None
        where = where_it_is(address)
        append_event(self._folder, 0, "running_server", address=where, tables=self._tables, tls=tls)

    def end(self) -> str | None:
        """Do nothing: Tameshi does not stop this server."""
        return None

    def gone(self) -> str | None:
        """Return None: the end of this server is not seen here."""
        return None

    def drop(self) -> None:
        """Drop the tables made here."""
        if not self._making:
            return
        try:
            with self.server.client(timeout_seconds=600) as client:
                for table in self._there():
                    client.query(self.server.product.drop_table(self.server.address, table))
        except ClientError as error:
            tables = ", ".join(self._tables)
            raise RunFailed(
                f"the tables that Tameshi made can't be dropped: {error}",
                where=where_it_is(self.server.address),
                hint=f"Drop them yourself: {tables}",
            ) from None

    def _there(self) -> list[str]:
        try:
            with self.server.client() as client:
                existing = self.server.product.tables(client, self.server.address.database)
        except ClientError as error:
            where = where_it_is(self.server.address)
            message = f"the server can't be asked for its tables: {error}"
            raise RunFailed(message, where=where) from None
        known = {name.lower() for name in existing}
        return [table for table in self._tables if table.lower() in known]


@contextmanager
def lent(spec: RunSpec, folder: Path, server: RunningServer) -> Iterator[UsersDatabase]:
    """Lend a database of the user for one run; drop the run's tables afterwards."""
    database = UsersDatabase(spec, folder, server)
    try:
        yield database
    finally:
        database.drop()


@contextmanager
def opened(
    spec: RunSpec,
    folder: Path,
    place: Place,
    serving: Serving,
    progress: Progress,
    *,
    on_volume: bool = False,
    own: Mapping[str, Place] = MappingProxyType({}),
    clock: Clock = WALL,
    within: Within | None = None,
) -> Iterator[Database]:
    """Open the database of a run, with its directories claimed; remove it unless it is left.

    `on_volume`: use a file system of its own, whose power can be cut. `own`: places of files on a
    storage of their own, by role. `clock`: that of the run. `within`: runs the server in a host.
    """
    with ExitStack() as stack:
        volume = None
        if on_volume:
            directory, volume = stack.enter_context(place.claim_on_volume(serving.product))
            append_event(folder, 0, "finding", **verdict("warning", reason("on_volume")))
        else:
            directory = place.claim(serving.product)
        stack.enter_context(directory)
        claimed = {place.storage: directory}
        for each in own.values():
            if each.storage not in claimed:
                claimed[each.storage] = stack.enter_context(each.claim(serving.product))
        own_directories = {role: claimed[each.storage] for role, each in own.items()}
        database = Database(
            *(spec, folder, place, serving, directory, progress, volume),
            own=own_directories,
            clock=clock,
            within=within,
        )
        try:
            yield database
        finally:
            database.server.kill()
            for left in () if database.is_left else claimed.values():
                if left.home.folder.exists():  # a failed creation already removed it
                    with suppress(OSError):
                        left.empty()
