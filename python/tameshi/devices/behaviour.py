"""Behaviour of a drive from fresh to steady, by simulation: random writes, then other loads."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tameshi.core import compiled
from tameshi.devices.progress import Watch, ignore_progress, run_phases
from tameshi.devices.values import Described
from tameshi.study.file import StudyFile, plan

NANOSECONDS = 1e9
OUTSTANDING = 256
JOBS = 16
PASSES = 3
"""Capacities written to a flash drive: each block once, then at random."""
POINTS = 60
SIMULATED_BYTES = 4 << 30
"""Capacity to which a flash drive is scaled down, as far as its blocks keep some pages."""
PAGES_LEFT = 2
OTHER_SECONDS = 30
"""Duration of writes to a drive without ageing, in s."""

SMALL = f"jobs = {JOBS}\nqueue_depth = {OUTSTANDING // JOBS}"
LARGE = 'pattern = "sequential"\nblock_size = "1 MiB"\nqueue_depth = 16'
STREAMS = {
    "random_write_4k": f'read = "0 %"\n{SMALL}',
    "random_read_4k": SMALL,
    "random_70_30_8k": f'read = "70 %"\nblock_size = "8 KiB"\n{SMALL}',
    "one_read_4k": "",
    "one_write_4k": 'read = "0 %"',
    "sequential_read_1m": LARGE,
    "sequential_write_1m": f'read = "0 %"\n{LARGE}',
}
"""Streams measured in the steady state, in this order, by name."""


@dataclass(frozen=True)
class Point:
    """Interval of the writes: share of the capacity, time at its end, and figures."""

    written: float
    at_s: float
    iops: float
    latency_ns: float


@dataclass(frozen=True)
class Measured:
    """One stream in the steady state."""

    name: str
    iops: float
    bytes_per_s: float
    latency_ns: float


@dataclass(frozen=True)
class Behaviour:
    """Simulated behaviour and its capacity scale."""

    scale: int
    ages: bool
    points: tuple[Point, ...]
    steady: tuple[Measured, ...]


def behaviour(drive: Described, watch: Watch = ignore_progress) -> Behaviour | None:
    """Simulate a drive from fresh to steady, for some seconds, without files.

    Returns None for the null model, which has no latencies.
    """
    if drive.model == "null":
        return None
    scale = _scale(drive)
    rows = simulated(drive.name, _study(drive, scale), {"devices": [drive.file]}, watch)
    by_stream = {stream: intervals_of(rows, stream) for stream in ("fill", "age", *STREAMS)}
    capacity = drive.capacity_bytes / scale
    steady = tuple(measured(stream, by_stream[stream]) for stream in STREAMS)
    points = _points([*by_stream["fill"], *by_stream["age"]], capacity)
    return Behaviour(scale, drive.model == "flash", tuple(points), steady)


def simulated(
    name: str, text: str, extra: Mapping[str, Sequence[tuple[str, str, str]]], watch: Watch
) -> list[dict[str, str]]:
    """Return the load's series of the only run of a study; `extra` holds profiles by kind."""
    with tempfile.TemporaryDirectory(prefix="tameshi-devices-") as place:
        folder = Path(place)
        study = StudyFile(name, folder / "devices.toml", text, extra)
        (spec,) = plan(study, "simulated", quick=False).runs
        for below in ("series", "histograms"):
            (folder / below).mkdir()
        run_phases(compiled.Execution(spec, folder), [phase.until for phase in spec.phases], watch)
        with (folder / "series" / "load.csv").open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


def _scale(drive: Described) -> int:
    """Return a power of two that leaves some gigabytes and some pages per block."""
    if drive.model != "flash":
        return 1
    most = max(drive.number("nand.pages_per_block") // PAGES_LEFT, 1)
    wanted = max(drive.capacity_bytes // SIMULATED_BYTES, 1)
    return int(1 << (min(most, wanted).bit_length() - 1))


def _study(drive: Described, scale: int) -> str:
    """Return the study: ageing writes, then each stream for a while."""
    lines = ['title = "What a drive does"', 'question = "What does it do from fresh to steady?"']
    lines += ["[storage.drive]", f'device = "{drive.name}"']
    capacity, writes = drive.capacity_bytes, STREAMS["random_write_4k"]
    until = {"fill": f'time = "{OTHER_SECONDS} s"'}
    if drive.model == "flash":
        lines += [f"scale = {scale}"]
        until = {
            "fill": f'amount = "{capacity} B"',
            "age": f'amount = "{(PASSES - 1) * capacity} B"',
        }
    for name, end in until.items():
        pattern = "shuffled" if name == "fill" and len(until) > 1 else "random"
        lines += [f"[workload.stream.{name}]", f'pattern = "{pattern}"', writes]
        lines += [f"[phase.{name}]", f'workload = ["stream.{name}"]', f"until = {{ {end} }}"]
    for name, keys in STREAMS.items():
        lines += [f"[workload.stream.{name}]", keys]
    # A hard disk needs more time than flash for the same number of requests.
    ramp, time = ("1 s", "6 s") if drive.model == "hdd" else ("50 ms", "300 ms")
    for name in STREAMS:
        lines += [f"[phase.{name}]", f'workload = ["stream.{name}"]']
        lines += [f'ramp = "{ramp}"', f'until.time = "{time}"']
    interval = "500 ms" if drive.model == "hdd" else "25 ms"
    return "\n".join([*lines, "[run]", f'interval = "{interval}"', ""])


def intervals_of(
    rows: Iterable[Mapping[str, str]], stream: str
) -> list[tuple[int, dict[str, float]]]:
    """Return a stream's intervals in order: length in ns, and counters by metric."""
    intervals: dict[tuple[int, int], dict[str, float]] = {}
    for row in rows:
        if row["subject"] == stream:
            place = (int(row["t_ns"]), int(row["dt_ns"]))
            intervals.setdefault(place, {})[row["metric"]] = float(row["value"])
    return [(length, values) for (_, length), values in sorted(intervals.items())]


def _sums(intervals: Iterable[tuple[int, dict[str, float]]]) -> tuple[float, float, float, float]:
    """Return seconds, operations, bytes and the sum of latencies of some intervals."""
    listed = list(intervals)

    def total(suffix: str) -> float:
        return sum(v.get(f"{kind}.{suffix}", 0.0) for _, v in listed for kind in ("read", "write"))

    return (
        sum(ns for ns, _ in listed) / NANOSECONDS,
        total("count"),
        total("bytes"),
        total("latency_sum"),
    )


def _points(intervals: list[tuple[int, dict[str, float]]], capacity: float) -> Iterable[Point]:
    """Merge intervals into points of equal numbers of bytes, as far as their length allows."""
    total = sum(values.get("write.bytes", 0.0) for _, values in intervals)
    joined: list[tuple[int, dict[str, float]]] = []
    before = time = 0.0
    for interval in intervals:
        joined.append(interval)
        seconds, count, moved, latency = _sums(joined)
        last = interval is intervals[-1]
        if count and (moved >= total / POINTS or last):
            before, time = before + moved, time + seconds
            yield Point(before / capacity, time, count / seconds, latency / count)
            joined = []


def measured(name: str, intervals: list[tuple[int, dict[str, float]]]) -> Measured:
    """Return a stream's steady part: the second half of its intervals, without ramps."""
    seconds, count, moved, latency = _sums(intervals[len(intervals) // 2 :])
    return Measured(name, count / seconds, moved / seconds, latency / count if count else 0.0)
