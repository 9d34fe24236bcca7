"""Served drives against the bars of the emulated world: the path alone, lateness, latencies.

    python -m bench.emulated [--seconds 2] [--repeat 3] [--ring] [--real-time]
                             [--only fio|database] [--database-seconds 20] [--write]

The path: fio on a served `null` drive, which has no latency, on the drive's file and on XFS over
the loop device. Lateness and latencies: reads at a fixed rate from a modelled NVMe drive, from the
figures of the drive itself and from fio. A database: MariaDB with both processors busy on the
modelled drive and on `null`, and a power cut under it. A figure is the median of the repetitions.
`--only` measures a part. `--ring`
switches FUSE over io_uring on, for the whole machine, and back afterwards. `--real-time`
runs fio in the real-time class, below the drive's server, for a machine with other work. `--write`
writes docs/validation/emulated.md.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from rich.console import Console
from rich.table import Table

from bench._emulated_database import database_figures, loaded

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/emulated.md"
SWITCH = Path("/sys/module/fuse/parameters/enable_uring")
SERVE = (sys.executable, "-m", "tameshi", "serve")
FIO = ("fio", "--output-format=json", "--direct=1", "--bs=4k", "--time_based", "--ramp_time=1")
REAL_TIME = "BENCH_REAL_TIME"
"""Variable of the environment for `--real-time`, for this module on the served drive."""
SIZE = "256M"
NULL = ("null", "--lie", "flush")
"""Without the lie it has no volatile cache, and the kernel would send it no flush."""
DRIVE = "nvme-tlc-3.84tb"
RATE = 5000
"""Reads per second of the modelled drive."""
REAL_TIME_PRIORITY = 10
GAP_NS = 5_000
"""Least gap between two reads of the clock that counts as one."""


@dataclass(frozen=True)
class Bar:
    """Figure with its bar and the word for where it comes from."""

    key: str
    what: str
    unit: str
    bar: float
    at_most: bool


BARS = (
    Bar("file_qd1", "drive's file, reads, queue depth 1, mean", "µs", 13, True),
    Bar("file_qd32", "drive's file, reads, queue depth 32", "k/s", 280, False),
    Bar("xfs_qd1", "XFS on loop, reads, queue depth 1, mean", "µs", 20, True),
    Bar("xfs_qd32", "XFS on loop, reads, queue depth 32", "k/s", 120, False),
    Bar("xfs_sync", "XFS on loop, fdatasync after 4 KiB, p50", "µs", 25, True),
    Bar("late_p50", f"lateness at {RATE}/s, p50", "µs", 1, True),
    Bar("late_p99", f"lateness at {RATE}/s, p99", "µs", 25, True),
    Bar("late_p999", f"lateness at {RATE}/s, p99.9", "µs", 120, True),
    Bar("over_p50", "client's median read above the model's", "µs", 3, True),
    Bar("over_p99", "client's p99 of reads above the model's", "µs", 50, True),
    Bar("db_late_p50", "lateness under a database, p50 of reads or writes", "µs", 1, True),
    Bar("db_late_p99", "lateness under a database, p99", "µs", 150, True),
    Bar("db_late_p999", "lateness under a database, p99.9", "µs", 400, True),
    Bar("db_loss", "database's throughput below that on `null`", "%", 10, True),
    Bar("db_mounted", "power cut under the database to mounted", "s", 1, True),
)


def fio(*options: str) -> dict[str, Any]:
    """Run fio; return its only job."""
    class_ = ("chrt", "--fifo", "1") if os.environ.get(REAL_TIME) else ()
    done = subprocess.run(
        [*class_, *FIO, *options], capture_output=True, encoding="utf-8", check=True
    )
    return dict(json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0])


def reads(name: str, seconds: int, *options: str) -> dict[str, Any]:
    """Run random reads; return fio's figures of them."""
    job = fio("--name=r", f"--filename={name}", "--rw=randread", f"--runtime={seconds}", *options)
    return dict(job["read"])


def path_figures(seconds: int) -> dict[str, float]:
    """Measure the path, on a served drive without latency."""
    drive = f"/run/tameshi/{os.environ['TAMESHI_DRIVE']}/drive"
    on_xfs = f"{os.environ['TAMESHI_MOUNT']}/data"
    found = {}
    # Data in all places, so that reads meet no hole.
    fio("--name=fill", f"--filename={on_xfs}", f"--size={SIZE}", "--rw=write", "--runtime=1")
    for place, name in (("file", drive), ("xfs", on_xfs)):
        one = reads(name, seconds, f"--size={SIZE}", "--ioengine=psync")
        found[f"{place}_qd1"] = one["lat_ns"]["mean"] / 1e3
        many = reads(name, seconds, f"--size={SIZE}", "--ioengine=libaio", "--iodepth=32")
        found[f"{place}_qd32"] = many["iops"] / 1e3
    sync = fio(
        *("--name=s", f"--filename={on_xfs}", f"--size={SIZE}", "--rw=randwrite"),
        *(f"--runtime={seconds}", "--ioengine=psync", "--fdatasync=1"),
    )
    found["xfs_sync"] = sync["sync"]["lat_ns"]["percentile"]["50.000000"] / 1e3
    return found


