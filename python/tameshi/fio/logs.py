"""fio's logs: bandwidth, IOPS, latencies and histograms over time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from tameshi.fio.bins import BINS, BITS, bin_of
from tameshi.fio.job import Job
from tameshi.fio.measured import DIRECTIONS, NS, Direction, Measured, Record
from tameshi.fio.streams import Stream
from tameshi.fio.translate import Translation
from tameshi.record.store import SealedRun

MS = 1_000_000
ROWS = {"bw": ("bw",), "iops": ("iops",), "lat": ("lat", "clat", "slat"), "hist": ("clat_hist",)}
"""Logs of each key."""


def fio_logs(run: SealedRun, translation: Translation) -> dict[str, str]:
    """Return the requested logs: texts by file name, clones numbered from one."""
    record = Record(run)
    files: dict[str, list[str]] = {}
    for number, streams in _clones(translation.streams):
        job = streams[0].job
        if not job.logs.prefixes:
            continue
        measured = record.measured(streams)
        for key, prefix in job.logs.prefixes.items():
            for kind in ROWS[key]:
                suffix = f".{number}" if job.logs.per_job else ""
                rows = files.setdefault(f"{prefix}_{kind}{suffix}.log", [])
                rows += _rows(measured, job, kind)
    return {name: "".join(f"{row}\n" for row in _in_time(rows)) for name, rows in files.items()}


def _clones(streams: Sequence[Stream]) -> Iterator[tuple[int, Sequence[Stream]]]:
    """Yield the streams of each clone with fio's number of the (first) clone."""
    number = 1
    for _, clone in itertools.groupby(streams, lambda stream: (id(stream.job), stream.clone)):
        together = list(clone)
        yield number, together
        number += together[0].clones


def _in_time(rows: Sequence[str]) -> list[str]:
    return sorted(rows, key=lambda row: int(row.split(",", 1)[0]))


def _rows(measured: Measured, job: Job, kind: str) -> list[str]:
    rows: list[str] = []
    for number, word in enumerate(DIRECTIONS):
        direction = measured.directions.get(word)
        if direction is None or kind == "slat":  # submission has no separate time
            continue
        if kind == "clat_hist":
            rows += _histograms(direction, number, job)
        else:
            rows += _values(measured, direction, number, job, kind)
    return rows


def _values(
    measured: Measured, direction: Direction, number: int, job: Job, kind: str
) -> Iterator[str]:
    before = 0
    for end, (count, size, spent_ns) in sorted(direction.samples.items()):
        length, before = end - before, end
        if not count or length <= 0:
            continue
        length = min(length, measured.interval_ns)
        value = {
            "bw": size * NS // length // 1024,
            "iops": count * NS // length,
        }.get(kind, spent_ns // count)
        offset = ", 0" if job.logs.offset else ""
        yield f"{_since_start_ms(end, job)}, {value}, {number}, 0{offset}, 0"


def _histograms(direction: Direction, number: int, job: Job) -> Iterator[str]:
    coarse = job.logs.coarseness
    size = job.block or 0
    for end, latencies in sorted(direction.intervals.items()):
        counts = [0] * (BINS >> coarse)
        for value, count in latencies.values.items():
            # fio's logs end with its last group; longer latencies fall into the last bin.
            counts[min(bin_of(value), BINS - 1) >> coarse] += count
        yield f"{_since_start_ms(end, job)}, {number}, {size}, " + ", ".join(map(str, counts))


def _since_start_ms(end_ns: int, job: Job) -> int:
    """Return a time since the job's own start, which its `startdelay` puts off."""
    return end_ns // MS - job.delay_us // 1000


assert BITS == 6, "the columns of fio's histogram logs are those of six bits"
