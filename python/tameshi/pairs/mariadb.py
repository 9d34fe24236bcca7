"""MariaDB's replication by the binary log: asynchronous and semi-synchronous."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tameshi.core.errors import RunFailed
from tameshi.pairs.replication import Replication
from tameshi.pairs.side import Side
from tameshi.serve.tools import require_tool
from tameshi.servers.innodb import InnodbClient
from tameshi.servers.installed import Program
from tameshi.servers.product import ClientError

USER = "tameshi_replica"
"""User of the standby on the primary, without a password: only programs in the hosts reach it."""
_RIGHTS = (
    "SELECT, RELOAD, PROCESS, LOCK TABLES, SHOW VIEW, EVENT, TRIGGER, "
    "REPLICATION SLAVE, REPLICATION CLIENT"
)
_DATABASE = "tameshi"
_DUMP, _SHELL = "mariadb-dump", "mariadb"
_CONNECTING = range(2000, 2100)
"""Errors of a client that finds no server: the standby tries again by itself."""
_WAIT_MS = 3_600_000
"""Time that a commit waits for the standby. By default it is 10 s, after which commits are
acknowledged without the standby, and the promise is broken."""


class MariaDBAsynchronous(Replication):
    """Asynchronous replication: commits do not wait for the standby."""

    name: ClassVar[str] = "mariadb-asynchronous"
    product = "mariadb"
    port = 3306
    by_log = "binary log"

    def options(self, number: int) -> dict[str, str]:
        """Return a durable binary log with GTIDs, and four threads that apply it."""
        return {
            "log_bin": "ON",
            "server_id": str(number),
            "sync_binlog": "1",
            "log_slave_updates": "ON",
            "gtid_strict_mode": "ON",
            "relay_log": "relay",
            "slave_parallel_threads": "4",
            # Names of hosts are unknown in their network, and a look-up would wait for an answer.
            "skip_name_resolve": "ON",
        }

    def require_tools(self, program: Program) -> None:
        """Require the client's programs."""
        for tool in (_DUMP, _SHELL):
            require_tool(tool, "mariadb-client")

    def prepare(self, primary: Side, standby: Side) -> None:
        """Make the standby's user, and begin the binary log anew: the copy has what was before."""
        primary.query(*_user_statements(), "RESET MASTER")

    def copy(self, primary: Side, standby: Side) -> None:
        """Dump the database over the link into the standby, with the position of the dump."""
        if standby.server.directory.is_empty():
            standby.server.initialise()
        if not standby.is_up:
            standby.server.start()
        standby.query(
            "STOP SLAVE",
            "RESET SLAVE ALL",
            *_user_statements(),
            f"DROP DATABASE IF EXISTS {_DATABASE}",
            "RESET MASTER",
            "SET GLOBAL gtid_slave_pos = ''",
        )
        socket = standby.server.address.socket
        dump = [
            *(_DUMP, "--no-defaults", f"--host={primary.address}", f"--port={self.port}"),
            *(f"--user={USER}", "--single-transaction", "--master-data=1", "--gtid", "--quick"),
            *("--databases", _DATABASE),
        ]
        load = [
            *(_SHELL, "--no-defaults", f"--socket={socket}", "--user=root"),
            "--init-command=SET SESSION sql_log_bin = 0",
        ]
        standby.run_tools(dump, load)

    def attach(self, primary: Side, standby: Side) -> None:
        """Start the standby's threads at the GTID that it has."""
        self._before_attachment(primary, standby)
        standby.query(
            f"CHANGE MASTER TO MASTER_HOST = '{primary.address}', MASTER_PORT = {self.port}, "
            f"MASTER_USER = '{USER}', MASTER_PASSWORD = '', MASTER_USE_GTID = slave_pos, "
            "MASTER_CONNECT_RETRY = 1",
            "SET GLOBAL read_only = ON",
            "START SLAVE",
        )

    def _before_attachment(self, primary: Side, standby: Side) -> None:
        """Do nothing: commits do not wait."""

    def is_attached(self, primary: Side, standby: Side) -> bool:
        """Return whether both threads of the standby run."""
        status = slave_status(standby)
        return status.get("Slave_IO_Running") == "Yes" == status.get("Slave_SQL_Running")

    def problem(self, standby: Side) -> str:
        """Return the error of the thread that has stopped."""
        return error_in(slave_status(standby))

    def arm(self, primary: Side) -> None:
        """Do nothing: commits do not wait."""

    def position(self, primary: Side) -> int:
        """Return the number of the last transaction in the binary log."""
        return sequence(primary.value("SELECT @@GLOBAL.gtid_binlog_pos"))

    def applied(self, standby: Side) -> int:
        """Return the number of the last transaction that the standby has applied."""
        return sequence(standby.value("SELECT @@GLOBAL.gtid_slave_pos"))

    def stop_receiving(self, standby: Side) -> None:
        """Stop the thread that receives."""
        standby.query("STOP SLAVE IO_THREAD")

    def has_caught_up(self, standby: Side) -> bool:
        """Return whether the last whole transaction received has been applied."""
        status = slave_status(standby)
        if problem := error_in(status):
            raise RunFailed(problem, where=standby.name)
        return self.applied(standby) >= sequence(str(status.get("Gtid_IO_Pos") or ""))

    def promote(self, standby: Side) -> None:
        """Forget the old primary, and admit writes."""
        standby.query("STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF")

    def rejoin(self, primary: Side, failed: Side) -> None:
        """Attach it at the end of its own binary log, if the primary's has that GTID, too."""
        failed.server.start()
        last = str(failed.value("SELECT @@GLOBAL.gtid_binlog_pos"))
        history = str(primary.value("SELECT @@GLOBAL.gtid_binlog_state"))
        if not holds(history, last):
            raise RunFailed(
                "the failed side has commits that the new primary does not have",
                where=failed.name,
                found=f"its last one is {last}",
                accepted=[f"one up to {history}"],
            )
        failed.query(
            "STOP SLAVE",
            "RESET SLAVE ALL",
            f"SET GLOBAL gtid_slave_pos = '{last}'",
        )
        self.attach(primary, failed)


