"""Results of each fio job from a sealed run: counts, latencies, samples, usage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tameshi.core import compiled
from tameshi.fio.bins import Latencies
from tameshi.fio.streams import Stream
from tameshi.record.events import read_events
from tameshi.record.store import SealedRun

NS = 1_000_000_000
DIRECTIONS = ("read", "write", "trim")
"""Directions in fio's order, which also numbers them in logs."""
CLASSES = 7
SAMPLED = ("iops", "bandwidth", "latency")
USAGE = ("user_ns", "system_ns", "switches", "major_faults", "minor_faults")


@dataclass
class Direction:
    """Reads, writes, trims or syncs of a job."""

    bytes: int = 0
    latencies: Latencies = field(default_factory=Latencies)
    samples: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Operations, bytes and sum of latencies by the end of an interval (ns since the window's
    start)."""
    intervals: dict[int, Latencies] = field(default_factory=dict)
    """Latencies by the end of their interval."""


@dataclass
class Submission:
    """Submission times in ns, where submission is a system call of its own."""

    count: int = 0
    least: int = 0
    most: int = 0
    total: int = 0
    squares: float = 0.0

    def add(self, other: Mapping[str, Any]) -> None:
        """Add the submission times of another stream, from its `stream_end` event."""
        if other["count"]:
            least = other["ns_min"]
            self.least = min(self.least, least) if self.count else least
            self.most = max(self.most, other["ns_max"])
            self.count += other["count"]
            self.total += other["ns_sum"]
            self.squares += other["ns_squares"]

    def as_json(self) -> dict[str, Any]:
        """Return the times in fio's form."""
        mean = self.total / self.count if self.count else 0.0
        spread = self.squares - self.count * mean * mean
        deviation = math.sqrt(max(0.0, spread) / (self.count - 1)) if self.count > 1 else 0.0
        least_and_most = {"min": self.least, "max": self.most}
        spread_out = {"mean": round(mean, 6), "stddev": round(deviation, 6), "N": self.count}
        return least_and_most | spread_out


@dataclass
class Measured:
    """Results of a job, clone or group, over the steady part of its phase."""

    streams: Sequence[Stream]
    begin_ns: int
    runtime_ns: int = 0
    clone_ns: int = 0
    """Sum of the runtimes of all clones."""
    interval_ns: int = 0
    directions: dict[str, Direction] = field(default_factory=dict)
    depth: list[int] = field(default_factory=lambda: [0] * CLASSES)
    submitted: list[int] = field(default_factory=lambda: [0] * CLASSES)
    completed: list[int] = field(default_factory=lambda: [0] * CLASSES)
    usage: dict[str, int] = field(default_factory=lambda: dict.fromkeys(USAGE, 0))
    submission: dict[str, Submission] = field(default_factory=dict)
    """Submission times by kind: reads, writes, trims, syncs."""
    failures: list[Mapping[str, Any]] = field(default_factory=list)
    """Tolerated failures: operation, system error, count."""
    rounds: Mapping[str, Any] | None = None
    """Rounds of a phase that ends at steady state, and the counted ones."""

    def samples(self) -> list[dict[str, float]]:
        """Return rates and mean latency of each round of the window: 1/s, B/s, ns."""
        rounds, names = self.rounds or {}, {stream.name for stream in self.streams}
        values: dict[int, dict[str, float]] = {}
        for value in rounds.get("values", ()):
            if value["stream"] in names and rounds["first"] <= value["round"] <= rounds["last"]:
                sample = values.setdefault(value["round"], dict.fromkeys(SAMPLED, 0.0))
                total = sample["iops"] + value["iops"]
                spent = sample["iops"] * sample["latency"] + value["iops"] * value["latency"]
                sample["latency"] = spent / total if total else 0.0
                sample["iops"] = total
                sample["bandwidth"] += value["bandwidth"]
        return [sample for _, sample in sorted(values.items())]

    def direction(self, word: str) -> Direction:
        """Return the results of one direction."""
        return self.directions.setdefault(word, Direction())


