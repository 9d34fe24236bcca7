"""The same streams on a simulated and on an emulated drive, against the bars of the emulated world.

    python -m bench.equivalence [--seconds 5] [--repeat 3] [--real-time] [--write]

Each drive, at each queue depth, serves 4 KiB random requests, 70 % of them reads. The simulated
host is free. A figure is the study's own estimate. `--real-time` runs the load in the real-time
class, for a machine with other work. `--write` writes docs/validation/emulated-equivalence.md.
Needs root and a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/emulated-equivalence.md"
DRIVES = {
    "disk": 'device = "sas-15k-146gb"',
    "mirror": 'raid1 = { members = 2, device = "sas-15k-146gb" }',
    "sata": 'device = "sata-ssd-480gb"\nwritten = "once"\nscale = 64',
    "nvme": 'device = "nvme-tlc-1tb-consumer"\nwritten = "once"\nscale = 64',
    "cloud": 'device = "cloud-volume-1tb"',
}
DEPTHS = (1, 4)
CLIENT = "5"
"""Real-time priority of the load with `--real-time`, below the drive's server."""
STUDY = """
title = "A drive in two worlds"
question = "Are they equal?"
[axis.drive]
{levels}
[axis.depth]
set = "workload.stream.io.queue_depth"
levels = {depths}
{storages}
[workload.stream.io]
block_size = "4 KiB"
read = "70 %"
[phase]
run = {{ workload = ["stream.io"], ramp = "500 ms", until.time = "{time} ms" }}
[run]
interval = "100 ms"
repetitions = {repeat}
seed = 1
"""


@dataclass(frozen=True)
class Bar:
    """Largest difference of a measure: a share of the simulated value, or `ns` of a latency."""

    measure: str
    share: float
    ns: float


BARS = (Bar("mean", 0.03, 3e3), Bar("p50", 0.03, 3e3), Bar("p99", 0.10, 50e3))
"""The mean latency stands for the rate: a closed loop's rate is its depth over the mean."""


@dataclass(frozen=True)
class Row:
    """Measure of an operation on a drive in both worlds, in ns."""

    drive: str
    depth: str
    operation: str
    bar: Bar
    simulated: float
    emulated: float
    verdict: str

    @property
    def is_met(self) -> bool:
        """Return whether the difference is within the bar."""
        allowed = max(self.bar.share * self.simulated, self.bar.ns)
        return abs(self.emulated - self.simulated) <= allowed


def study(seconds: int, repeat: int) -> str:
    """Return the study."""
    storages = "\n".join(f"[storage.{name}]\n{text}" for name, text in DRIVES.items())
    levels = "\n".join(f'{name} = {{ use.storage = "{name}" }}' for name in DRIVES)
    time = 500 + 1000 * seconds
    return STUDY.format(
        levels=levels, depths=list(DEPTHS), storages=storages, time=time, repeat=repeat
    )


def cells(world: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Run the study in a world; return the cells of its results."""
    before = ["chrt", "-f", CLIENT] if arguments.real_time and world == "emulated" else []
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "equivalence.toml"), Path(folder, "out")
        path.write_text(study(arguments.seconds, arguments.repeat), encoding="utf-8")
        options = ("--world", world, "--out", str(out))
        command = [*before, sys.executable, "-m", "tameshi", "run", str(path), *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return list(json.loads((out / "results.json").read_text("utf-8"))["cells"])


def values(cell: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Return the latencies of a cell's window, by operation and measure."""
    found = {}
    for estimate in cell["estimates"]:
        operation, _, measure = estimate["metric"].partition(".latency.")
        if measure and estimate["window"] == cell["phase"]:
            found[operation, measure] = float(estimate["value"])
    return found


def rows(found: list[dict[str, Any]]) -> Iterator[Row]:
    """Yield a row for each measure that both worlds have."""
    by_world: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for cell in found:
        place = cell["levels"]["drive"], cell["levels"]["depth"]
        by_world.setdefault(place, {})[cell["world"]] = cell
    for (drive, depth), worlds in by_world.items():
        known, met = (values(worlds[world]) for world in ("simulated", "emulated"))
        verdict = worlds["emulated"]["verdict"]["level"]
        for operation in ("read", "write"):
            for bar in BARS:
                key = operation, bar.measure
                if key in known and key in met:
                    yield Row(drive, depth, operation, bar, known[key], met[key], verdict)


def lines(table: list[Row]) -> Iterator[tuple[str, ...]]:
    """Yield the table's cells."""
    for row in table:
        times = (f"{ns / 1e3:,.1f}" for ns in (row.simulated, row.emulated))
        change = f"{row.emulated / row.simulated - 1:+.1%}"
        held = "met" if row.is_met else "missed"
        yield (row.drive, row.depth, f"{row.operation} {row.bar.measure}", *times, change, held)


NOTE = """
A free host issues the next request at the instant of a completion, before the disk has chosen its
next seek. A real host is later, and the disk chooses among one request less: at depth 4 the mean
rises, and p99 falls. The simulated disk behind a host that takes time (`2x-xeon-e5620-rhel5`) has
a mean of 16,262 µs, a median of 13,001 µs and a p99 of 55,411 µs for reads at depth 4.

The other misses at low latencies are those of a machine whose processors had other work. Reasons
of the verdicts name them: `served_late`, `served_path`, `served_short`.
"""

HEAD = ("drive", "depth", "latency", "simulated, µs", "emulated, µs", "difference", "bar")


def page(table: list[Row], arguments: argparse.Namespace, load: float) -> str:
    """Return the page with the table."""
    client = " in the real-time class" * arguments.real_time
    body = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    body += ["| " + " | ".join(line) + " |" for line in lines(table)]
    met = sum(row.is_met for row in table)
    judged = [row for row in table if row.verdict != "invalid"]
    return f"""# Served drives next to simulated ones

<!-- written by `python -m bench.equivalence --write` -->

The same stream of 4 KiB random requests, 70 % reads, on the same model in both worlds; the
simulated host is free. Load{client}, {arguments.seconds} s each, {arguments.repeat} repetitions;
{os.cpu_count()} processors, Linux {platform.release()}, load average {load:.1f} at the begin.
Bars: mean and median within 3 % or 3 µs, p99 within 10 % or 50 µs, whichever is larger. They are
for a quiet machine. {met} of {len(table)} are met. The verdict is not `invalid` for
{len(judged)}, of which {sum(row.is_met for row in judged)} are met.

{chr(10).join(body)}
{NOTE}"""


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    found = list(
        rows([cell for world in ("simulated", "emulated") for cell in cells(world, arguments)])
    )
    table = Table(*HEAD)
    for line in lines(found):
        table.add_row(*line)
    Console().print(table)
    if arguments.write:
        PAGE.write_text(page(found, arguments, load), encoding="utf-8")


if __name__ == "__main__":
    main()
