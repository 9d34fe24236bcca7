"""Sides of a comparison made by hand: results and runs of one small study."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi.analysis.stats import intervals
from tameshi.compare import Side
from tameshi.core.spec_types import RunSpec
from tameshi.record.store import SealedRun

STREAM = {
    "name": "s",
    "storage": "disk",
    "stream": {
        "pattern": "random",
        "read": "100 %",
        "block_size": "4 KiB",
        "queue_depth": 1,
        "jobs": 1,
        "arrivals": "closed",
        "think_time": "0 ns",
        "offset": "0 B",
        "access": "direct",
        "compressible": "0 %",
        "duplicate": "0 %",
        "trim": "0 %",
        "verify": "off",
    },
}
SPEC = {
    "schema_version": 1,
    "study": "small",
    "world": "measured",
    "cell": {"size": "small"},
    "repetition": 0,
    "seed": 1,
    "start": "as-is",
    "interval": "10 ms",
    "storage": {"disk": {"size": "8 MiB"}},
    "phases": [
        {
            "name": "warm",
            "levels": {},
            "streams": [STREAM],
            "ramp": "0 s",
            "until": {"time": "1 s"},
        },
        {"name": "p", "levels": {}, "streams": [STREAM], "ramp": "1 s", "until": {"time": "9 s"}},
    ],
}
ENVIRONMENT = {
    "identity": "0",
    "world": "measured",
    "core": "c" * 64,
    "tameshi": "0.1.0",
    "python": "3.11.7",
    "kernel": "6.1.0",
    "machine": {
        "architecture": "x86_64",
        "cpu_model": "A CPU",
        "cpus": 8,
        "cores": 4,
        "memory_bytes": 2**34,
        "governor": "performance",
    },
    "targets": {
        "/mnt/x/disk": {
            "real_path": "/mnt/x/disk",
            "file_system": "ext4",
            "mount_point": "/mnt/x",
            "mount_options": ["rw", "noatime"],
            "mount_source": "/dev/sda1",
            "partition": "sda1",
            "device": {
                "name": "sda",
                "model": "A drive",
                "serial": "S1",
                "firmware": "F1",
                "size_bytes": 10**12,
                "virtual": None,
                "backing_file": None,
                "members": [],
                "scheduler": "none",
                "write_cache": "write back",
                "rotational": 0,
                "logical_block_bytes": 512,
                "physical_block_bytes": 4096,
                "requests": 256,
                "iostats": 1,
                "nomerges": 0,
            },
        }
    },
    "findings": [],
}
RATES = (1000.0, 1010.0, 990.0, 1005.0)
MODEL = {
    "device": {
        "profile": "null",
        "device": {"null": {"capacity": {"value": "1 GiB", "source": "a test's own"}}},
    }
}


def changed(value: Mapping[str, Any], path: str, to: Any) -> dict[str, Any]:
    """Return a copy with one value replaced; `path` is dotted, a number is an index."""
    made = copy.deepcopy(dict(value))
    *parents, last = path.split("/")
    inner: Any = made
    for name in parents:
        inner = inner[int(name)] if isinstance(inner, list) else inner[name]
    inner[last] = to
    return made


def estimate(metric: str, values: Sequence[float]) -> dict[str, Any]:
    """Return an estimate as in results.json, over one run per value."""
    return {
        "metric": metric,
        "subject": "s",
        "window": "p",
        "value": intervals.centre(values),
        "unit": "ns" if "latency" in metric else "1/s",
        "sampling": intervals.of_runs(values).as_json(),
        "by_repetition": {str(run): value for run, value in enumerate(values)},
        "model": None,
        "scale": 1,
    }


def cell(
    rates: Sequence[float] = RATES, world: str = "measured", level: str = "valid"
) -> dict[str, Any]:
    """Return one cell: rate, and the latency of one outstanding request."""
    latencies = [1e9 / rate for rate in rates]
    return {
        "world": world,
        "phase": "p",
        "levels": {"size": "small"},
        "runs": {"complete": len(rates), "partial": 0, "failed": 0},
        "verdict": {"level": level, "reasons": []},
        "flags": [],
        "estimates": [
            estimate("read.iops", rates),
            estimate("read.bandwidth", [4096 * rate for rate in rates]),
            estimate("read.latency.mean", latencies),
            estimate("read.latency.p99", [3 * latency for latency in latencies]),
            estimate("read.latency.p999", [9 * latency for latency in latencies]),
        ],
    }


def results(*cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return results.json of these cells."""
    return {
        "schema_version": 1,
        "study": {"name": "small", "title": "Small", "question": "Is it the same?"},
        "axes": [],
        "cells": [dict(one) for one in cells],
        "ratios": [],
        "published": [],
        "verdict": {"level": "valid", "reasons": []},
    }


def runs(
    spec: Mapping[str, Any] = SPEC,
    environment: Mapping[str, Any] = ENVIRONMENT,
    *,
    count: int = len(RATES),
    digest: str = "",
) -> list[SealedRun]:
    """Return runs that differ only in repetition and seed."""
    return [
        SealedRun(
            Path("nowhere"),
            RunSpec.model_validate({**spec, "repetition": n, "seed": spec["seed"] + n}),
            dict(environment),
            {"digest": f"{digest}{n}" if digest else None},
        )
        for n in range(count)
    ]


def side(
    rates: Sequence[float] = RATES,
    spec: Mapping[str, Any] = SPEC,
    environment: Mapping[str, Any] = ENVIRONMENT,
    *,
    digest: str = "",
    level: str = "valid",
) -> Side:
    """Return one cell and its runs."""
    found = results(cell(rates, spec["world"], level))
    return Side("A", found, runs(spec, environment, count=len(rates), digest=digest))


def simulated(seed: int = 1, model: Mapping[str, Any] = MODEL) -> dict[str, Any]:
    """Return the small study's spec in the simulated world."""
    spec = changed(SPEC, "world", "simulated") | {"seed": seed}
    return changed(spec, "storage/disk/model", dict(model))


SIMULATED_ENVIRONMENT = {
    "identity": "0",
    "world": "simulated",
    "core": "c" * 64,
    "model": "null",
    "findings": [],
}
