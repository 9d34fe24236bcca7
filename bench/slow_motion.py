"""The same databases on served drives at their own pace and in slow motion.

    python -m bench.slow_motion [--slow 4] [--seconds 20] [--repeat 3] [--engine NAME …] [--write]

Cells that both factors can carry: disks and cloud volumes under few clients, and a power cut under
each engine. Factors alternate. A figure is the median of the repetitions, in slowed time. `--write`
writes docs/validation/slow-motion.md. Needs root and a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tameshi.record import store

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/slow-motion.md"
BAR = 0.03
"""Largest difference of a cell's rate or mean latency."""
RATES = ("transaction.rate", "transaction.latency.mean")
PER_TRANSACTION = ("disk.read_rate", "disk.write_rate")
ENGINES = {
    "mariadb": 'buffer_pool = "16 MiB"\nredo_log = "16 MiB"\ncommit = "1"',
    "postgresql": 'buffer_pool = "16 MiB"\nredo_log = "64 MiB"\ncommit = "on"\n'
    'options = { recovery_init_sync_method = "syncfs" }',
    "sqlite": 'commit = "FULL"\noptions = { journal_mode = "WAL" }',
}
CELLS = {
    "mariadb": [
        ("disk", "key_update"),
        ("disk", "oltp"),
        ("cloud", "key_update"),
        ("cloud", "oltp"),
    ],
    "postgresql": [("disk", "key_update"), ("cloud", "key_update"), ("cloud", "oltp")],
    "sqlite": [("disk", "key_update"), ("cloud", "key_update"), ("cloud", "oltp")],
}
"""Ten cells. On the disk, PostgreSQL's and SQLite's reads of `oltp` are the page cache's."""
CLIENTS = {"mariadb": 4, "postgresql": 4, "sqlite": 1}
STUDY = """
title = "Slow motion"
question = "Does it change a figure?"
[storage.disk]
device = "sas-15k-146gb"
size = "1 GiB"
[storage.cloud]
device = "cloud-volume-1tb"
size = "1 GiB"
[engine.{engine}]
{settings}
[workload.key_update]
tables = 1
rows = 100_000
row_size = "300 B"
clients = {clients}
[workload.oltp]
mix = "read_write"
tables = 1
rows = 100_000
clients = {clients}
{axes}
[phase.run]
workload = ["{load}"]
ramp = "{ramp} s"
until.time = "{time} s"
{event}
[run]
interval = "500 ms"
seed = {seed}
"""
CUT = '[event.cut]\nphase = "run"\nat = "{at} s"\npower_cut = {{}}'


@dataclass
class Measured:
    """Figures of a cell by factor, one of each repetition."""

    name: str
    values: dict[str, dict[float, list[float]]] = field(default_factory=dict)
    verdicts: dict[float, set[str]] = field(default_factory=dict)

    def add(self, slow: float, figures: dict[str, float], verdict: str) -> None:
        """Add the figures of a repetition."""
        for figure, value in figures.items():
            self.values.setdefault(figure, {}).setdefault(slow, []).append(value)
        self.verdicts.setdefault(slow, set()).add(verdict)

    def medians(self, figure: str) -> dict[float, float]:
        """Return the median of a figure by factor."""
        return {slow: statistics.median(found) for slow, found in self.values[figure].items()}


def study(engine: str, storage: str, load: str, seconds: int, seed: int, *, cut: bool) -> str:
    """Return the study of one cell."""
    ramp = max(seconds // 4, 1)
    return STUDY.format(
        engine=engine,
        settings=ENGINES[engine],
        clients=CLIENTS[engine],
        axes=f'[use]\nstorage = "{storage}"',
        load=load,
        ramp=ramp,
        time=ramp + seconds,
        event=CUT.format(at=ramp + seconds // 2) if cut else "",
        seed=seed,
    )


def run(text: str, slow: float, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]], float]:
    """Run a study; return its cell, its run's events, and the seconds that it took."""
    path, out = folder / "slow.toml", folder / "out"
    path.write_text(text, encoding="utf-8")
    options = ("--world", "emulated", "--slow", str(slow), "--out", str(out), "--keep")
    command = [sys.executable, "-m", "tameshi", "run", str(path), *options]
    begin_s = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    took_s = time.monotonic() - begin_s
    (cell,) = json.loads((out / "results.json").read_text("utf-8"))["cells"]
    (identity,) = json.loads((out / "order.json").read_text("utf-8"))
    events = (store.run_folder(out, identity) / "events.jsonl").read_text("utf-8")
    return cell, [json.loads(line) for line in events.splitlines()], took_s


def figures_of(cell: dict[str, Any]) -> dict[str, float]:
    """Return rate, mean latency and I/O per transaction of a cell's phase."""
    found = {e["metric"]: e["value"] for e in cell["estimates"] if e["window"] == cell["phase"]}
    rate = found["transaction.rate"]
    per = {name: found[name] / rate for name in PER_TRANSACTION if rate and name in found}
    return {name: found[name] for name in RATES} | per


def figures_of_cut(events: list[dict[str, Any]]) -> dict[str, float]:
    """Return times of a power cut in slowed ns, and the commits that are lost."""
    kinds = {event["kind"]: event for event in events}
    return {
        "mounted": kinds["drive_cut"]["mounted_ns"],
        "recovery": kinds["crash"]["recovery_ns"],
        "outage": kinds["crash"]["away_ns"],
        "acknowledged": kinds["check"]["ledger"]["acknowledged"],
        "lost": kinds["check"]["ledger"]["lost"],
    }


