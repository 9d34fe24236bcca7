"""fio's text output: summary of each job, totals of groups, disks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.fio.json_writer import grouped
from tameshi.fio.translate import Translation

_TABLES = {"latency_ns": "nsec", "latency_us": "usec", "latency_ms": "msec"}
_WORDS = {"read": "READ", "write": "WRITE", "trim": "TRIM"}
_PLAIN = ("", "k", "M", "G", "T")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")
_DECIMAL = ("B", "kB", "MB", "GB", "TB")


def fio_text(document: Mapping[str, Any], translation: Translation) -> str:
    """Return the summary of a document of `fio_json`."""
    lines = [str(document["fio version"])]
    threads = [
        len({(id(s.job), s.clone + n) for s in streams for n in range(s.clones)})
        for streams in grouped(translation.streams)
    ]
    for job, count in zip(document["jobs"], threads, strict=True):
        lines += _job(job, count, document["time"])
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


def _job(job: Mapping[str, Any], threads: int, time: str) -> Iterator[str]:
    """Yield the lines of a job; its process is this command."""
    group = f"groupid={job['groupid']}, jobs={threads}"
    yield f"\n{job['jobname']}: ({group}): err={job['error']:2d}: pid={os.getpid()}: {time}"
    for word in _WORDS:
        if job[word]["total_ios"]:
            yield from _direction(word, job[word])
    for table, unit in _TABLES.items():
        parts = [f"{name}={share:.2f}%" for name, share in job[table].items() if share]
        if parts:
            yield f"  lat ({unit})   : {', '.join(parts)}"
    sync = job["sync"]
    if sync["total_ios"]:
        yield "  fsync/fdatasync/sync_file_range:"
        yield _latency("sync", sync["lat_ns"])
        yield from _percentiles("sync", sync["lat_ns"])
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
    yield from _counts(job)


def _counts(job: Mapping[str, Any]) -> Iterator[str]:
    """Yield the counts of requests and the latency target."""
    total = ",".join(str(job[word]["total_ios"]) for word in (*_WORDS, "sync"))
    short, dropped = (
        ",".join([*(str(job[word][key]) for word in _WORDS), "0"])
        for key in ("short_ios", "drop_ios")
    )
    yield f"     issued rwts: total={total} short={short} dropped={dropped}"
    yield (
        f"     latency   : target={job['latency_target']}, window={job['latency_window']}, "
        f"percentile={job['latency_percentile']:.2f}%, depth={job['latency_depth']}"
    )


def _direction(word: str, stats: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"  {word}: IOPS={_short(stats['iops'], 1000, _PLAIN)}, BW={_rate(stats['bw_bytes'])}"
        f"({_short(stats['io_bytes'], 1024, _BINARY)}/{stats['runtime']}msec)"
    )
    if stats["slat_ns"]["N"]:
        yield _latency("slat", stats["slat_ns"])
    yield _latency("clat", stats["clat_ns"])
    yield _latency(" lat", stats["lat_ns"])
    yield from _percentiles("clat", stats["clat_ns"])
    yield from _percentiles("lat", stats["lat_ns"])
    yield (
        f"   bw (  KiB/s): min={stats['bw_min']:5d}, max={stats['bw_max']:5d}, "
        f"per={stats['bw_agg']:.2f}%, avg={stats['bw_mean']:5.2f}, "
        f"stdev={stats['bw_dev']:5.2f}, samples={stats['bw_samples']}"
    )
    yield (
        f"   iops        : min={stats['iops_min']:5d}, max={stats['iops_max']:5d}, "
        f"avg={stats['iops_mean']:5.2f}, stdev={stats['iops_stddev']:5.2f}, "
        f"samples={stats['iops_samples']}"
    )


def _latency(name: str, stats: Mapping[str, Any]) -> str:
    unit, worth = _unit(stats["min"], stats["max"])
    least, most = (_short(stats[key] // worth, 1000, _PLAIN, 6) for key in ("min", "max"))
    mean, deviation = stats["mean"] / worth, stats["stddev"] / worth
    return f"    {name} ({unit}): min={least}, max={most}, avg={mean:5.2f}, stdev={deviation:5.2f}"


def _percentiles(name: str, stats: Mapping[str, Any]) -> Iterator[str]:
    listed = list(stats.get("percentile", {}).items())
    if not listed:
        return
    unit, worth = _unit(listed[0][1], listed[-1][1])
    yield f"    {name} percentiles ({unit}):"
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


def _short(number: float, base: int, units: Sequence[str], length: int = 4) -> str:
    """Return a number in `length` characters and its unit, as fio does: 11.8k, 1264KiB."""
    place = 0
    while number >= 10**length and place + 1 < len(units):
        number, place = number / base, place + 1
    decimals = max(0, length - 1 - len(str(int(number)))) if place else 0
    return f"{number:.{decimals}f}{units[place]}"


def _rate(bytes_per_second: float) -> str:
    binary = _short(bytes_per_second, 1024, _BINARY)
    return f"{binary}/s ({_short(bytes_per_second, 1000, _DECIMAL)}/s)"


def _totals(jobs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the totals of each group's jobs."""
    for group in sorted({job["groupid"] for job in jobs}):
        among = [job for job in jobs if job["groupid"] == group]
        yield f"\nRun status group {group} (all jobs):"
        for word, shown in _WORDS.items():
            stats = [job[word] for job in among if job[word]["total_ios"]]
            if stats:
                yield f"  {shown:>5}: {_total(stats)}"


def _total(stats: Sequence[Mapping[str, Any]]) -> str:
    """Return sum and range of the rates of a group's jobs, with amount and range of times."""
    rates = [each["bw_bytes"] for each in stats]
    moved = sum(each["io_bytes"] for each in stats)
    times = [each["runtime"] for each in stats]
    binary, decimal = (
        "-".join(f"{_short(end, base, units)}/s" for end in (min(rates), max(rates)))
        for base, units in ((1024, _BINARY), (1000, _DECIMAL))
    )
    amounts = f"{_short(moved, 1024, _BINARY)} ({_short(moved, 1000, _DECIMAL)})"
    return (
        f"bw={_rate(sum(rates))}, {binary} ({decimal}), "
        f"io={amounts}, run={min(times)}-{max(times)}msec"
    )
