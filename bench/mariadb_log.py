"""Redo of each kind of change in MariaDB, and the pages that its purge reads and writes.

    python -m bench.mariadb_log [--rows 3000] [--place FOLDER]

A private server with a pool of 64 MiB has a table of 300,000 rows and an index. Each kind of change
is made as transactions of one client while a read view is open, so that nothing is purged: the
growth of the log per transaction is its redo. Then the table's pages are written and replaced, the
view is closed, and the server purges: the growth of the log is that of purge, and pages read are
those that it needed. Counts do not depend on the machine's speed. `redo_records` and `purge` of the
profile mariadb-10.11 are from these figures.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pymysql
from pymysql.cursors import Cursor
from rich.console import Console
from rich.table import Table

from bench._private_server import served
from tameshi.servers.private import PrivateServer

ROOT = Path(__file__).resolve().parents[1]
ROWS, CHUNK = 300_000, 5_000
CHANGED = 100_000
"""Rows that are changed; the others' pages replace theirs in the pool."""
ENGINE = {"buffer_pool": "64 MiB", "redo_log": "1 GiB", "commit": "2", "flush_method": "O_DIRECT"}
TABLE = """create table changes (id int primary key, k int not null, n int not null,
c char(120) not null, key (k)) engine=innodb character set latin1"""
METRICS = (
    "log_lsn_current",
    "buffer_page_read_index_leaf",
    "purge_upd_exist_or_extern_records",
    "purge_del_mark_records",
)
LEAVES = METRICS[1]

Change = Callable[[Cursor, random.Random], None]


def row(draw: random.Random) -> int:
    """Return the number of a row that may be changed."""
    return draw.randrange(CHANGED)


def add_one(cursor: Cursor, draw: random.Random) -> None:
    """Change four bytes that no index has."""
    cursor.execute("update changes set n = n + 1 where id = %s", (row(draw),))


def replace_text(cursor: Cursor, draw: random.Random) -> None:
    """Change 120 bytes that no index has."""
    cursor.execute("update changes set c = %s where id = %s", (f"{draw.random():.118f}", row(draw)))


def change_key(cursor: Cursor, draw: random.Random) -> None:
    """Change an indexed number by one."""
    cursor.execute("update changes set k = k + 1 where id = %s", (row(draw),))


def delete(cursor: Cursor, draw: random.Random) -> None:
    """Delete a row."""
    cursor.execute("delete from changes where id = %s", (row(draw),))


def delete_and_insert(cursor: Cursor, draw: random.Random) -> None:
    """Delete a row and insert it again, in one transaction."""
    number = row(draw)
    cursor.execute("begin")
    cursor.execute("delete from changes where id = %s", (number,))
    values = (number, draw.randrange(ROWS), f"{draw.random():.118f}")
    cursor.execute("insert into changes values (%s, %s, 0, %s)", values)
    cursor.execute("commit")


CHANGES: dict[str, Change] = {
    "4 bytes changed": add_one,
    "120 bytes changed": replace_text,
    "indexed number changed": change_key,
    "row deleted and inserted": delete_and_insert,
    "row deleted": delete,
}
"""The last one leaves fewer rows behind."""


def connected(server: PrivateServer) -> pymysql.Connection[Cursor]:
    """Return a connection whose statements are transactions."""
    address = server.address
    return pymysql.connect(
        unix_socket=str(address.socket),
        user=address.user,
        database=address.database,
        autocommit=True,
    )


def counters(cursor: Cursor) -> dict[str, int]:
    """Return the server's counters, and the number of transactions that are not purged."""
    names = ", ".join(f"'{name}'" for name in METRICS)
    cursor.execute(
        f"select name, count from information_schema.innodb_metrics where name in ({names})"
    )
    found = {str(name): int(count) for name, count in cursor.fetchall()}
    cursor.execute("show global status like 'innodb_history_list_length'")
    return found | {"history": int(cursor.fetchall()[0][1])}


def load(cursor: Cursor, draw: random.Random) -> None:
    """Fill the table."""
    cursor.execute("set global innodb_monitor_enable = 'all'")
    cursor.execute(TABLE)
    for first in range(0, ROWS, CHUNK):
        rows = ", ".join(
            f"({number}, {draw.randrange(ROWS)}, 0, '{draw.random():.118f}')"
            for number in range(first, first + CHUNK)
        )
        cursor.execute(f"insert into changes values {rows}")


def purged(cursor: Cursor, *, seconds: float = 60) -> dict[str, int]:
    """Return the counters once all history is purged."""
    end = time.monotonic() + seconds
    while (found := counters(cursor))["history"] > 0:
        if time.monotonic() > end:
            raise SystemExit(f"{found['history']} transactions are not purged after {seconds} s")
        time.sleep(0.1)
    return found


def measure(server: PrivateServer, change: Change, rows: int, draw: random.Random) -> list[float]:
    """Return redo of a transaction, redo of its purge, and table pages read for purge."""
    with connected(server) as client, connected(server) as reader:
        cursor, view = client.cursor(), reader.cursor()
        purged(cursor)
        view.execute("start transaction with consistent snapshot")
        before = counters(cursor)
        for _ in range(rows):
            change(cursor, draw)
        changed = counters(cursor)
        for _ in range(3):
            cursor.execute(f"select sum(n) from changes where id >= {CHANGED}")
            # A page is young if it is used again after a second.
            time.sleep(1.1)
        idle = counters(cursor)
        reader.rollback()
        after = purged(cursor)
    of_purge = {name: after[name] - idle[name] for name in METRICS}
    redo = changed["log_lsn_current"] - before["log_lsn_current"]
    return [each / rows for each in (redo, of_purge["log_lsn_current"], of_purge[LEAVES])]


def report(figures: Mapping[str, Sequence[float]], version: str) -> Table:
    """Return the table of all kinds of changes."""
    table = Table(title=version)
    for column in ("transaction", "redo, B", "redo of purge, B", "leaves read for purge"):
        table.add_column(column)
    for name, (redo, purge, leaves) in figures.items():
        table.add_row(name, f"{redo:.1f}", f"{purge:.1f}", f"{leaves:.2f}")
    return table


def main() -> None:
    """Measure all kinds of changes, and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=3000, help="transactions of each kind")
    parser.add_argument("--place", type=Path, default=ROOT / "build")
    asked = parser.parse_args()
    asked.place.mkdir(parents=True, exist_ok=True)
    draw, figures = random.Random(1), {}
    with tempfile.TemporaryDirectory(dir=asked.place) as folder:
        # The server's user has to get through.
        Path(folder).chmod(0o755)
        with served(Path(folder), "mariadb", ENGINE, room_bytes=2 << 30) as server:
            with connected(server) as client:
                cursor = client.cursor()
                load(cursor, draw)
                cursor.execute("select version()")
                version = str(cursor.fetchall()[0][0])
            for name, change in CHANGES.items():
                figures[name] = measure(server, change, asked.rows, draw)
    Console().print(report(figures, version))


if __name__ == "__main__":
    main()