def model_figures(seconds: int) -> dict[str, float]:
    """Measure lateness and latencies of a modelled drive's reads."""
    device = os.environ["TAMESHI_DEVICE"]
    # Before: the drive's data and its map, and the end of its own work.
    fill = ("--ioengine=libaio", "--iodepth=8", "--rw=write", "--bs=128k", "--runtime=2")
    fio("--name=fill", f"--filename={device}", f"--size={SIZE}", *fill)
    subprocess.run([*SERVE, "ctl", "reset"], check=True, capture_output=True)
    engine = ("--ioengine=libaio", "--iodepth=8")
    seen = reads(device, seconds, f"--size={SIZE}", *engine, f"--rate_iops={RATE}")
    done = subprocess.run(
        [*SERVE, "ctl", "status"], check=True, capture_output=True, encoding="utf-8"
    )
    status = json.loads(done.stdout)
    figures, clat = status["operations"]["read"], seen["clat_ns"]["percentile"]
    late, modelled = figures["late_ns"], figures["modelled_ns"]
    return {
        **{f"late_{name}": late[name] / 1e3 for name in ("p50", "p99", "p999")},
        "over_p50": (clat["50.000000"] - modelled["p50"]) / 1e3,
        "over_p99": (clat["99.000000"] - modelled["p99"]) / 1e3,
        "modelled_p50": modelled["p50"] / 1e3,
        "offset": status["offset_ns"] / 1e3,
        "real_time": float(status["real_time"]),
    }


def machine_figures() -> dict[str, float]:
    """Measure the machine alone: what a real-time thread meets that serves nothing."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
    return gaps_of_the_clock() | copies_of_pages()


def gaps_of_the_clock() -> dict[str, float]:
    """Return the gaps of a thread that does nothing but read the clock.

    A due time that falls into a gap is late by the rest of it, whatever the drive's server does.
    """
    # Below the share at which the kernel stops real-time threads.
    length, gaps = 800_000_000, []
    last = begin = time.perf_counter_ns()
    while last - begin < length:
        now = time.perf_counter_ns()
        if now - last > GAP_NS:
            gaps.append(now - last)
        last = now
    found = {"gaps": len(gaps) * 1e9 / length, "gaps_share": sum(gaps) / length}
    for name, share in (("gaps_p99", 0.01), ("gaps_p999", 0.001)):
        # Lateness that a share of random instants exceeds.
        late = next(
            (x for x in range(0, 10_000_000, 500) if _late_share(gaps, x) <= share * length), 0
        )
        found[name] = late / 1e3
    return found


def copies_of_pages() -> dict[str, float]:
    """Return quantiles, in µs, of the copy of 4 KiB from a random place of `SIZE` in memory."""
    taken = []
    with mmap.mmap(-1, 256 << 20) as memory:
        for page in range(0, len(memory), 4096):
            memory[page] = 1
        draw = random.Random(1)
        for _ in range(10_000):
            place = draw.randrange(len(memory) // 4096) * 4096
            time.sleep(1e-4)
            begin = time.perf_counter_ns()
            memory[place : place + 4096]
            taken.append((time.perf_counter_ns() - begin) / 1e3)
    cuts = quantiles(taken, n=1000)
    return {"copy_p50": cuts[499], "copy_p99": cuts[989], "copy_p999": cuts[998]}


def _late_share(gaps: list[int], late: int) -> int:
    return sum(gap - late for gap in gaps if gap > late)


def served(kind: str, seconds: int, *options: str) -> dict[str, float]:
    """Run this module on a served drive; return its figures."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "figures.json")
        inside = [sys.executable, "-m", "bench.emulated", "--inside", kind]
        line = [*SERVE, *options, "--", *inside, "--seconds", str(seconds), "--out", str(out)]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        return dict(json.loads(out.read_text("utf-8")))


