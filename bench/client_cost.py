"""Client cost per transaction: Tameshi against sysbench and pgbench, in alternating pairs.

    python -m bench.client_cost [--pairs 10] [--seconds 5] [--write] [--place FOLDER]

Processor time per transaction on one private server and the same tables: sysbench's oltp_read_write
and oltp_point_select on MariaDB; pgbench's select-only and simple-update, its built-in scripts with
prepared statements, on PostgreSQL. In addition, the cost of a TPC-C statement relative to one of
oltp_read_write. Processor time is that of the whole process: Tameshi's from connecting to the end
of its record, the others' from start to end. A pair runs each once, in alternating order; a ratio
is a geometric mean over pairs with its 95 % interval. `--write` writes
docs/validation/client-cost.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import t as student

from bench._private_server import served
from tameshi.core.compiled import Oltp, database_target
from tameshi.servers.private import PrivateServer

ROOT = Path(__file__).resolve().parents[1]
CLIENTS = 2
ROWS = 20_000
TABLES = 2
ENGINES = {
    "mariadb": {"buffer_pool": "256 MiB", "redo_log": "256 MiB", "commit": "0"},
    "postgresql": {"buffer_pool": "256 MiB", "redo_log": "256 MiB", "commit": "off"},
}
"""Settings without disk waits at commit: only the client is measured."""
OLTP = {"clients": CLIENTS, "tables": TABLES, "rows": ROWS, "popularity": "uniform"}
PROGRAMS: dict[str, dict[str, Any]] = {
    "read_write": {"oltp": {"mix": "read_write", **OLTP}},
    "point_select": {"oltp": {"mix": "point_select", **OLTP}},
    "select-only": {"pgbench": {"mix": "select_only", "clients": CLIENTS, "scale": 1}},
    "simple-update": {"pgbench": {"mix": "simple_update", "clients": CLIENTS, "scale": 1}},
    "tpcc": {"tpcc": {"warehouses": CLIENTS, "clients": CLIENTS}},
}
"""TPC-C has a warehouse per client. On a single one, clients wait for each other's rows, processors
idle, and the kernel's wake-ups count as the client's time."""
STATEMENTS = {"select-only": 1, "simple-update": 5}
"""Statements of pgbench's scripts, including BEGIN and END."""
ONCE = """
import json, resource, sys, time
from tameshi._core import Oltp

run = Oltp(json.load(sys.stdin))
before = resource.getrusage(resource.RUSAGE_SELF)
run.execute(sys.argv[1], time.monotonic_ns())
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
"""
"""Tameshi's client: spec on standard input, processor time on standard output. Imports of this
module would run additional threads."""
BARS = {"sysbench": 1.0, "pgbench": 1.5, "oltp": 1.0}
"""Upper bounds on Tameshi's cost, as a share of the peer's."""


@dataclass(frozen=True)
class Cost:
    """Run: transactions, statements and processor time of the client."""

    transactions: int
    statements: int
    cpu_s: float

    @property
    def per_transaction_us(self) -> float:
        """Return processor time in µs."""
        return self.cpu_s / self.transactions * 1e6

    @property
    def per_statement_us(self) -> float:
        """Return processor time in µs."""
        return self.cpu_s / self.statements * 1e6


@dataclass(frozen=True)
class Match:
    """Comparison: the two runs of a pair, and the compared value."""

    name: str
    product: str
    against: str
    ours: Callable[[], Cost]
    theirs: Callable[[], Cost]
    per_statement: bool = False

    def value(self, cost: Cost) -> float:
        """Return the value in µs."""
        return cost.per_statement_us if self.per_statement else cost.per_transaction_us


@dataclass(frozen=True)
class Row:
    """Means of a comparison in µs, statements per transaction of both, ratio with its interval."""

    match: Match
    ours: float
    theirs: float
    statements: tuple[float, float]
    ratio: tuple[float, float, float]