class MariaDBSemiSynchronous(MariaDBAsynchronous):
    """Semi-synchronous replication, after sync: commits wait until the standby has received them.

    They are in the primary's binary log by then, and not visible yet in its tables.
    """

    name: ClassVar[str] = "mariadb-semi-synchronous"
    promises = True

    def options(self, number: int) -> dict[str, str]:
        """Return those of the asynchronous one, and the least wait of a receiver that stops.

        It connects to the primary once more, to end its session there. Behind a cut link, or of a
        host without power, it waits for the connection as long as this says, by default until the
        server stops it after 2 s.
        """
        return {**super().options(number), "rpl_semi_sync_slave_kill_conn_timeout": "1"}

    def _before_attachment(self, primary: Side, standby: Side) -> None:
        """Switch on both ends; commits do not wait for the standby before `arm`."""
        primary.query(
            "SET GLOBAL rpl_semi_sync_master_wait_no_slave = OFF",
            "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC",
            f"SET GLOBAL rpl_semi_sync_master_timeout = {_WAIT_MS}",
            "SET GLOBAL rpl_semi_sync_master_enabled = ON",
        )
        standby.query(
            "SET GLOBAL rpl_semi_sync_master_enabled = OFF",
            "SET GLOBAL rpl_semi_sync_slave_enabled = ON",
        )

    def is_attached(self, primary: Side, standby: Side) -> bool:
        """Return whether the threads run and the primary knows the standby as semi-synchronous."""
        if not super().is_attached(primary, standby):
            return False
        rows = primary.query(
            "SHOW GLOBAL STATUS WHERE Variable_name IN "
            "('Rpl_semi_sync_master_status', 'Rpl_semi_sync_master_clients')"
        )
        found = {str(name): str(value) for name, value in rows}
        clients = int(found["Rpl_semi_sync_master_clients"])
        return clients > 0 and found["Rpl_semi_sync_master_status"] == "ON"

    def arm(self, primary: Side) -> None:
        """Let commits wait also when the standby is gone."""
        primary.query("SET GLOBAL rpl_semi_sync_master_wait_no_slave = ON")

    def promote(self, standby: Side) -> None:
        """Switch semi-synchronous replication off on the new primary, which has no standby."""
        super().promote(standby)
        standby.query(
            "SET GLOBAL rpl_semi_sync_slave_enabled = OFF",
            "SET GLOBAL rpl_semi_sync_master_enabled = OFF",
        )

    def rejoin(self, primary: Side, failed: Side) -> None:
        """Recover it as a standby: commits that never were acknowledged leave its binary log."""
        as_standby = {"init_rpl_role": "SLAVE", "rpl_semi_sync_slave_enabled": "ON"}
        usual = failed.server.options
        failed.server.options = {**usual, **as_standby}
        try:
            super().rejoin(primary, failed)
        finally:
            failed.server.options = usual


def sequence(position: str) -> int:
    """Return the number of the last transaction of a GTID position of one domain; 0 if empty."""
    return int(position.rpartition("-")[2] or 0)


def holds(history: str, last: str) -> bool:
    """Return whether a server's `gtid_binlog_state` covers the last GTID of another one."""
    if not last:
        return True
    server, _, number = last.partition("-")[2].partition("-")
    known = (gtid.strip().split("-") for gtid in history.split(",") if gtid.strip())
    return any(each[1] == server and int(each[2]) >= int(number) for each in known)


def error_in(status: Mapping[str, Any]) -> str:
    """Return the error of the thread of a standby that has stopped; empty if none has.

    A thread that cannot connect tries again.
    """
    for thread in ("IO", "SQL"):
        number = int(status.get(f"Last_{thread}_Errno") or 0)
        stopped = status.get(f"Slave_{thread}_Running") == "No"
        if stopped and number and number not in _CONNECTING:
            return str(status[f"Last_{thread}_Error"])
    return ""


def slave_status(standby: Side) -> dict[str, Any]:
    """Return SHOW SLAVE STATUS by column; empty if the server is no standby."""
    with standby.client() as client:
        assert isinstance(client, InnodbClient)
        try:
            rows = client.named("SHOW SLAVE STATUS")
        except ClientError as error:
            raise RunFailed(f"the standby does not answer: {error}", where=standby.name) from None
    return rows[0] if rows else {}


def _user_statements() -> tuple[str, ...]:
    """Return the statements that make the standby's user on one server alone."""
    return (
        "SET SESSION sql_log_bin = 0",
        f"CREATE OR REPLACE USER '{USER}'@'%'",
        f"GRANT {_RIGHTS} ON *.* TO '{USER}'@'%'",
    )
