"""Common part of MariaDB and MySQL: InnoDB's settings and counters, and the protocol."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Self

import pymysql
from pymysql.connections import Connection

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

MS_NS = 1_000_000
_WARM_SECONDS = 3600.0

# Status variables by metric, with the value of one unit.
_COUNTERS = {
    "server.statements": ("Questions", 1),
    "server.selects": ("Com_select", 1),
    "server.inserts": ("Com_insert", 1),
    "server.updates": ("Com_update", 1),
    "server.deletes": ("Com_delete", 1),
    "server.commits": ("Com_commit", 1),
    "server.rollbacks": ("Com_rollback", 1),
    "server.page_requests": ("Innodb_buffer_pool_read_requests", 1),
    "server.page_misses": ("Innodb_buffer_pool_reads", 1),
    "server.page_read_aheads": ("Innodb_buffer_pool_read_ahead", 1),
    "server.pages_read": ("Innodb_pages_read", 1),
    "server.pages_written": ("Innodb_pages_written", 1),
    "server.reads": ("Innodb_data_reads", 1),
    "server.read_bytes": ("Innodb_data_read", 1),
    "server.writes": ("Innodb_data_writes", 1),
    "server.written_bytes": ("Innodb_data_written", 1),
    "server.fsyncs": ("Innodb_data_fsyncs", 1),
    "server.log_bytes": ("Innodb_os_log_written", 1),
    "server.log_writes": ("Innodb_log_writes", 1),
    "server.log_fsyncs": ("Innodb_os_log_fsyncs", 1),
    "server.binlog_bytes": ("Binlog_bytes_written", 1),
    "server.binlog_groups": ("Binlog_group_commits", 1),
    "server.doublewrite_pages": ("Innodb_dblwr_pages_written", 1),
    "server.lock_waits": ("Innodb_row_lock_waits", 1),
    "server.lock_wait_ns": ("Innodb_row_lock_time", MS_NS),
    "server.deadlocks": ("Innodb_deadlocks", 1),
    "server.pool_waits": ("Innodb_buffer_pool_wait_free", 1),
}
_GAUGES = {
    "server.pool_bytes": "Innodb_buffer_pool_bytes_data",
    "server.dirty_bytes": "Innodb_buffer_pool_bytes_dirty",
    "server.checkpoint_age_bytes": "Innodb_checkpoint_age",
    "server.history": "Innodb_history_list_length",
    "server.lock_waiting": "Innodb_row_lock_current_waits",
    "server.threads_running": "Threads_running",
}
_LOOK = {"server.statements": 1, "server.selects": 1}
"""Increase of the counters by one sample."""

_OWN_OPTIONS = frozenset(
    """
    basedir bind_address chroot datadir extra_port init_connect init_file init_slave
    log_error pid_file port skip_grant_tables skip_networking socket tmpdir user
    innodb_buffer_pool_dump_at_shutdown innodb_buffer_pool_load_at_startup
    innodb_log_group_home_dir
    """.split()  # noqa: SIM905
)
_SHAPING = re.compile(
    r"innodb_(page_size|data_file_path|undo_tablespaces|log_file_size|log_files_in_group"
    r"|checksum_algorithm|default_row_format|compression.*|encrypt.*)"
    r"|lower_case_table_names|character_set_server|collation_server|default_storage_engine"
)
_AT_INITIALISE = re.compile(
    r"innodb_(page_size|data_file_path|undo_tablespaces|log_file_size)|lower_case_table_names"
)


class Innodb(Product):
    """Server of the MySQL family."""

    account = "mysql"
    roles = ("log", "binlog", "temp")
    log_files = ("ib_logfile*", "#innodb_redo")
    connections_max = 151
    own_session: ClassVar[tuple[str, ...]] = (
        "SET SESSION innodb_lock_wait_timeout = 50, lock_wait_timeout = 86400, "
        "wait_timeout = 28800, net_read_timeout = 600, net_write_timeout = 600, "
        "sql_select_limit = 18446744073709551615, sql_safe_updates = 0",
    )
    own_options = _OWN_OPTIONS
    own_pattern = re.compile(r"plugin_.*|wsrep.*|ssl.*|admin_.*|mysqlx.*|early_plugin.*")
    status_table = ""
    commits: tuple[str, ...] = ("0", "1", "2")

    def neutral(self, engine: Engine, version: str) -> dict[str, str]:
        """Return buffer pool, redo log, flush method, doublewrite, commit."""
        chosen = {}
        if engine.buffer_pool:
            chosen["innodb_buffer_pool_size"] = str(size_of(engine.buffer_pool))
        if engine.redo_log:
            chosen |= self.redo_log(size_of(engine.redo_log), version)
        if engine.flush_method:
            chosen["innodb_flush_method"] = engine.flush_method
        if engine.doublewrite:
            chosen["innodb_doublewrite"] = on_or_off(engine.doublewrite)
        if engine.commit:
            if engine.commit not in self.commits:
                raise refuse_setting(self, "commit", engine.commit, self.commits)
            chosen["innodb_flush_log_at_trx_commit"] = engine.commit
        return chosen

    def redo_log(self, size_bytes: int, version: str) -> dict[str, str]:
        """Return the options for this total size of the redo log."""
        return {"innodb_log_file_size": str(size_bytes)}

    def shaping(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return page size, log size, character set and similar options."""
        return {name: value for name, value in options.items() if _SHAPING.fullmatch(name)}

    def initial(self, options: Mapping[str, str]) -> list[str]:
        """Return options that must be set when the files are made."""
        return as_arguments({n: v for n, v in options.items() if _AT_INITIALISE.fullmatch(n)})

    def loading(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return options for a pool of fair size, and a log flushed once per second."""
        pool = options.get("innodb_buffer_pool_size", "0")
        large = pool if pool.isdigit() and int(pool) > LOADING_POOL_BYTES else LOADING_POOL_BYTES
        chosen = {"innodb_buffer_pool_size": str(large), "innodb_flush_log_at_trx_commit": "0"}
        return chosen | ({"log_bin": "OFF"} if "log_bin" in options else {})

    def command(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return the command: no defaults file, no network unless requested, no buffer pool dump at
        restart."""
        network = (
            ["--skip-networking"]
            if home.port is None
            else [f"--bind-address={home.bind}", f"--port={home.port}"]
        )
        return [
            program.path,
            "--no-defaults",
            f"--datadir={home.data}",
            f"--socket={self.address(home, options).socket}",
            f"--pid-file={home.run / 'pid'}",
            f"--tmpdir={home.temp or home.run}",
            *network,
            "--innodb-buffer-pool-dump-at-shutdown=OFF",
            "--innodb-buffer-pool-load-at-startup=OFF",
            *as_arguments({n: v for n, v in options.items() if n != "log_bin"}),
            *_binlog_arguments(options, home),
            *([f"--innodb-log-group-home-dir={home.log}"] if home.log else []),
        ]

    def shell(self, address: Address) -> list[str]:
        """Return the client of the same name, on the Unix socket."""
        where = [f"--socket={address.socket}", f"--user={address.user}"]
        return [self.name, "--no-defaults", *where, address.database]

    def address(self, home: Home, options: Mapping[str, str]) -> Address:
        """Return the Unix socket, as root without a password: only its own user may enter the
        folder."""
        return Address(self.name, "tameshi", user="root", socket=home.run / "sock")

    def connect(self, address: Address, timeout_seconds: float, secret: str = "") -> Client:
        """Connect by the MySQL protocol."""
        return InnodbClient(address, timeout_seconds, secret, self.own_session)

    def tables(self, client: Client, database: str) -> set[str]:
        """Return the tables that the server lists."""
        named = database.replace("'", "''")
        rows = client.query(
            f"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{named}'"
        )
        return {str(name) for (name,) in rows}

    def table_name(self, address: Address, table: str) -> str:
        """Return it with its database; connections of `enter` have no current one."""
        database = address.database.replace("`", "``")
        return f"`{database}`.`{table}`"

    def encryption(self, client: Client) -> str:
        """Return the session's status variable."""
        rows = client.query("SHOW SESSION STATUS LIKE 'Ssl_version'")
        return str(rows[0][1]) if rows else ""

    def room(self, client: Client) -> int | None:
        """Compare the server's and the account's limits with the connections in use."""
        ((most, own),) = client.query("SELECT @@max_connections, @@SESSION.max_user_connections")
        ((used,),) = client.query(
            f"SELECT VARIABLE_VALUE FROM {self.status_table} "
            "WHERE VARIABLE_NAME = 'Threads_connected'"
        )
        free = int(most) - int(used) + 1  # this connection ends
        return min(free, int(own)) if int(own) else free

    def settle(self, client: Client) -> None:
        """Let the next stop purge and merge everything, so that no start has to."""
        client.query("SET GLOBAL innodb_fast_shutdown = 0")

    def warm(self, address: Address) -> None:
        """Count rows along each index; the first holds the rows."""
        with self.connect(address, _WARM_SECONDS) as client:
            indexes = client.query(
                "SELECT DISTINCT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS "
                f"WHERE TABLE_SCHEMA = '{address.database}' ORDER BY TABLE_NAME, INDEX_NAME"
            )
            for table, index in indexes:
                client.query(
                    f"SELECT COUNT(*) FROM `{address.database}`.`{table}` FORCE INDEX (`{index}`)"
                )

    def pool(self, address: Address) -> Pool | None:
        """Read status variables. InnoDB keeps part of the pool free, which does not count as
        usable."""
        with self.connect(address, _WARM_SECONDS) as client:
            rows = client.query(
                f"SELECT VARIABLE_NAME, VARIABLE_VALUE FROM {self.status_table} WHERE "
                "VARIABLE_NAME IN ('Innodb_buffer_pool_bytes_data', "
                "'Innodb_buffer_pool_pages_free', 'Innodb_page_size')"
            )
            ((size, depth),) = client.query(
                "SELECT @@innodb_buffer_pool_size, @@innodb_lru_scan_depth"
            )
            ((data,),) = client.query(
                "SELECT COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) FROM "
                f"information_schema.TABLES WHERE TABLE_SCHEMA = '{address.database}'"
            )
        status = {str(name).lower(): int(value) for name, value in rows}
        page = status["innodb_page_size"]
        free = min(status["innodb_buffer_pool_pages_free"], int(depth)) * page
        held = status["innodb_buffer_pool_bytes_data"]
        return Pool(held, min(int(data), int(size) - free))

    def count(self, client: Client, database: str) -> Counted | None:
        """Read status variables of the whole server in one statement, with the server's own
        clock."""
        names = [variable for variable, _ in _COUNTERS.values()] + [*_GAUGES.values(), "Uptime"]
        listed = ", ".join(f"'{name}'" for name in names)
        rows = client.query(
            "SELECT VARIABLE_NAME, VARIABLE_VALUE, UNIX_TIMESTAMP() "
            f"FROM {self.status_table} WHERE VARIABLE_NAME IN ({listed})"
        )
        status = {str(name).lower(): str(value) for name, value, _ in rows}
        birth = int(rows[0][2]) - int(status["uptime"])
        counters = {
            metric: int(status[variable.lower()]) * worth
            for metric, (variable, worth) in _COUNTERS.items()
            if status.get(variable.lower(), "").isdigit()
        }
        gauges = {
            metric: float(status[variable.lower()])
            for metric, variable in _GAUGES.items()
            if status.get(variable.lower(), "").isdigit()
        }
        if "server.threads_running" in gauges:
            gauges["server.threads_running"] -= 1  # without this connection
        return Counted(str(birth), counters, gauges, own=_LOOK)

    def known_options(self, program: Program) -> frozenset[str] | None:
        """Return the options that the server lists."""
        return _listed_options(program.path)


@lru_cache
def _listed_options(path: str) -> frozenset[str] | None:
    asked = [path, "--no-defaults", "--verbose", "--help"]
    try:
        done = subprocess.run(
            asked,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=30,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    table = done.stdout.partition("\n-----")[2]
    names = re.findall(r"^([a-z][a-z0-9-]*) ", table, re.M)
    return frozenset(name.replace("-", "_") for name in names) or None


def _binlog_arguments(options: Mapping[str, str], home: Home) -> list[str]:
    """Return the arguments of the binary log: on its own storage, or as the option says.

    `log_bin` takes a file's name on the command line, not a switch.
    """
    switch = options.get("log_bin")
    identity = [] if "server_id" in options else ["--server-id=1"]
    if home.binlog:
        return [f"--log-bin={home.binlog / 'binlog'}", *identity]
    if switch is None:
        return []
    if switch.upper() in ("OFF", "0"):
        return ["--skip-log-bin"]
    return ["--log-bin=binlog", *identity]


def as_arguments(options: Mapping[str, str]) -> list[str]:
    """Return options as arguments of the server's command line."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]


class InnodbClient:
    """Connection by PyMySQL."""

    def __init__(
        self, address: Address, timeout_seconds: float, secret: str, begin: Sequence[str] = ()
    ) -> None:
        where: dict[str, Any] = (
            {"unix_socket": str(address.socket), "ssl_disabled": True}
            if address.socket
            else {"host": address.host, "port": address.port or 3306}
        )
        try:
            if address.host:
                encrypted = {"ssl": address.tls.context()}
                where |= {"ssl_disabled": True} if address.tls.mode == "disable" else encrypted
            self._connection: Connection[Any] = pymysql.connect(
                **where,
                user=address.user,
                password=secret.encode(),  # the library encodes a string as Latin-1
                autocommit=True,
                connect_timeout=max(1, round(timeout_seconds)),
                read_timeout=timeout_seconds,
                write_timeout=timeout_seconds,
            )
        except (pymysql.MySQLError, OSError) as error:
            raise ClientError(words_of(error)) from None
        for statement in begin:
            self.query(statement)

    def query(self, statement: str) -> Rows:
        """Return the rows of a statement."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        except (pymysql.MySQLError, OSError) as error:
            raise ClientError(words_of(error)) from None

    def named(self, statement: str) -> list[dict[str, Any]]:
        """Return the rows of a statement, each by the names of its columns."""
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(statement)
                names = [column[0] for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except (pymysql.MySQLError, OSError) as error:
            raise ClientError(words_of(error)) from None

    def close(self) -> None:
        """Close the connection."""
        if self._connection.open:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def words_of(error: Exception) -> str:
    """Return an error of the driver in one line."""
    return " ".join(str(part) for part in error.args) or type(error).__name__