class Record:
    """Sealed run, read once."""

    def __init__(self, run: SealedRun) -> None:
        self.run = run
        logs = sorted((run.folder / "histograms").glob("load*.hlog"))
        self.histograms: dict[str, list[dict[str, Any]]] = {}
        for log in logs:
            for interval in compiled.histogram_intervals(log.read_text(encoding="utf-8")):
                self.histograms.setdefault(interval["tag"], []).append(interval)
        self.series = run.series().filter(pl.col("source") == "load")
        self.ends = [e for e in read_events(run.folder) if e["kind"] == "stream_end"]
        self.windows = {window["phase"]: window for window in run.outcome["windows"]}

    def measured(self, streams: Sequence[Stream]) -> Measured:
        """Return the results of these streams of one phase after its ramp."""
        phase = streams[0].phase
        window = self.windows.get(phase)
        begin = window["begin_ns"] if window else 0
        job = Measured(streams, begin, interval_ns=compiled.nanoseconds(self.run.spec.interval))
        if not window:
            return job
        names = [stream.name for stream in streams]
        rows = self.series.filter(
            pl.col("subject").is_in(names),
            pl.col("t_ns") > begin,
            pl.col("t_ns") <= window["end_ns"],
        )
        parts, job.rounds = _parts(window)
        self._count(job, rows)
        self._runtime(job, rows)
        for stream in streams:
            for part in parts:
                self._latencies(job, f"{phase}/{part}/{stream.name}")
        for end in self.ends:
            if end["phase"] == phase and end["part"] in parts and end["stream"] in names:
                _add_end(job, end)
        return job

    def _count(self, job: Measured, rows: pl.DataFrame) -> None:
        counted = rows.group_by("t_ns", "metric").agg(pl.col("value").sum()).sort("t_ns")
        for t_ns, metric, value in counted.iter_rows():
            word, _, what = metric.partition(".")
            if word not in (*DIRECTIONS, "sync"):
                continue
            direction = job.direction(word)
            end = t_ns - job.begin_ns
            count, size, spent = direction.samples.get(end, (0, 0, 0))
            match what:
                case "count":
                    count += int(value)
                case "bytes":
                    size += int(value)
                    direction.bytes += int(value)
                case "latency_sum":
                    spent += int(value)
                    direction.latencies.sum_ns += int(value)
            direction.samples[end] = (count, size, spent)

    def _runtime(self, job: Measured, rows: pl.DataFrame) -> None:
        """Return the time from a stream's start to its last counted operations."""
        busy = rows.filter(pl.col("metric").str.ends_with(".count"))
        last = dict(busy.group_by("subject").agg(pl.col("t_ns").max()).iter_rows())
        for stream in job.streams:
            # A window of rounds starts when all streams have started.
            late_us = 0 if job.rounds else max(0, stream.job.delay_us - stream.job.ramp_us)
            begin = late_us * 1000
            runtime = max(0, last.get(stream.name, job.begin_ns) - job.begin_ns - begin)
            job.runtime_ns = max(job.runtime_ns, runtime)
            job.clone_ns += runtime * stream.clones // stream.job.parts

    def _latencies(self, job: Measured, tag: str) -> None:
        for word in (*DIRECTIONS, "sync"):
            for interval in self.histograms.get(f"{tag}/{word}", []):
                direction = job.direction(word)
                counts = [(value, count) for value, count in interval["counts"]]
                direction.latencies.add(counts)
                end = interval["begin_ns"] + interval["length_ns"] - job.begin_ns
                direction.intervals.setdefault(end, Latencies()).add(counts)


def _parts(window: Mapping[str, Any]) -> tuple[list[str], Mapping[str, Any] | None]:
    """Return the counted parts of a phase by tag, and its rounds, if any."""
    rounds = window["rounds"]
    if not rounds:
        return ["steady"], None
    return [f"round-{number}" for number in range(rounds["first"], rounds["last"] + 1)], rounds


def _add_end(job: Measured, end: Mapping[str, Any]) -> None:
    for classes, key in (
        (job.depth, "depth"),
        (job.submitted, "submitted"),
        (job.completed, "completed"),
    ):
        for place, count in enumerate(end[key]):
            classes[place] += count
    for word, submission in end["submission"].items():
        job.submission.setdefault(word, Submission()).add(submission)
    job.failures += end["failures"]
    for key in USAGE:
        job.usage[key] += end["usage"][key]


def disks(run: SealedRun) -> list[dict[str, Any]]:
    """Return the activity of each disk during the run, as in fio's `disk_util`."""
    sampled = run.series().filter(pl.col("metric").str.starts_with("disk."))
    usage = []
    for (disk,), rows in sorted(sampled.group_by("subject")):
        sums = dict(rows.group_by("metric").agg(pl.col("value").sum()).iter_rows())
        time_ns = rows.filter(pl.col("metric") == "disk.reads")["dt_ns"].sum() or 1

        def of(metric: str, unit: int = 1, sums: Mapping[str, float] = sums) -> int:
            return int(sums.get(f"disk.{metric}", 0)) // unit

        usage.append(
            {
                "name": str(disk),
                "read_ios": of("reads"),
                "write_ios": of("writes"),
                "read_sectors": of("read_bytes", 512),
                "write_sectors": of("written_bytes", 512),
                "read_merges": of("read_merges"),
                "write_merges": of("write_merges"),
                "read_ticks": of("read_ns", 1_000_000),
                "write_ticks": of("write_ns", 1_000_000),
                "in_queue": of("weighted_ns", 1_000_000),
                "util": round(min(100.0, 100 * sums.get("disk.busy_ns", 0) / time_ns), 6),
            }
        )
    return usage
