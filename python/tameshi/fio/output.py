"""fio's text output and logs: summary, bandwidth, IOPS, latencies and histograms over time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.fio.bins import BINS, BITS, bin_of
from tameshi.fio.job import Job
from tameshi.fio.measured import DIRECTIONS, NS, Direction, Measured, Record
from tameshi.fio.streams import Stream
from tameshi.fio.translate import Translation
from tameshi.record.store import SealedRun

_TABLES = {"latency_ns": "nsec", "latency_us": "usec", "latency_ms": "msec"}
_WORDS = {"read": "READ", "write": "WRITE", "trim": "TRIM"}


def fio_text(document: Mapping[str, Any]) -> str:
    """Return the summary of a document of `fio_json`."""
    lines = [str(document["fio version"])]
    for job in document["jobs"]:
        lines += _job(job)
    lines += _totals(document["jobs"])
    if document["disk_util"]:
        lines += ["", "Disk stats (read/write):"]
    for disk in document["disk_util"]:
        lines.append(
            f"  {disk['name']}: ios={disk['read_ios']}/{disk['write_ios']}, "
            f"merge={disk['read_merges']}/{disk['write_merges']}, "
            f"ticks={disk['read_ticks']}/{disk['write_ticks']}, "
            f"in_queue={disk['in_queue']}, util={disk['util']:.2f}%"
        )
    return "\n".join(lines) + "\n"


def _job(job: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n{job['jobname']}: (groupid={job['groupid']}): err={job['error']:2d}"
    for word in _WORDS:
        if job[word]["total_ios"]:
            yield from _direction(word, job[word])
    sync = job["sync"]
    if sync["total_ios"]:
        yield "  fsync/fdatasync/sync_file_range:"
        yield from _latency("sync", sync["lat_ns"])
        yield from _percentiles(sync["lat_ns"])
    for table, unit in _TABLES.items():
        parts = [f"{name}={share:.2f}%" for name, share in job[table].items() if share]
        if parts:
            yield f"  lat ({unit})   : {', '.join(parts)}"
    yield (
        f"  cpu          : usr={job['usr_cpu']:.2f}%, sys={job['sys_cpu']:.2f}%, "
        f"ctx={job['ctx']}, majf={job['majf']}, minf={job['minf']}"
    )
    for name, key in (
        ("IO depths    ", "iodepth_level"),
        ("   submit    ", "iodepth_submit"),
        ("   complete  ", "iodepth_complete"),
    ):
        parts = [f"{level}={share:.1f}%" for level, share in job[key].items()]
        yield f"  {name}: {', '.join(parts)}"
    counts = ",".join(str(job[word]["total_ios"]) for word in (*_WORDS, "sync"))
    yield f"     issued rwts: total={counts}"


def _direction(word: str, stats: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"  {word}: IOPS={_short(stats['iops'])}, BW={stats['bw_bytes'] / (1 << 20):.1f}MiB/s "
        f"({stats['bw_bytes'] / 1e6:.1f}MB/s)"
        f"({stats['io_bytes'] / (1 << 20):.1f}MiB/{stats['runtime']}msec)"
    )
    yield from _latency("clat", stats["clat_ns"])
    yield from _percentiles(stats["clat_ns"])
    yield (
        f"   bw (  KiB/s): min={stats['bw_min']}, max={stats['bw_max']}, "
        f"per={stats['bw_agg']:.2f}%, avg={stats['bw_mean']:.2f}, "
        f"stdev={stats['bw_dev']:.2f}, samples={stats['bw_samples']}"
    )
    yield (
        f"   iops        : min={stats['iops_min']}, max={stats['iops_max']}, "
        f"avg={stats['iops_mean']:.2f}, stdev={stats['iops_stddev']:.2f}, "
        f"samples={stats['iops_samples']}"
    )


def _latency(name: str, stats: Mapping[str, Any]) -> Iterator[str]:
    unit, worth = _unit(stats["min"], stats["max"])
    yield (
        f"    {name} ({unit}): min={stats['min'] // worth}, max={stats['max'] // worth}, "
        f"avg={stats['mean'] / worth:.2f}, stdev={stats['stddev'] / worth:.2f}"
    )


def _percentiles(stats: Mapping[str, Any]) -> Iterator[str]:
    listed = list(stats.get("percentile", {}).items())
    if not listed:
        return
    unit, worth = _unit(listed[0][1], listed[-1][1])
    yield f"    clat percentiles ({unit}):"
    for start in range(0, len(listed), 4):
        parts = [
            f"{float(name):5.2f}th=[{value // worth:5d}]"
            for name, value in listed[start : start + 4]
        ]
        end = "," if start + 4 < len(listed) else ""
        yield f"     | {', '.join(parts)}{end}"


def _unit(least_ns: float, most_ns: float) -> tuple[str, int]:
    """Return a unit that suits both values."""
    if least_ns > 2000 and most_ns > 99_999:
        return (
            ("msec", 1_000_000) if least_ns > 2_000_000 and most_ns > 99_999_999 else ("usec", 1000)
        )
    return "nsec", 1


def _short(number: float) -> str:
    return f"{number:.0f}" if number < 10_000 else f"{number / 1000:.1f}k"


def _totals(jobs: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the totals of each group's jobs."""
    for group in sorted({job["groupid"] for job in jobs}):
        among = [job for job in jobs if job["groupid"] == group]
        yield f"\nRun status group {group} (all jobs):"
        for word, shown in _WORDS.items():
            stats = [job[word] for job in among if job[word]["total_ios"]]
            if stats:
                bandwidth = sum(each["bw_bytes"] for each in stats)
                moved = sum(each["io_bytes"] for each in stats)
                longest = max(each["runtime"] for each in stats)
                yield (
                    f"  {shown:>5}: bw={bandwidth / (1 << 20):.1f}MiB/s "
                    f"({bandwidth / 1e6:.1f}MB/s), "
                    f"io={moved / (1 << 20):.1f}MiB ({moved / 1e6:.1f}MB), run={longest}msec"
                )


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
        yield f"{end // MS}, {value}, {number}, 0{offset}, 0"


def _histograms(direction: Direction, number: int, job: Job) -> Iterator[str]:
    coarse = job.logs.coarseness
    size = job.block or 0
    for end, latencies in sorted(direction.intervals.items()):
        counts = [0] * (BINS >> coarse)
        for value, count in latencies.values.items():
            # fio's logs end with its last group; longer latencies fall into the last bin.
            counts[min(bin_of(value), BINS - 1) >> coarse] += count
        yield f"{end // MS}, {number}, {size}, " + ", ".join(map(str, counts))


assert BITS == 6, "the columns of fio's histogram logs are those of six bits"
