"""MariaDB."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.servers.innodb import Innodb
from tameshi.servers.installed import Program
from tameshi.servers.product import Client, Counted, Home


class MariaDB(Innodb):
    """MariaDB as its package installs it; tested with 10.11."""

    name = "mariadb"
    title = "MariaDB"
    program = "mariadb"
    remedy = "On Debian: apt-get install mariadb-server"
    # With pages of 16 KiB; 10.11 prints it when it refuses less.
    pool_bytes_min = 6 << 20
    own_session = (
        "SET SESSION max_statement_time = 0, idle_transaction_timeout = 0, "
        "idle_readonly_transaction_timeout = 0, idle_write_transaction_timeout = 0, "
        "tx_read_only = 0",
        *Innodb.own_session,
    )
    commits = ("0", "1", "2", "3")
    status_table = "information_schema.GLOBAL_STATUS"

    def count(self, client: Client, database: str) -> Counted | None:
        """Count the log's writes among the writes: since 10.8 the server counts them separately.

        Log bytes are those appended, not the blocks in which they were written.
        """
        counted = super().count(client, database)
        if counted is None or "server.log_fsyncs" in counted.counters:
            return counted
        counters = counted.counters
        with_log = {
            "server.writes": counters["server.writes"] + counters["server.log_writes"],
            "server.written_bytes": counters["server.written_bytes"] + counters["server.log_bytes"],
        }
        return replace(counted, counters={**counters, **with_log})

    def initialise(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return the package's script; root of the new instance has no password."""
        prefix = Path(program.path).resolve().parent.parent
        return [
            str(_script(prefix)),
            "--no-defaults",
            f"--basedir={prefix}",
            f"--datadir={home.data}",
            # Two instances made at once have temporary tables of the same name.
            f"--tmpdir={home.run}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            *self.initial(options),
        ]


def _script(prefix: Path) -> Path:
    for name in ("mariadb-install-db", "mysql_install_db"):
        for folder in (prefix / "bin", prefix / "scripts"):
            if (folder / name).exists():
                return folder / name
        if script := shutil.which(name):
            return Path(script)
    raise BadInput(
        "MariaDB is installed without the script that makes a data directory",
        where=str(prefix),
        accepted=["mariadb-install-db in bin or scripts"],
        hint=MariaDB.remedy,
    )