def machine() -> dict[str, float]:
    """Run this module for the figures of the machine alone; return them."""
    line = [sys.executable, "-m", "bench.emulated", "--inside", "machine"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    return dict(json.loads(done.stdout))


def measured(arguments: argparse.Namespace) -> dict[str, float]:
    """Return the median of each figure."""
    rounds = []
    for _ in range(arguments.repeat):
        found: dict[str, float] = {}
        if arguments.only != "database":
            found |= with_fio(arguments.seconds)
        if arguments.only != "fio":
            found |= with_database(arguments.database_seconds)
        rounds.append(found)
    return {key: median(each[key] for each in rounds) for key in rounds[0]}


def with_fio(seconds: int) -> dict[str, float]:
    """Return the figures of the path and of the modelled drive."""
    null = served("path", seconds, *NULL, "--size", "1GiB", "--memory", "900MiB")
    drive = served("model", seconds, DRIVE, "--size", "4GiB", "--memory", "900MiB", "--block")
    return {**null, **drive, **machine()}


def with_database(seconds: int) -> dict[str, float]:
    """Return the figures of a database; without a model nothing is paced."""
    room = ("--size", "4GiB", "--memory", "3GiB")
    null = served("database", seconds, "null", *room)
    drive = served("database", seconds, DRIVE, *room)
    return {**drive, "db_loss": 100 * (1 - drive["db_rate"] / null["db_rate"])}


@contextmanager
def ring(wanted: bool) -> Iterator[None]:
    """Switch the kernel's ring on, and back afterwards."""
    if not wanted:
        yield
        return
    before = SWITCH.read_text("utf-8")
    SWITCH.write_text("Y", "utf-8")
    try:
        yield
    finally:
        SWITCH.write_text(before, "utf-8")


def rows(figures: dict[str, dict[str, float]]) -> Iterator[tuple[str, ...]]:
    """Yield a row of each bar: figure of each door, bar, and ratio to it."""
    for bar in BARS:
        cells = []
        if any(bar.key not in each for each in figures.values()):
            continue
        for each in figures.values():
            ratio = each[bar.key] / bar.bar
            cells += [f"{each[bar.key]:,.1f} {bar.unit}", f"{ratio:.2f}"]
        yield (bar.what, *cells, f"{'≤' if bar.at_most else '≥'} {bar.bar:g} {bar.unit}")


def page(figures: dict[str, dict[str, float]], arguments: argparse.Namespace, load: float) -> str:
    """Return the page with the table."""
    doors = list(figures)
    head = ["figure", *(word for door in doors for word in (door, "to the bar")), "bar"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows(figures)]
    offsets = ", ".join(f"{door} {each['offset']:.1f} µs" for door, each in figures.items())
    first = next(iter(figures.values()))
    modelled = first["modelled_p50"]
    client = " in the real-time class, away from other work" * arguments.real_time
    return f"""# Served drives: the path and its lateness

<!-- written by `python -m bench.emulated --write` -->

Path without a model, and a modelled `{DRIVE}`, whose reads take {modelled:.0f} µs at the median.
fio{client}, {arguments.seconds} s each,
median of {arguments.repeat}; {os.cpu_count()} processors, Linux {platform.release()}, load average
{load:.1f} at the begin. On a machine with other work, figures of the path are those of the machine:
a bar is for a quiet one. Offset of the path, taken off the modelled latencies: {offsets}.
A real-time thread that only reads the clock loses it {first["gaps"]:.0f} times a second for more
than {GAP_NS // 1000} µs, {first["gaps_share"]:.1%} of the time: of random instants, 1 % meet a gap
that lasts {first["gaps_p99"]:.0f} µs more, 0.1 % one of {first["gaps_p999"]:.0f} µs. Its copy of
4 KiB from a random place in {SIZE} of memory takes {first["copy_p50"]:.1f} µs at the median,
{first["copy_p99"]:.0f} µs at p99 and {first["copy_p999"]:.0f} µs at p99.9. No server can be more
punctual than that.

{chr(10).join(lines)}

The database: MariaDB, a pool of 48 MiB, 550 MiB of data, sysbench's `oltp_read_write` with 8
threads for {arguments.database_seconds} s. It keeps the processors busy: {first["db_rate"]:.0f}
transactions and {first["db_operations"]:.1f} k requests per second.
Lateness is that of reads or of writes, whichever is worse.
Its loss against `null` holds the drive's own latency too: the cost of punctual answers is less.
"""


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--ring", action="store_true")
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--only", choices=("fio", "database"))
    parser.add_argument("--database-seconds", type=int, default=20)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--inside", choices=("path", "model", "machine", "database"))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if arguments.inside == "machine":
        print(json.dumps(machine_figures()))
        return
    if arguments.inside:
        figures = {
            "path": path_figures,
            "model": model_figures,
            "database": database_figures,
        }[arguments.inside]
        arguments.out.write_text(json.dumps(figures(arguments.seconds)), "utf-8")
        return
    if arguments.write and arguments.only:
        parser.error("the page has all figures: --write without --only")
    load = os.getloadavg()[0]
    if arguments.real_time:
        os.environ[REAL_TIME] = "1"
    found = {}
    with nullcontext() if arguments.only == "fio" else loaded():
        for door, wanted in (("plain", False), ("ring", True)):
            if not wanted or arguments.ring:
                with ring(wanted):
                    found[door] = measured(arguments)
    table = Table("figure", *(word for door in found for word in (door, "to the bar")), "bar")
    for row in rows(found):
        table.add_row(*row)
    Console().print(table)
    if arguments.write:
        PAGE.write_text(page(found, arguments, load), encoding="utf-8")


if __name__ == "__main__":
    main()
