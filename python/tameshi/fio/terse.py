"""fio's terse output, version 3: one line of fields per job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

VERSION = 3
PERCENTILES = 20
"""Number of percentile fields, filled up with `0%=0`."""
US = 1000


def fio_terse(document: Mapping[str, Any]) -> str:
    """Return the lines of a document of `fio_json`; trims have no fields in this version."""
    disks = [field for disk in document["disk_util"] for field in _disk(disk)]
    heads = [str(VERSION), str(document["fio version"])]
    return "".join(
        ";".join([*heads, *_fields(job), *disks, *_end(job)]) + "\n" for job in document["jobs"]
    )


def _fields(job: Mapping[str, Any]) -> Iterator[str]:
    yield from (job["jobname"], str(job["groupid"]), str(job["error"]))
    for word in ("read", "write"):
        yield from _direction(job[word])
    yield from (f"{job['usr_cpu']:.6f}%", f"{job['sys_cpu']:.6f}%")
    yield from (str(job[key]) for key in ("ctx", "majf", "minf"))
    yield from (f"{share:.1f}%" for share in job["iodepth_level"].values())
    shortest, *others = job["latency_us"].values()
    shares = [shortest + sum(job["latency_ns"].values()), *others, *job["latency_ms"].values()]
    yield from (f"{share:.2f}%" for share in shares)


def _direction(stats: Mapping[str, Any]) -> Iterator[str]:
    rate = int(stats["iops"])
    yield from map(str, (stats["io_kbytes"], stats["bw"], rate, stats["runtime"]))
    yield from _latency(stats["slat_ns"])
    yield from _latency(stats["clat_ns"])
    listed = stats["clat_ns"].get("percentile") or stats["lat_ns"].get("percentile") or {}
    shown = [f"{name}%={value // US}" for name, value in listed.items()]
    yield from [*shown, *["0%=0"] * (PERCENTILES - len(shown))]
    yield from _latency(stats["lat_ns"])
    yield from (str(stats["bw_min"]), str(stats["bw_max"]), f"{stats['bw_agg']:.6f}%")
    yield from (f"{stats['bw_mean']:.6f}", f"{stats['bw_dev']:.6f}")


def _latency(stats: Mapping[str, Any]) -> Iterator[str]:
    yield from (str(stats["min"] // US), str(stats["max"] // US))
    yield from (f"{stats['mean'] / US:.6f}", f"{stats['stddev'] / US:.6f}")


def _disk(disk: Mapping[str, Any]) -> Iterator[str]:
    kinds = ("ios", "merges", "ticks")
    yield str(disk["name"])
    yield from (str(disk[f"{way}_{kind}"]) for kind in kinds for way in ("read", "write"))
    yield from (str(disk["in_queue"]), f"{disk['util']:.2f}%")


def _end(job: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of tolerated errors and of the description, if the job has them."""
    if "total_err" in job:
        yield from (str(job["total_err"]), str(job["first_error"]))
    if description := job["job options"].get("description"):
        yield description