def measure(arguments: argparse.Namespace) -> tuple[list[Measured], list[Measured]]:
    """Run all cells and cuts of the engines, factors in turn."""
    cells: dict[str, Measured] = {}
    cuts: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory() as top:
        for seed in range(1, arguments.repeat + 1):
            for engine in arguments.engine or ENGINES:
                plain = [(storage, load, False) for storage, load in CELLS[engine]]
                for storage, load, cut in [*plain, ("disk", "key_update", True)]:
                    text = study(engine, storage, load, arguments.seconds, seed, cut=cut)
                    name = engine if cut else f"{engine}, {storage}, {load}"
                    of = (cuts if cut else cells).setdefault(name, Measured(name))
                    with tempfile.TemporaryDirectory(dir=top) as folder:
                        # Both factors run on one data set.
                        for slow in (1, arguments.slow):
                            cell, events, took_s = run(text, slow, Path(folder))
                            figures = figures_of_cut(events) if cut else figures_of(cell)
                            of.add(slow, figures, cell["verdict"]["level"])
                            shown = {key: round(value, 2) for key, value in figures.items()}
                            print(f"{name} × {slow:g}, {took_s:.0f} s: {shown}", file=sys.stderr)
    return list(cells.values()), list(cuts.values())


def _pair(of: Measured, figure: str, slow: float) -> tuple[float, float] | None:
    if figure not in of.values:
        return None
    medians = of.medians(figure)
    return medians[1], medians[slow]


def lines(cells: list[Measured], slow: float) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table of cells."""
    for of in cells:
        shown: list[str] = []
        changes = []
        for figure, form in (
            ("transaction.rate", "{:,.1f}"),
            ("transaction.latency.mean", "{:,.2f}"),
        ):
            pair = _pair(of, figure, slow)
            assert pair
            unit = 1e6 if "latency" in figure else 1
            changes.append(pair[1] / pair[0] - 1)
            shown += [form.format(value / unit) for value in pair] + [f"{changes[-1]:+.1%}"]
        for figure in PER_TRANSACTION:
            pair = _pair(of, figure, slow)
            shown.append(f"{pair[0]:.2f}, {pair[1]:.2f}" if pair else "–")
        bad = [f"× {factor:g}" for factor, levels in of.verdicts.items() if "invalid" in levels]
        held = "met" if abs(changes[0]) <= BAR else "missed"
        yield of.name, *shown, held + (f" (invalid: {', '.join(bad)})" if bad else "")


def cut_lines(cuts: list[Measured], slow: float) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table of power cuts."""
    for of in cuts:
        times = []
        for figure in ("mounted", "recovery", "outage"):
            pair = _pair(of, figure, slow)
            assert pair
            times.append(", ".join(f"{ns / 1e9:.2f}" for ns in pair))
        lost = [sum(each) for each in of.values["lost"].values()]
        kept = [sum(each) for each in of.values["acknowledged"].values()]
        yield (
            of.name,
            *times,
            ", ".join(f"{a:,.0f} of {b:,.0f}" for a, b in zip(lost, kept, strict=True)),
        )


HEAD = (
    *("cell", "rate, /s", "slowed", "difference", "mean latency, ms", "slowed", "difference"),
    *("reads per transaction", "writes", "bar"),
)
CUT_HEAD = ("cut", "mounted after, s", "recovery, s", "outage, s", "commits lost")


def table(head: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    rows = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join([*rows, *("| " + " | ".join(row) + " |" for row in body)])


def page(
    cells: list[tuple[str, ...]],
    cuts: list[tuple[str, ...]],
    arguments: argparse.Namespace,
    load: tuple[float, float],
) -> str:
    """Return the page with both tables."""
    slow = f"{arguments.slow:g}"
    met = sum(row[-1].startswith("met") for row in cells)
    return f"""# Slow motion next to wall time

<!-- written by `python -m bench.slow_motion --write` -->

Real servers on served drives, at their own pace and in slow motion × {slow}, factors in turn.
{arguments.seconds} s of the run's own time each, medians of {arguments.repeat};
{os.cpu_count()} processors, Linux {platform.release()}, load average {load[0]:.1f} at the begin and
{load[1]:.1f} at the end, this benchmark included. All figures are in slowed time.
Bar: rates within {BAR:.0%}, on a quiet machine; {met} of {len(cells)} are met.

{table(HEAD, cells)}

Pairs of figures are those without and with slow motion. The time of processors, of process starts
and of the kernel weighs 1/{slow} in slow motion. It is part of each transaction, and most of a
short outage.

{table(CUT_HEAD, cuts)}
"""


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slow", type=float, default=4)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--engine", action="append", choices=list(ENGINES))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    before = os.getloadavg()[0]
    measured = measure(arguments)
    load = before, os.getloadavg()[0]
    cells = list(lines(measured[0], arguments.slow))
    cuts = list(cut_lines(measured[1], arguments.slow))
    for head, body in ((HEAD, cells), (CUT_HEAD, cuts)):
        shown = Table(*head)
        for row in body:
            shown.add_row(*row)
        Console(width=160).print(shown)
    if arguments.write:
        PAGE.write_text(page(cells, cuts, arguments, load), encoding="utf-8")


if __name__ == "__main__":
    main()
