"""The same streams on a simulated and on an emulated drive, against the bars of the emulated world.

    python -m bench.equivalence [--seconds 6] [--repeat 3] [--drive NAME …] [--real-time] [--write]

Each device profile and two arrays, at each queue depth, serve 4 KiB random requests, 70 % of them
reads, in the slow motion that the path needs for the drive. The simulated host reacts after 40 ns:
like a real one, after the drive has begun the next command in its queue. A figure is the study's
own estimate. `--seconds` is wall time, 500 ms of ramp aside. `--real-time` runs the
load in the real-time class, for a machine with other work. `--write` writes
docs/validation/emulated-equivalence.md. Needs root and a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tameshi.run.slow_motion import choose
from tameshi.study.file import plan, read_study

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/emulated-equivalence.md"
PROFILES = ROOT / "python/tameshi/data/profiles"
ARRAYS = ("sas-6x146gb-raid10", "sata-ssd-2x480gb-mirror")
DEPTHS = (1, 4)
CLIENT = "5"
"""Real-time priority of the load with `--real-time`, below the drive's server."""
STUDY = """
title = "A drive in two worlds"
question = "Are they equal?"
[axis.depth]
set = "workload.stream.io.queue_depth"
levels = {depths}
[storage.drive]
{drive}
[workload.stream.io]
block_size = "4 KiB"
read = "70 %"
{host}
[phase]
run = {{ workload = ["stream.io"], ramp = "{ramp} ms", until.time = "{time} ms" }}
[run]
interval = "100 ms"
repetitions = {repeat}
seed = 1
"""

REACTS = "reacts"
"""Profile of the simulated host, beside the study."""


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
    slow: float
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


def drives() -> dict[str, str]:
    """Return a storage of each device profile that takes time, and of the arrays."""
    found = {}
    for path in sorted(PROFILES.glob("devices/*.toml")):
        (kind,) = tomllib.loads(path.read_text("utf-8"))["device"]
        if kind != "null":
            state = '\nwritten = "once"\nscale = 64' if kind == "flash" else ""
            found[path.stem] = f'device = "{path.stem}"{state}'
    return found | {name: f'array = "{name}"' for name in ARRAYS}


def cells(drive: str, text: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Run a drive's study in both worlds; return the cells of its results."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "equivalence.toml"), Path(folder, "out")
        own_profile = Path(folder, "profiles/hosts", f"{REACTS}.toml")
        own_profile.parent.mkdir(parents=True)
        free = (PROFILES / "hosts/free.toml").read_text("utf-8")
        wake_up = 'wake_up          = { value = "{}"'
        reacting = free.replace(wake_up.format("0 ns"), wake_up.format("40 ns"))
        assert reacting != free
        own_profile.write_text(reacting, encoding="utf-8")

        def write(time_s: float, world: str) -> None:
            times = {"ramp": round(min(500, 500 * time_s)), "repeat": arguments.repeat}
            times["time"] = times["ramp"] + round(1000 * time_s)
            host = f'[host]\nprofile = "{REACTS}"' if world == "simulated" else ""
            study = STUDY.format(drive=text, depths=list(DEPTHS), host=host, **times)
            path.write_text(study, encoding="utf-8")

        write(arguments.seconds, "emulated")
        slow = choose(plan(read_study(path), "emulated", quick=False)).factor
        found = []
        for world in ("simulated", "emulated"):
            write(arguments.seconds / slow, world)
            class_ = ["chrt", "-f", CLIENT] if arguments.real_time and world == "emulated" else []
            own = ("--slow", f"{slow:g}") if world == "emulated" else ()
            options = ("--world", world, *own, "--out", str(out / world))
            command = [*class_, sys.executable, "-m", "tameshi", "run", str(path), *options]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            found += json.loads((out / world / "results.json").read_text("utf-8"))["cells"]
        print(f"{drive} x {slow:g}: done", file=sys.stderr)
        return [cell | {"drive": drive, "slow": slow} for cell in found]


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
    by_world: dict[tuple[str, float, str], dict[str, dict[str, Any]]] = {}
    for cell in found:
        place = cell["drive"], cell["slow"], cell["levels"]["depth"]
        by_world.setdefault(place, {})[cell["world"]] = cell
    for place, worlds in by_world.items():
        known, met = (values(worlds[world]) for world in ("simulated", "emulated"))
        verdict = worlds["emulated"]["verdict"]["level"]
        for operation in ("read", "write"):
            for bar in BARS:
                key = operation, bar.measure
                if key in known and key in met:
                    yield Row(*place, operation, bar, known[key], met[key], verdict)


def lines(table: list[Row]) -> Iterator[tuple[str, ...]]:
    """Yield the table's cells."""
    for row in table:
        times = (f"{ns / 1e3:,.1f}" for ns in (row.simulated, row.emulated))
        change = f"{row.emulated / row.simulated - 1:+.1%}"
        held = "met" if row.is_met else "missed"
        place = row.drive, f"{row.slow:g}", row.depth
        yield *place, f"{row.operation} {row.bar.measure}", *times, change, held


HEAD = (
    *("drive", "slow motion", "depth", "latency"),
    *("simulated, µs", "emulated, µs", "difference", "bar"),
)


def page(table: list[Row], arguments: argparse.Namespace, load: float) -> str:
    """Return the page with the table."""
    client = " in the real-time class" * arguments.real_time
    body = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    body += ["| " + " | ".join(line) + " |" for line in lines(table)]
    met = sum(row.is_met for row in table)
    judged = [row for row in table if row.verdict != "invalid"]
    return f"""# Served drives next to simulated ones

<!-- written by `python -m bench.equivalence --write` -->

The same stream of 4 KiB random requests, 70 % reads, on the same model in both worlds. The
simulated host reacts after 40 ns: like a real one, after the drive has begun the next command in
its queue. A host that reacts at the instant of a completion leaves a disk one more request to
choose from. *Slow motion* is the least factor at which the path and the processors carry
the drive, as `--slow auto` chooses it; latencies are in slowed time. Load{client},
{arguments.seconds} s of wall time each, {arguments.repeat} repetitions;
{os.cpu_count()} processors, Linux {platform.release()}, load average {load:.1f} at the begin.
Bars: mean and median within 3 % or 3 µs, p99 within 10 % or 50 µs, whichever is larger. They are
for a quiet machine. {met} of {len(table)} are met. The verdict is not `invalid` for
{len(judged)}, of which {sum(row.is_met for row in judged)} are met.

The misses are of drives that answer within tens or hundreds of µs. A copy of 4 KiB alone takes this
machine over 100 µs at p99 ([figures of the machine](emulated.md)), which moves means and p99. The
path's offset is measured with one request at a time; with four outstanding the path takes longer,
by a time that depends on the machine and not on the drive. Slow motion divides it by its factor.

{chr(10).join(body)}
"""


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--drive", action="append", choices=list(drives()))
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    chosen = {name: text for name, text in drives().items() if name in (arguments.drive or [name])}
    found = list(
        rows([cell for name, text in chosen.items() for cell in cells(name, text, arguments)])
    )
    table = Table(*HEAD)
    for line in lines(found):
        table.add_row(*line)
    Console().print(table)
    if arguments.write:
        PAGE.write_text(page(found, arguments, load), encoding="utf-8")


if __name__ == "__main__":
    main()