def spec_of(server: PrivateServer, program: str, seconds: float) -> dict[str, Any]:
    """Return a run's spec for the driver: one phase, recorded each second."""
    return {
        "target": database_target(server.address.as_json()),
        "program": PROGRAMS[program],
        "data_seed": 1,
        "seed": time.monotonic_ns() % 1_000_000,
        "interval": "1 s",
        "phases": [{"name": "run", "ramp": "0 s", "time": f"{round(seconds * 1000)} ms"}],
    }


def ours(server: PrivateServer, program: str, seconds: float) -> Cost:
    """Run Tameshi's client in a process of its own, with everything recorded."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("series", "histograms"):
            (Path(folder) / name).mkdir()
        words = [sys.executable, "-c", ONCE, folder]
        spec = json.dumps(spec_of(server, program, seconds))
        done = subprocess.run(
            words, input=spec, capture_output=True, encoding="utf-8", check=True, cwd=ROOT
        )
        rows = pl.read_csv(Path(folder) / "series" / "load.csv")
    cpu_s = float(done.stdout)

    def total(metric: str) -> int:
        return int(rows.filter(pl.col("metric") == metric)["value"].sum())

    return Cost(total("transaction.count"), total("statement.count"), cpu_s)


def timed(words: Sequence[str]) -> tuple[str, float]:
    """Return a command's output and its processor time with all threads, in seconds."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read()
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}:\n{text}")
    return text, usage.ru_utime + usage.ru_stime


def number_in(pattern: str, text: str) -> int:
    """Return the number in a line."""
    found = re.search(pattern, text)
    if not found:
        raise RuntimeError(f"no {pattern!r} in:\n{text}")
    return int(found[1])


def sysbench(server: PrivateServer, script: str, seconds: float) -> Cost:
    """Run the same transactions on the same tables with sysbench."""
    address = server.address
    text, cpu_s = timed(
        [
            *("sysbench", f"oltp_{script}", "--db-driver=mysql", f"--threads={CLIENTS}"),
            *(f"--mysql-socket={address.socket}", f"--mysql-user={address.user}"),
            *(f"--mysql-db={address.database}", f"--tables={TABLES}", f"--table-size={ROWS}"),
            *(f"--time={math.ceil(seconds)}", "--rand-type=uniform", "run"),
        ]
    )
    transactions = number_in(r"transactions: +(\d+)", text)
    return Cost(transactions, number_in(r"queries: +(\d+)", text), cpu_s)


def pgbench(server: PrivateServer, script: str, seconds: float) -> Cost:
    """Run the same transactions on the same tables with pgbench."""
    address = server.address
    assert address.socket
    program = Path(server.program.path).resolve().parent / "pgbench"
    text, cpu_s = timed(
        [
            *(str(program), "--no-vacuum", "--protocol=prepared", f"--builtin={script}"),
            *(f"--client={CLIENTS}", f"--jobs={CLIENTS}", f"--time={math.ceil(seconds)}"),
            *(f"--host={address.socket.parent}", f"--port={address.socket.suffix[1:]}"),
            *(f"--username={address.user}", address.database),
        ]
    )
    transactions = number_in(r"transactions actually processed: (\d+)", text)
    return Cost(transactions, transactions * STATEMENTS[script], cpu_s)


def matches(mariadb: PrivateServer, postgresql: PrivateServer, seconds: float) -> list[Match]:
    """Return every comparison."""
    found = [
        Match(
            f"oltp_{script}",
            *("MariaDB", "sysbench"),
            partial(ours, mariadb, script, seconds),
            partial(sysbench, mariadb, script, seconds),
        )
        for script in ("read_write", "point_select")
    ]
    for script in STATEMENTS:
        found.append(
            Match(
                script,
                *("PostgreSQL", "pgbench"),
                partial(ours, postgresql, script, seconds),
                partial(pgbench, postgresql, script, seconds),
            )
        )
    tpcc = Match(
        "TPC-C, a statement",
        *("MariaDB", "oltp"),
        partial(ours, mariadb, "tpcc", seconds),
        partial(ours, mariadb, "read_write", seconds),
        per_statement=True,
    )
    return [*found, tpcc]


