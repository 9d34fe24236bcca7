"""PostgreSQL."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pg8000.exceptions import Error as PgError
from pg8000.exceptions import InterfaceError
from pg8000.native import Connection

from tameshi.core.errors import BadInput
from tameshi.core.spec_types import Engine
from tameshi.servers.installed import Program
from tameshi.servers.product import (
    LOADING_POOL_BYTES,
    Address,
    Client,
    ClientError,
    Counted,
    Home,
    Pool,
    Product,
    Rows,
    on_or_off,
    refuse_setting,
    size_of,
)
from tameshi.servers.shared_memory import remove_shared_memory

PORT = 5432
"""Part of the socket's name; no server listens there unless a port is requested."""
BLOCK_BYTES = 8192
_WARM_SECONDS = 3600.0
_TEMP = "tameshi_temp"
"""Tablespace of temporary files on a storage of their own."""
_COMMITS = ("on", "off", "local", "remote_write", "remote_apply")
_SHAPED_AT_INITIALISE = {"data_checksums", "wal_segment_size"}

# One statement, one snapshot of the statistics. A missing view gives no row.
_LOOK = """
SELECT json_build_object(
  'birth', extract(epoch from pg_postmaster_start_time()),
  'database', (SELECT row_to_json(d) FROM pg_stat_database d WHERE datname = '{database}'),
  'running', (SELECT count(*) FROM pg_stat_activity
              WHERE backend_type = 'client backend' AND state = 'active'
                AND pid <> pg_backend_pid()),
  'waiting', (SELECT count(*) FROM pg_locks WHERE NOT granted),
  'log_age', pg_wal_lsn_diff(pg_current_wal_lsn(), (pg_control_checkpoint()).redo_lsn)
  {views})
"""
_DEADLOCK_MS = 1000
"""Default of `deadlock_timeout`."""
_VIEWS = ("pg_stat_bgwriter", "pg_stat_checkpointer", "pg_stat_wal")


