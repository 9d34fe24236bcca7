"""Generator cost per I/O: Tameshi against fio, IOPS per CPU-second in alternating pairs.

    python -m bench.generator_cost [--pairs 10] [--seconds 1] [--write] [PLACE …]

Random reads of 4 KiB at queue depth 32, one job, every latency recorded by both: with null
backends, on a file on tmpfs (/dev/shm) and on one on the disk (build/). fio runs in its usual form
(io_uring, direct) and tuned (fixed buffers, registered file, batches). A further test measures the
generator's own lateness in open loop at half of its maximum rate: from the time when a request is
due and a slot is free to its submission. Processor time is that of the whole process including
kernel threads: Tameshi's within the measured window, fio's over its run. A pair runs each once, in
alternating order; a ratio is a geometric mean over pairs with its 95 % interval. `--write` writes
docs/validation/speed.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import polars as pl
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import t as student

from tameshi.core import compiled

ROOT = Path(__file__).resolve().parents[1]
DEPTH = 32
SIZE_MIB = 512
HEADER_MIB = 1
"""The ownership header before the payload; fio reads the same bytes."""
RAMP_SECONDS = 0.3
STUDY = f"""
title = "What an I/O costs"
question = "What does an I/O cost the generator?"
[storage.disk]
size = "{SIZE_MIB} MiB"
[workload.stream.s]
queue_depth = {DEPTH}
[phase.p]
workload = ["stream.s"]
ramp = "{RAMP_SECONDS * 1000:.0f} ms"
until = {{ time = "TIME ms" }}
[run]
interval = "100 ms"
"""
MORE_THAN_ANY = 1e8
"""Requests per second beyond any generator."""
COMMON: dict[str, object] = {
    "name": "p",
    "rw": "randread",
    "bs": "4k",
    "iodepth": DEPTH,
    "time_based": 1,
    "output-format": "json",
}
AS_USUAL: dict[str, object] = {**COMMON, "ioengine": "io_uring", "direct": 1}
TUNED: dict[str, object] = {
    **AS_USUAL,
    "registerfiles": 1,
    "fixedbufs": 1,
    "norandommap": 1,
    "randrepeat": 0,
    "random_generator": "tausworthe64",
    "iodepth_batch_submit": 16,
    "iodepth_batch_complete_min": 1,
    "iodepth_batch_complete_max": DEPTH,
    "clocksource": "cpu",
}
NOTHING: dict[str, object] = {
    **COMMON,
    "ioengine": "null",
    "size": f"{SIZE_MIB}m",
    "norandommap": 1,
}


@dataclass(frozen=True)
class Cost:
    """Run: I/Os per second, and per second of processor time."""

    iops: float
    per_cpu_second: float


@dataclass(frozen=True)
class Row:
    """One target and one form of fio: results of both, and the ratios of Tameshi's to fio's."""

    target: str
    against: str
    ours: Cost
    fio: Cost
    per_cpu: tuple[float, float, float]
    iops: tuple[float, float, float]


def tameshi(study: Path, place: Path, backend: str, out: Path) -> Cost:
    """Run through the command line, with everything recorded."""
    run(study, place, backend, out)
    [record] = (out / "runs").glob("*/series.parquet")
    rows = pl.read_parquet(record).filter(pl.col("t_ns") - pl.col("dt_ns") >= RAMP_SECONDS * 1e9)
    done = rows.filter(pl.col("metric") == "read.count")
    used = rows.filter(
        (pl.col("subject") == "worker") & pl.col("metric").str.starts_with("process.cpu_")
    )
    # Two rows per interval, user and system, each for the whole interval.
    cpu = total(used, "value") / (total(used, "dt_ns") / 2)
    iops = total(done, "value") / (total(done, "dt_ns") / 1e9)
    return Cost(iops, iops / cpu)


def run(study: Path, place: Path, backend: str, out: Path) -> None:
    """Run a study with one run."""
    command = [sys.executable, "-m", "tameshi", "run", str(study), "--world", "measured"]
    options = ["--on", f"disk={place}", "--out", str(out), "--fresh", "--keep"]
    subprocess.run([*command, *options, "--backend", backend], check=True, capture_output=True)


def total(rows: pl.DataFrame, column: str) -> float:
    """Return the sum of a column."""
    return float(rows[column].sum())


def fio(options: dict[str, object], seconds: float) -> Cost:
    """Run fio once; its processor time includes all threads and processes."""
    timed = {**options, "runtime": f"{int(seconds * 1000)}ms"}
    words = ["fio", "--readonly", *(f"--{key}={value}" for key, value in timed.items())]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(words, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, words)
        output.seek(0)
        text = output.read()
    read = json.loads(text[text.index("{") :])["jobs"][0]["read"]
    cpu = usage.ru_utime + usage.ru_stime
    return Cost(float(read["iops"]), read["total_ios"] / cpu)


@dataclass(frozen=True)
class Lateness:
    """Open loop on the null backend: requests per second, and quantiles of the generator's
    lateness."""

    rate: float
    p50_ns: float
    p99_ns: float
    p999_ns: float


def open_loop(study: Path, place: Path, out: Path) -> Lateness:
    """Run an open-loop study once."""
    iops = tameshi(study, place, "null", out).iops
    [log] = (out / "runs").glob("*/histograms/*.hlog")
    found = compiled.latencies(log.read_text("utf-8"), {})
    [lag] = (result for key, result in found.items() if key.endswith("steady/s/lag"))
    at = dict(lag["quantiles"])
    return Lateness(iops, at[0.5], at[0.99], at[0.999])


def lateness(place: Path, seconds: float) -> tuple[float, Lateness]:
    """Return the maximum rate of an open loop, and the lateness at half of it."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"

        def at(rate: float) -> Lateness:
            study = Path(scratch) / "open.toml"
            text = STUDY.replace("TIME", str(int((seconds + RAMP_SECONDS) * 1000)))
            arrivals = f'arrivals = {{ constant = {{ rate = "{rate:.0f} /s" }} }}'
            depth = f"queue_depth = {DEPTH}"
            study.write_text(text.replace(depth, f"{depth}\n{arrivals}"), "utf-8")
            return open_loop(study, place, out)

        most = at(MORE_THAN_ANY).rate
        return most, at(most / 2)


