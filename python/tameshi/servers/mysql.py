"""MySQL: the user's own binary or a running server. Not tested on a real one here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tameshi.servers.innodb import Innodb
from tameshi.servers.installed import Program
from tameshi.servers.product import Home


class MySQL(Innodb):
    """MySQL 5.7 and later."""

    name = "mysql"
    title = "MySQL"
    program = "mysql"
    tested = False
    remedy = (
        "Debian has no package of it: install it from its vendor, or use MariaDB instead "
        "(--server mysql=mariadb)."
    )
    pool_bytes_min = 5 << 20  # the manual's minimum of innodb_buffer_pool_size
    own_session = (
        *Innodb.own_session,
        "SET SESSION max_execution_time = 0, transaction_read_only = 0",
    )
    status_table = "performance_schema.global_status"

    def redo_log(self, size_bytes: int, version: str) -> dict[str, str]:
        """Return one capacity since 8.0.30, two files before."""
        match = re.match(r"(\d+)\.(\d+)\.?(\d*)", version)
        number = tuple(int(part or 0) for part in match.groups()) if match else (8, 4, 0)
        if number >= (8, 0, 30):
            return {"innodb_redo_log_capacity": str(size_bytes)}
        return {"innodb_log_file_size": str(size_bytes // 2), "innodb_log_files_in_group": "2"}

    def initialise(self, program: Program, home: Home, options: Mapping[str, str]) -> list[str]:
        """Return the server's own command; root of the new instance has no password."""
        return [
            program.path,
            "--no-defaults",
            "--initialize-insecure",
            f"--datadir={home.data}",
            *self.initial(options),
        ]