class PostgreSQL(Product):
    """PostgreSQL as its package installs it; tested with 15."""

    name = "postgresql"
    title = "PostgreSQL"
    program = "postgres"
    remedy = "On Debian: apt-get install postgresql"
    account = "postgres"
    roles = ("log", "temp")
    log_files = ("pg_wal",)
    log_linked = True
    connections_max = 100
    own_session = (
        "SET statement_timeout = 0",
        "SELECT set_config(name, boot_val, false) FROM pg_settings WHERE name IN ("
        "'lock_timeout', 'transaction_timeout', 'idle_session_timeout', "
        "'idle_in_transaction_session_timeout', 'default_transaction_read_only', "
        "'default_transaction_isolation')",
    )
    stop_signal = signal.SIGINT  # a fast shutdown; SIGTERM waits for clients
    pool_bytes_min = 128 << 10
    own_options = frozenset(
        """
        data_directory hba_file ident_file external_pid_file config_file
        listen_addresses port unix_socket_directories unix_socket_group
        unix_socket_permissions logging_collector log_destination jit_provider
        dynamic_library_path krb_server_keyfile ssl shared_memory_type
        dynamic_shared_memory_type
        """.split()  # noqa: SIM905
    )
    own_pattern = re.compile(
        r".*_command|.*_librar(y|ies)|ssl_.*|log_(directory|filename|file_mode)|event_source"
    )

    def slowed(self, options: Mapping[str, str], slow: float) -> dict[str, str]:
        """Return the options with a longer deadlock timeout, whose interval timer is the kernel's.

        A value of the study is its own matter.
        """
        return {"deadlock_timeout": f"{round(_DEADLOCK_MS * slow)}ms", **options}

    def neutral(self, engine: Engine, version: str) -> dict[str, str]:
        """Return shared buffers, WAL size, sync method, full-page writes, synchronous commit."""
        chosen = {}
        if engine.buffer_pool:
            chosen["shared_buffers"] = f"{size_of(engine.buffer_pool) // 1024}kB"
        if engine.redo_log:
            chosen["max_wal_size"] = f"{-(-size_of(engine.redo_log) >> 20)}MB"
        if engine.flush_method:
            chosen["wal_sync_method"] = engine.flush_method
        if engine.doublewrite:
            chosen["full_page_writes"] = on_or_off(engine.doublewrite)
        if engine.commit:
            if engine.commit not in _COMMITS:
                raise refuse_setting(self, "commit", engine.commit, _COMMITS)
            chosen["synchronous_commit"] = engine.commit
        return chosen

    def shaping(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the options that initdb fixes permanently."""
        return {n: v for n, v in options.items() if n in _SHAPED_AT_INITIALISE}

    def loading(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return options for shared buffers of fair size, few checkpoints, and no flushes: the copy
        is synced."""
        quick = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "4GB"}
        return quick | {"shared_buffers": f"{LOADING_POOL_BYTES // 1024}kB"}

    def initialise(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return initdb, next to the server's path, without passwords."""
        initdb = Path(program.path).resolve().parent / "initdb"
        if not initdb.exists():
            message = "PostgreSQL is installed without initdb"
            raise BadInput(message, where=str(initdb.parent), hint=self.remedy)
        checksums = ["--data-checksums"] if options.get("data_checksums") == "on" else []
        segment = options.get("wal_segment_size", "").removesuffix("MB")
        return [
            str(initdb),
            f"--pgdata={home.data}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            *checksums,
            *([f"--wal-segsize={segment}"] if segment else []),
        ]

    def command(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return the command; its options override those of the file."""
        settings = {
            "listen_addresses": "" if home.port is None else home.bind,
            "port": str(home.port or PORT),
            "unix_socket_directories": str(home.run),
            "unix_socket_permissions": "0700",
            "log_destination": "stderr",
            "logging_collector": "off",
            # The default is /dev/shm, where a killed server leaves it forever.
            "dynamic_shared_memory_type": "mmap",
        }
        settings |= {n: v for n, v in options.items() if n not in _SHAPED_AT_INITIALISE}
        if home.temp:
            settings["temp_tablespaces"] = _TEMP
        pairs = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [program.path, "-D", str(home.data), *pairs]

    def placements(self, home: Home) -> list[str]:
        """Return the tablespace of temporary tables and files."""
        return [f"CREATE TABLESPACE {_TEMP} LOCATION '{home.temp}'"] if home.temp else []

    def socket_in(self, folder: Path, port: int | None) -> Path:
        """Return the socket of a port in a folder, as libpq names it."""
        return folder / f".s.PGSQL.{port or PORT}"

    def bury(self, home: Home) -> None:
        """Remove the System V segment by which it detects other users of its files.

        Its pid file names the segment; a restarted server removes it itself.
        """
        with suppress(OSError, ValueError, IndexError):
            key, number = map(
                int,
                (home.data / "postmaster.pid").read_text(encoding="utf-8").split("\n")[6].split(),
            )
            remove_shared_memory(key, number)

    def shell(self, address: Address) -> list[str]:
        """Return psql on the Unix socket, which it finds by folder and port."""
        assert address.socket
        port = address.socket.suffix.removeprefix(".")
        where = [f"--host={address.socket.parent}", f"--port={port}"]
        return ["psql", *where, f"--username={address.user}", address.database]

    def address(self, home: Home, options: Mapping[str, str]) -> Address:
        """Return the Unix socket: only its own user may enter the folder."""
        socket = home.run / f".s.PGSQL.{home.port or PORT}"
        return Address(self.name, "tameshi", user="postgres", socket=socket)

    def connect(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """Connect by PostgreSQL's protocol, to the database that always exists."""
        return PostgresClient(address, "postgres", timeout_seconds, secret)

    def enter(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """Connect to the database itself: its user may lack access to others."""
        return PostgresClient(address, address.database, timeout_seconds, secret)

    def encryption(self, client: Client) -> str:
        """Return the session's row of pg_stat_ssl."""
        rows = client.query("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        return str(rows[0][0] or "") if rows else ""

    def room(self, client: Client) -> int | None:
        """Compare the limits of server, database and role with the connections in use."""
        ((server, database, role),) = client.query(
            "SELECT current_setting('max_connections')::int"
            " - CASE WHEN rolsuper THEN 0"
            " ELSE current_setting('superuser_reserved_connections')::int END"
            " - (SELECT sum(numbackends) FROM pg_stat_database)::int + 1,"
            " datconnlimit, rolconnlimit FROM pg_roles, pg_database"
            " WHERE rolname = current_user AND datname = current_database()"
        )
        return int(min([server, *(limit for limit in (database, role) if limit >= 0)]))

    def tables(self, client: Client, database: str) -> set[str]:
        """Return the tables that an unqualified name could mean."""
        rows = client.query(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f') "
            "AND pg_table_is_visible(oid) AND relnamespace <> 'pg_catalog'::regnamespace"
        )
        return {str(name) for (name,) in rows}

    def settle(self, client: Client) -> None:
        """Leave no work for autovacuum and the next checkpoint. The loader runs vacuum."""
        client.query("CHECKPOINT")

    def warm(self, address: Address) -> None:
        """Run pg_prewarm, since a scan of a large table bypasses the pool."""
        with PostgresClient(address, address.database, _WARM_SECONDS, "") as client:
            client.query("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
            client.query(
                "SELECT sum(pg_prewarm(oid)) FROM (SELECT oid FROM pg_class WHERE relkind IN "
                "('r', 'm', 't', 'i') AND relpersistence <> 't' ORDER BY relkind DESC, oid) named"
            )

    def pool(self, address: Address) -> Pool | None:
        """Read pg_buffercache; both extensions come with the package."""
        with PostgresClient(address, address.database, _WARM_SECONDS, "") as client:
            try:
                client.query("CREATE EXTENSION IF NOT EXISTS pg_buffercache")
            except ClientError:
                return None
            ((held, buffers, data),) = client.query(
                "SELECT count(relfilenode), count(*), pg_database_size(current_database()) "
                "FROM pg_buffercache"
            )
        return Pool(held * BLOCK_BYTES, min(data, buffers * BLOCK_BYTES))

    def count(self, client: Client, database: str) -> Counted | None:
        """Read the statistics of the database, the background writer and the log.

        A sample from inside the database counts as two of its transactions.
        """
        sample = counted(self._look(client, database))
        inside = isinstance(client, PostgresClient) and client.database == database
        return replace(sample, own={"server.commits": 2}) if inside else sample

    def _look(self, client: Client, database: str) -> dict[str, Any]:
        there = {str(row[0]) for row in client.query(_which_views())}
        views = "".join(
            f", '{view}', (SELECT row_to_json(v) FROM {view} v)" for view in _VIEWS if view in there
        )
        named = database.replace("'", "''")
        ((statistics,),) = client.query(_LOOK.format(database=named, views=views))
        return dict(statistics if isinstance(statistics, dict) else json.loads(statistics))


def _which_views() -> str:
    listed = ", ".join(f"'{view}'" for view in _VIEWS)
    return f"SELECT relname FROM pg_class WHERE relname IN ({listed})"


def counted(statistics: Mapping[str, Any]) -> Counted:
    """Return metrics from views; columns missing in a version are omitted.

    `blks_read` counts requests to the kernel, whose cache may have served them.
    """
    database = statistics["database"] or {}
    views: dict[str, Any] = {}
    for view in reversed(_VIEWS):
        views |= statistics.get(view) or {}

    def total(source: Mapping[str, Any], *columns: str, worth: int = 1) -> int | None:
        values = [source[column] for column in columns if source.get(column) is not None]
        return round(sum(values) * worth) if values else None

    written = ("buffers_checkpoint", "buffers_clean", "buffers_backend", "buffers_written")
    counters = {
        "server.commits": total(database, "xact_commit"),
        "server.rollbacks": total(database, "xact_rollback"),
        "server.page_requests": total(database, "blks_hit", "blks_read"),
        "server.page_misses": total(database, "blks_read"),
        "server.pages_read": total(database, "blks_read"),
        "server.read_bytes": total(database, "blks_read", worth=BLOCK_BYTES),
        "server.deadlocks": total(database, "deadlocks"),
        "server.pages_written": total(views, *written),
        "server.written_bytes": total(views, *written, worth=BLOCK_BYTES),
        "server.checkpoints": total(views, "checkpoints_timed", "checkpoints_req", "num_done"),
        "server.log_bytes": total(views, "wal_bytes"),
        "server.log_writes": total(views, "wal_write"),
        "server.log_fsyncs": total(views, "wal_sync"),
        "server.doublewrite_pages": total(views, "wal_fpi"),
        "server.pool_waits": total(views, "maxwritten_clean"),
    }
    gauges = {
        "server.threads_running": statistics.get("running"),
        "server.lock_waiting": statistics.get("waiting"),
        "server.checkpoint_age_bytes": statistics.get("log_age"),
    }
    return Counted(
        birth=str(statistics["birth"]),
        counters={name: value for name, value in counters.items() if value is not None},
        gauges={name: float(value) for name, value in gauges.items() if value is not None},
    )


class PostgresClient:
    """Connection by pg8000."""

    def __init__(
        self, address: Address, database: str, timeout_seconds: float, secret: str
    ) -> None:
        where: dict[str, Any] = (
            {"unix_sock": str(address.socket), "ssl_context": False}
            if address.socket
            else {"host": address.host, "port": address.port or PORT}
        )
        self.database = database
        try:
            if address.host:
                plain = address.tls.mode == "disable"
                where |= {"ssl_context": False if plain else address.tls.context()}
            self._connection = Connection(
                address.user,
                **where,
                database=database,
                password=secret or None,
                timeout=timeout_seconds,
                application_name="tameshi",
            )
        except (PgError, InterfaceError, OSError) as error:
            raise ClientError(_words_of(error)) from None
        for statement in PostgreSQL.own_session:
            self.query(statement)

    def query(self, statement: str) -> Rows:
        """Return the rows of a statement."""
        try:
            return self._connection.run(statement) or []
        except (PgError, InterfaceError, OSError) as error:
            raise ClientError(_words_of(error)) from None

    def close(self) -> None:
        """Close the connection."""
        try:
            self._connection.close()
        except (PgError, InterfaceError, OSError):
            return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _words_of(error: Exception) -> str:
    """Return an error of the driver in one line; the server's own words if it has any."""
    said = error.args[0] if error.args else ""
    return str(said.get("M", said)) if isinstance(said, dict) else str(said) or type(error).__name__