@dataclass(frozen=True)
class Match:
    """Comparison: the two runs of a pair."""

    target: str
    against: str
    ours: Callable[[], Cost]
    theirs: Callable[[], Cost]


def matches(places: Sequence[Path], study: Path, out: Path, seconds: float) -> list[Match]:
    """Return every comparison, on targets that are laid out."""

    def ours(place: Path, backend: str) -> Callable[[], Cost]:
        return lambda: tameshi(study, place, backend, out)

    def theirs(options: dict[str, object], place: Path | None) -> Callable[[], Cost]:
        where: dict[str, object] = {
            "filename": f"{place}/tameshi-disk.dat",
            "offset": f"{HEADER_MIB}m",
            "size": f"{SIZE_MIB}m",
        }
        return lambda: fio({**options, **(where if place else {})}, seconds)

    found = [Match("nothing", "null engine", ours(places[0], "null"), theirs(NOTHING, None))]
    for place in places:
        kind = "tmpfs" if str(place).startswith("/dev/shm") else "disk"
        for against, options in (("as usual", AS_USUAL), ("tuned", TUNED)):
            found.append(Match(kind, against, ours(place, "io_uring"), theirs(options, place)))
    return found


def row_of(match: Match, pairs: Sequence[tuple[Cost, Cost]]) -> Row:
    """Return means of both and the ratios of a comparison's pairs."""
    ours, fios = zip(*pairs, strict=True)
    per_cpu = interval([o.per_cpu_second / f.per_cpu_second for o, f in pairs])
    iops = interval([o.iops / f.iops for o, f in pairs])
    return Row(match.target, match.against, mean_of(ours), mean_of(fios), per_cpu, iops)


def mean_of(costs: Sequence[Cost]) -> Cost:
    """Return the mean of each part."""
    return Cost(fmean(c.iops for c in costs), fmean(c.per_cpu_second for c in costs))


def interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios and its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    half = float(student.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
    middle = fmean(logs)
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def measured(
    places: Sequence[Path], pairs: int, seconds: float, console: Console
) -> tuple[list[Row], str]:
    """Return all comparisons, pair by pair, and a sentence on lateness."""
    with tempfile.TemporaryDirectory() as scratch:
        study, out = Path(scratch) / "cost.toml", Path(scratch) / "out"
        study.write_text(STUDY.replace("TIME", str(int((seconds + RAMP_SECONDS) * 1000))), "utf-8")
        for place in places:
            tameshi(study, place, "io_uring", out)  # lays the file out
        all_of = matches(places, study, out, seconds)
        costs: list[list[tuple[Cost, Cost]]] = [[] for _ in all_of]
        try:
            late = sentence(*lateness(places[0], seconds))
            for pair in track(range(pairs), "pairs", console=console):
                for match, own in zip(all_of, costs, strict=True):
                    if pair % 2 == 0:
                        own.append((match.ours(), match.theirs()))
                    else:
                        second = match.theirs()
                        own.append((match.ours(), second))
        finally:
            for place in places:
                (place / "tameshi-disk.dat").unlink()
    return [row_of(match, own) for match, own in zip(all_of, costs, strict=True)], late


def cells(row: Row) -> list[str]:
    """Return a row as texts."""
    ratios = (f"{r[0]:.2f} ({r[1]:.2f}–{r[2]:.2f})" for r in (row.per_cpu, row.iops))
    rates = (row.ours.per_cpu_second, row.fio.per_cpu_second, row.ours.iops, row.fio.iops)
    per_cpu, fio_per_cpu, iops, fio_iops = (f"{rate / 1000:,.0f} k" for rate in rates)
    per_cpu_ratio, iops_ratio = ratios
    named = [row.target, row.against]
    return [*named, per_cpu, fio_per_cpu, per_cpu_ratio, iops, fio_iops, iops_ratio]


HEADINGS = [
    "target",
    "fio",
    "ours, IOPS per CPU-second",
    "fio's",
    "ratio",
    "our IOPS",
    "fio's IOPS",
    "ratio of IOPS",
]


def sentence(most: float, late: Lateness) -> str:
    """Return the generator's lateness in words."""
    quantiles = (late.p50_ns, late.p99_ns, late.p999_ns)
    p50, p99, p999 = (f"{ns / 1000:.2f} µs" for ns in quantiles)
    return (
        f"In open loop on nothing one job starts {most / 1e6:.1f} million requests a second; at\n"
        f"{late.rate / 1e6:.1f} million its own lateness is {p50} at the median, {p99} at p99 and\n"
        f"{p999} at p99.9."
    )


def page(rows: Sequence[Row], late: str, pairs: int, seconds: float) -> str:
    """Return the table as a page of docs/validation."""
    version = subprocess.run(
        ["fio", "--version"], capture_output=True, encoding="utf-8", check=True
    )
    lines = [
        "# What an I/O costs the generator",
        "",
        "<!-- written by `python -m bench.generator_cost --write` -->",
        "",
        f"Random reads of 4 KiB at queue depth {DEPTH}, one job, every latency recorded by both,",
        f"{pairs} alternating pairs of {seconds:g} s; {version.stdout.strip()}, Linux",
        f"{platform.release()}. Processor time is the whole process's, the kernel's threads for it",
        "included. Ratios are Tameshi's to fio's, with a 95 % interval. `as usual` is io_uring and",
        "direct, `tuned` has fixed buffers, a registered file, batches of 16 and the TSC as clock.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|" + "---|" * len(HEADINGS),
        *("| " + " | ".join(cells(row)) + " |" for row in rows),
        "",
        late,
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", type=Path)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    places = arguments.places or [Path("/dev/shm/tameshi-bench"), ROOT / "build" / "bench"]
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    console = Console()
    rows, late = measured(places, arguments.pairs, arguments.seconds, console)
    table = Table(*HEADINGS)
    for row in rows:
        table.add_row(*cells(row))
    console.print(table)
    console.print(late)
    if arguments.write:
        path = ROOT / "docs" / "validation" / "speed.md"
        text = page(rows, late, arguments.pairs, arguments.seconds)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
