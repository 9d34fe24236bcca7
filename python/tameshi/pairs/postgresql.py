"""PostgreSQL's streaming replication: asynchronous, and three levels of synchronous commit."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

from tameshi import guard
from tameshi.core.errors import BadInput, RunFailed
from tameshi.pairs.replication import Replication
from tameshi.pairs.side import Side
from tameshi.servers.installed import Program
from tameshi.servers.postgresql import PostgreSQL

STANDBY = "standby"
"""Name of the standby's connection, which synchronous commits wait for."""
_USER = "postgres"
_FOR_REWIND = {"wal_log_hints": "on", "wal_keep_size": "256MB"}
_BASE_BACKUP, _REWIND = "pg_basebackup", "pg_rewind"
_SECONDS = 60.0
_POLL_SECONDS = 0.005


class PostgreSQLStreaming(Replication):
    """Streaming replication: commits do not wait for the standby."""

    name: ClassVar[str] = "postgresql-asynchronous"
    product = "postgresql"
    port = 5432
    by_log = "pg_rewind"
    commit: ClassVar[str] = ""
    """Level of synchronous commit; empty: asynchronous."""

    def options(self, number: int) -> dict[str, str]:
        """Return what a standby and pg_rewind need: log of replicas, and enough of it."""
        options = {"wal_level": "replica", **_FOR_REWIND}
        return options | ({"synchronous_commit": self.commit} if self.commit else {})

    def require_tools(self, program: Program) -> None:
        """Require the programs that come with the server."""
        for tool in (_BASE_BACKUP, _REWIND):
            if not _next_to(program, tool).exists():
                raise BadInput(
                    "PostgreSQL is installed without a program that a standby needs",
                    where=str(_next_to(program, tool).parent),
                    found=f"no {tool}",
                    hint=PostgreSQL.remedy,
                )

    def prepare(self, primary: Side, standby: Side) -> None:
        """Admit both addresses, since sides change their roles; the copy has the same file."""
        lines = [
            f"host {database} {_USER} {side.address}/32 trust\n"
            for side in (primary, standby)
            for database in ("replication", "all")
        ]
        with guard.append_file(primary.server.home.data / "pg_hba.conf") as file:
            file.write("".join(lines).encode())
        # pg_rewind recovers a killed server without the options of its command line.
        in_file = (f"ALTER SYSTEM SET {name} = '{value}'" for name, value in _FOR_REWIND.items())
        primary.query(*in_file, "SELECT pg_reload_conf()")

    def copy(self, primary: Side, standby: Side) -> None:
        """Copy the primary's files by pg_basebackup, and start the standby on them."""
        standby.server.kill()
        standby.server.directory.empty()
        data = standby.server.home.data
        standby.run_tools(
            [
                str(_next_to(standby.server.program, _BASE_BACKUP)),
                *(f"--pgdata={data}", "--checkpoint=fast"),
                *("--wal-method=stream", "--write-recovery-conf"),
                f"--dbname={self._way_to(primary)}",
            ]
        )
        standby.server.start()

    def attach(self, primary: Side, standby: Side) -> None:
        """Do nothing: a standby connects as its file says."""

    def is_attached(self, primary: Side, standby: Side) -> bool:
        """Return whether the primary streams to the standby."""
        statement = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
        return int(primary.value(statement)) == 1

    def problem(self, standby: Side) -> str:
        """Return the end of the standby; it tries to connect again by itself."""
        return standby.server.ended() or ""

    def arm(self, primary: Side) -> None:
        """Name the standby that commits wait for, and wait until the primary does."""
        if not self.commit:
            return
        primary.query(
            f"ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'", "SELECT pg_reload_conf()"
        )
        statement = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        end = time.monotonic() + _SECONDS
        while int(primary.value(statement)) != 1:
            if time.monotonic() > end:
                message = "the primary does not wait for its standby"
                raise RunFailed(message, where=primary.name)
            time.sleep(_POLL_SECONDS)

    def position(self, primary: Side) -> int:
        """Return the position of the log's end, in bytes."""
        return int(primary.value("SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')"))

    def applied(self, standby: Side) -> int:
        """Return the position of the last record replayed, in bytes."""
        statement = "SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')"
        return int(standby.value(statement) or 0)

    def stop_receiving(self, standby: Side) -> None:
        """Do nothing: promotion ends the receiver, and the primary is fenced."""

    def has_caught_up(self, standby: Side) -> bool:
        """Return whether all records received have been replayed."""
        replayed = "pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn()"
        return bool(standby.value(f"SELECT COALESCE({replayed}, true)"))

    def promote(self, standby: Side) -> None:
        """End recovery; commits wait for no standby."""
        if not standby.value(f"SELECT pg_promote(true, {_SECONDS:.0f})"):
            message = f"the standby was not promoted in {_SECONDS:g} s"
            raise RunFailed(message, where=standby.name)
        standby.query("ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")

    def rejoin(self, primary: Side, failed: Side) -> None:
        """Rewind its files to the common past by pg_rewind, and start it as a standby."""
        # pg_rewind reads the new timeline from the control file, which a checkpoint writes.
        primary.query("CHECKPOINT")
        data = failed.server.home.data
        failed.run_tools(
            [
                str(_next_to(failed.server.program, _REWIND)),
                f"--target-pgdata={data}",
                f"--source-server={self._way_to(primary)} dbname=postgres",
                "--write-recovery-conf",
            ]
        )
        failed.server.start()

    def _way_to(self, primary: Side) -> str:
        """Return the connection string of a standby's tools and of its receiver."""
        place = f"host={primary.address} port={self.port} user={_USER}"
        return f"{place} application_name={STANDBY}"


class PostgreSQLRemoteWrite(PostgreSQLStreaming):
    """Synchronous commit, until the standby's kernel has the log."""

    name: ClassVar[str] = "postgresql-remote-write"
    commit = "remote_write"
    promises = True


class PostgreSQLOn(PostgreSQLStreaming):
    """Synchronous commit, until the standby's drive has the log."""

    name: ClassVar[str] = "postgresql-on"
    commit = "on"
    promises = True


class PostgreSQLRemoteApply(PostgreSQLStreaming):
    """Synchronous commit, until queries on the standby see it."""

    name: ClassVar[str] = "postgresql-remote-apply"
    commit = "remote_apply"
    promises = True


def _next_to(program: Program, name: str) -> Path:
    """Return the path of a program that comes with the server."""
    return Path(program.path).resolve().parent / name
