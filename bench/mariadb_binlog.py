"""Syncs and bytes of MariaDB's binary log per transaction, without it, unsynced and synced.

    python -m bench.mariadb_binlog [--transactions 2000] [--place FOLDER]

A private server has a table of 4,000 rows in its pool. One client changes a row per transaction;
`strace` counts the server's syncs meanwhile. If FOLDER is on a file system that nothing else uses,
the statistics of its device say how many writes and bytes a transaction made. Counts do not depend
on the machine's speed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymysql
from pymysql.cursors import Cursor
from rich.console import Console
from rich.table import Table

from bench._private_server import served
from bench.mariadb_log import ROOT
from tameshi.servers.private import PrivateServer

ROWS = 4000
SECTOR_BYTES = 512
TABLE = """create table sbtest1 (id int primary key, k int not null, c char(120) not null,
pad char(60) not null, key (k)) engine=innodb character set latin1"""
LOGGING = {"log_bin": "ON", "binlog_format": "ROW"}
MODES: dict[str, dict[str, str]] = {
    "off": {"log_bin": "OFF"},
    "sync_binlog = 0": {**LOGGING, "sync_binlog": "0"},
    "sync_binlog = 1": {**LOGGING, "sync_binlog": "1"},
}
SIZES = {"redo_log": "256 MiB", "buffer_pool": "64 MiB"}
CALLS = re.compile(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) .*sync$", re.MULTILINE)
"""Line of strace's table: share, seconds, microseconds per call, calls."""


@contextmanager
def syncs_counted(pid: int, file: Path) -> Iterator[None]:
    """Count a process's syncs into a file."""
    line = ["strace", "-c", "-f", "-e", "trace=fsync,fdatasync", "-o", str(file), "-p", str(pid)]
    with subprocess.Popen(line, stderr=subprocess.DEVNULL) as tracer:
        time.sleep(1)
        yield
        tracer.terminate()


def device_counts(place: Path) -> tuple[int, int]:
    """Return writes and bytes written of the device under a folder."""
    number = place.stat().st_dev
    path = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
    fields = path.read_text("utf-8").split()
    return int(fields[4]), int(fields[6]) * SECTOR_BYTES


def status(cursor: Cursor) -> dict[str, int]:
    """Return counters of the logs."""
    names = "'Binlog_bytes_written', 'Innodb_os_log_written'"
    cursor.execute(f"show global status where variable_name in ({names})")
    return {str(name): int(value) for name, value in cursor.fetchall()}


def measure(server: PrivateServer, transactions: int, place: Path) -> list[float]:
    """Return syncs, binary log, redo, writes and written bytes per transaction."""
    address = server.address
    client = pymysql.connect(
        unix_socket=str(address.socket),
        user=address.user,
        database=address.database,
        autocommit=True,
    )
    with client, client.cursor() as cursor:
        cursor.execute(TABLE)
        rows = [(number, number, "c" * 120, "p" * 60) for number in range(ROWS)]
        cursor.executemany("insert into sbtest1 values (%s, %s, %s, %s)", rows)
        os.sync()
        before, written = status(cursor), device_counts(place)
        assert server.pid
        with syncs_counted(server.pid, place / "syncs"):
            for number in range(transactions):
                row = number * 7919 % ROWS
                cursor.execute(f"update sbtest1 set c = '{number:0120}' where id = {row}")
        after, end = status(cursor), device_counts(place)
    calls = sum(int(found) for found in CALLS.findall((place / "syncs").read_text("utf-8")))
    logs = [after[name] - before[name] for name in sorted(before)]
    device = [after - before for before, after in zip(written, end, strict=True)]
    return [each / transactions for each in (calls, *logs, *device)]


def main() -> None:
    """Measure each setting, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--transactions", type=int, default=2000)
    parser.add_argument("--place", type=Path, default=ROOT / "build")
    asked = parser.parse_args()
    asked.place.mkdir(parents=True, exist_ok=True)
    table = Table(title="per transaction")
    for column in ("binary log", "syncs", "binary log, B", "redo, B", "writes", "written, B"):
        table.add_column(column)
    for name, options in MODES.items():
        with tempfile.TemporaryDirectory(dir=asked.place) as folder:
            # The server's user has to get through.
            Path(folder).chmod(0o755)
            with served(Path(folder), "mariadb", {**SIZES, "options": options}) as server:
                counts = measure(server, asked.transactions, Path(folder))
        table.add_row(name, *(f"{count:.2f}" for count in counts))
    Console().print(table)


if __name__ == "__main__":
    main()