def row_of(match: Match, pairs: Sequence[tuple[Cost, Cost]]) -> Row:
    """Return means of both and the ratio of a comparison's pairs."""
    values = [(match.value(a), match.value(b)) for a, b in pairs]
    return Row(
        match,
        fmean(a for a, _ in values),
        fmean(b for _, b in values),
        (
            fmean(a.statements / a.transactions for a, _ in pairs),
            fmean(b.statements / b.transactions for _, b in pairs),
        ),
        interval([a / b for a, b in values]),
    )


def interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios and its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    half = float(student.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
    middle = fmean(logs)
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def measured(place: Path, pairs: int, seconds: float, console: Console) -> list[Row]:
    """Return all comparisons, pair by pair."""
    with ExitStack() as stack:
        mariadb, postgresql = (
            stack.enter_context(served(place, name, ENGINES[name])) for name in ENGINES
        )
        for server, program in (
            *((mariadb, "read_write"), (mariadb, "tpcc")),
            (postgresql, "simple-update"),
        ):
            Oltp(spec_of(server, program, seconds)).load()
        all_of = matches(mariadb, postgresql, seconds)
        costs: list[list[tuple[Cost, Cost]]] = [[] for _ in all_of]
        for match in all_of:
            match.ours()  # warms the pool
        for pair in track(range(pairs), "pairs", console=console):
            for match, own in zip(all_of, costs, strict=True):
                if pair % 2 == 0:
                    own.append((match.ours(), match.theirs()))
                else:
                    second = match.theirs()
                    own.append((match.ours(), second))
    return [row_of(match, own) for match, own in zip(all_of, costs, strict=True)]


HEADINGS = ["transaction", "on", "beside", "ours, µs", "theirs, µs", "statements", "ratio", "bar"]


def cells(row: Row) -> list[str]:
    """Return a row as texts."""
    middle, low, high = row.ratio
    mine, others = row.statements
    return [
        *(row.match.name, row.match.product, row.match.against),
        *(f"{row.ours:.1f}", f"{row.theirs:.1f}", f"{mine:.1f} / {others:.1f}"),
        f"{middle:.2f} ({low:.2f}–{high:.2f})",
        f"≤ {BARS[row.match.against]:g}",
    ]


def page(rows: Sequence[Row], pairs: int, seconds: float) -> str:
    """Return the table as a page of docs/validation."""
    programs = [["sysbench", "--version"], ["psql", "--version"], ["mariadbd", "--version"]]
    said = [
        subprocess.run(p, capture_output=True, encoding="utf-8", check=True)
        .stdout.split("\n")[0]
        .strip()
        for p in programs
    ]
    lines = [
        "# What a transaction costs the client",
        "",
        "<!-- written by `python -m bench.client_cost --write` -->",
        "",
        f"Processor time of the client per transaction, in µs, {CLIENTS} connections by Unix",
        f"socket, {pairs} alternating pairs of {seconds:g} s; {said[0]}, {said[1]},",
        f"{said[2]}, Linux {platform.release()}.",
        "Processor time is the whole process's: ours from connecting to the end of its record, the",
        "others' from start to end, some hundredths of a second before the first transaction",
        "included. Both work on the same server, tables and keys (uniform), with prepared",
        "statements; commits wait for no disk. pgbench's are its built-in scripts, on tables that",
        "our `pgbench` program made; it has the server write CURRENT_TIMESTAMP where our client",
        "sends a time. The last row compares statements; TPC-C has a warehouse for each client,",
        "because processors that idle during waits for rows cost the client wake-up time.",
        "Ratios are ours to the others', with a 95 % interval.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|" + "---|" * len(HEADINGS),
        *("| " + " | ".join(cells(row)) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--place", type=Path, help="folder that the servers' users can access")
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="tameshi-bench-", dir=arguments.place) as name:
        place = Path(name)
        place.chmod(0o755)
        rows = measured(place, arguments.pairs, arguments.seconds, console)
    table = Table(*HEADINGS)
    for row in rows:
        table.add_row(*cells(row))
    console.print(table)
    if arguments.write:
        path = ROOT / "docs" / "validation" / "client-cost.md"
        path.write_text(page(rows, arguments.pairs, arguments.seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
