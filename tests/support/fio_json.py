"""fio's JSON results in the form of fio 3 and fio 2, of fictitious devices."""

from typing import Any

SECONDS = 10


def latencies(us: float, version: int = 3) -> dict[str, Any]:
    """Return latencies in the unit of the version; fio 2 pads its percentiles with zeros."""
    times = round(us) * (1000 if version == 3 else 1)
    listed = {"50.000000": times, "99.000000": 2 * times, "99.900000": 3 * times}
    if version == 2:
        listed["0.00"] = 0
    return {"min": times * 0.8, "max": times * 4, "mean": times, "stddev": 0, "percentile": listed}


def side(rate: float, us: float, block_bytes: int, version: int = 3) -> dict[str, Any]:
    """Return one direction of a job."""
    names = ("clat_ns", "lat_ns") if version == 3 else ("clat", "lat")
    latency_table = latencies(us, version) if rate else {"min": 0, "max": 0, "mean": 0.0}
    counted = {"total_ios": int(rate * SECONDS), "io_bytes": int(rate * SECONDS * block_bytes)}
    return {"iops": rate, **counted, **{name: latency_table for name in names}}


def job(
    rw: str, depth: int, rate: float, *, kib: int = 4, version: int = 3, **options: str | None
) -> dict[str, Any]:
    """Return a job that always kept `depth` outstanding: its latencies follow from its rate."""
    moved = side(rate, depth / rate * 1e6, kib << 10, version)
    nothing = side(0, 0, 0, version)
    asked = {"rw": rw, "bs": f"{kib}k", "iodepth": str(depth), "direct": "1", "size": "10g"}
    asked |= {"ioengine": "libaio", **options}
    writes = "write" in rw
    return {
        "jobname": f"{rw}-{kib}k-{depth}",
        "error": 0,
        "job options": {key: value for key, value in asked.items() if value is not None},
        "read": nothing if writes else moved,
        "write": moved if writes else nothing,
    }


def results(*jobs: dict[str, Any], version: int = 3) -> dict[str, Any]:
    """Return a whole document."""
    name = {3: "fio-3.33", 2: "fio-2.21"}[version]
    return {"fio version": name, "global options": {}, "jobs": list(jobs), "disk_util": []}


def drive(version: int = 3, **options: str | None) -> dict[str, Any]:
    """Return rates of a drive with 80 µs per read and 20 µs per write, at most 400 k and 150 k per
    second."""
    reads = [
        job("randread", d, min(d / 80e-6, 4e5), version=version, **options) for d in (1, 4, 64)
    ]
    writes = [
        job("randwrite", d, min(d / 20e-6, 15e4), version=version, **options) for d in (1, 4, 64)
    ]
    return results(*reads, *writes, version=version)
