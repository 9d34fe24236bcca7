"""Results of `first-look` in both worlds, built from a few curves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tameshi.core.reasons import quoted
from tameshi.report.view.inputs import ReportInputs

PATTERNS = ("random_read", "random_write", "sequential_read", "sequential_write")
DEPTHS = tuple(str(2**n) for n in range(9))
# World -> (service time in ns and maximum rate) per pattern: a flash drive and a 15k rpm disk.
DRIVES = {
    "measured": ((84e3, 412e3), (21e3, 188e3), (19e3, 455e3), (18e3, 201e3)),
    "simulated": ((5.6e6, 421.0), (3.1e6, 498.0), (61e3, 31e3), (64e3, 29e3)),
}
WARNING = quoted("p99 moved by more than 10 % between the halves of the window")


def estimate(metric: str, subject: str, value: float, half: float | None = 0.02) -> dict[str, Any]:
    """Return one estimate; `half` is the relative half width, None for no interval."""
    unit = "ns" if "latency" in metric else "B/s" if metric.endswith("bandwidth") else "1/s"
    low, high = (None, None) if half is None else (value * (1 - half), value * (1 + 1.2 * half))
    return {
        "metric": metric,
        "subject": subject,
        "value": value,
        "unit": unit,
        "sampling": {"low": low, "high": high, "runs": 3, "method": "t over runs"},
        "model": None,
        "scale": 1,
    }


def load(operation: str, subject: str, rate: float, latency: float, size: int) -> list[Any]:
    """Return the estimates of a stream of one operation: rate, bandwidth and latency."""
    tail = {"mean": 1.0, "p50": 0.93, "p99": 2.4, "p999": 5.1, "max": 14.0}
    rates = [estimate(f"{operation}.iops", subject, rate)]
    if size:
        rates.append(estimate(f"{operation}.bandwidth", subject, rate * size))
    return rates + [
        estimate(f"{operation}.latency.{name}", subject, latency * factor, 0.01 + factor / 60)
        for name, factor in tail.items()
    ]


def cell(world: str, phase: str, levels: dict[str, str], estimates: list[Any]) -> dict[str, Any]:
    """Return a complete, valid cell."""
    return {
        "world": world,
        "phase": phase,
        "levels": levels,
        "runs": {"complete": 3, "partial": 0, "failed": 0},
        "verdict": {"level": "valid", "reasons": []},
        "estimates": [{**one, "window": phase} for one in estimates],
    }


def sweep_cell(world: str, pattern: str, depth: str) -> dict[str, Any]:
    """Return throughput that saturates with the depth, and the latency that follows."""
    service, most = DRIVES[world][PATTERNS.index(pattern)]
    outstanding = int(depth)
    rate = most / (1 + (most * service / 1e9 / outstanding) ** 1.6) ** (1 / 1.6)
    rate *= 1 + 0.02 * math.sin(outstanding)
    operation = pattern.rpartition("_")[2]
    levels = {"pattern": pattern, "depth": depth}
    return cell(
        world, "sweep", levels, load(operation, "small", rate, outstanding / rate * 1e9, 4096)
    )


def cells_of(world: str) -> Iterator[dict[str, Any]]:
    """Return all cells of one world, in the study's order."""
    disk = world == "simulated"
    for pattern in PATTERNS:
        for depth in DEPTHS:
            yield sweep_cell(world, pattern, depth)
    speeds = {"read": 187e6, "write": 184e6} if disk else {"read": 3.12e9, "write": 1.86e9}
    for direction, speed in speeds.items():
        rate = speed / 2**20
        yield cell(
            world,
            "bandwidth",
            {"direction": direction},
            load(direction, "large", rate, 8 / rate * 1e9, 2**20),
        )
    commit = 4.1e6 if disk else 612e3
    commits = load("commit", "log", 1e9 / commit, commit, 0)
    commits[0]["metric"] = "commit.rate"
    yield cell(world, "commit", {}, commits)
    alone, beside = (6.0e6, 14.4e6) if disk else (86e3, 204e3)
    rates = (60.0, 60.0) if disk else (8e3, 20e3)
    yield cell(world, "alone", {}, load("read", "reader", rates[0], alone, 4096))
    both = load("read", "reader", rates[0] * 0.99, beside, 4096)
    yield cell(
        world, "under_writes", {}, both + load("write", "writer", rates[1], beside / 2, 4096)
    )


def results(worlds: tuple[str, ...] = ("measured", "simulated")) -> dict[str, Any]:
    """Return results.json of a finished study."""
    return {
        "schema_version": 1,
        "study": {
            "name": "first-look",
            "title": "First look at a disk",
            "question": "What does the disk under your feet do at 1 to 256 outstanding requests,"
            " at a commit, and for readers beside a writer?",
        },
        "axes": [
            {"name": "pattern", "varies": "within", "levels": list(PATTERNS)},
            {"name": "depth", "varies": "within", "levels": list(DEPTHS)},
            {"name": "direction", "varies": "within", "levels": ["read", "write"]},
        ],
        "cells": [found for world in worlds for found in cells_of(world)],
        "ratios": [],
        "published": [],
        "verdict": {"level": "valid", "reasons": []},
    }


def blemished() -> dict[str, Any]:
    """Return a study with flaws: a warning, a partial and a failed cell."""
    found = results()
    found["cells"][35]["verdict"] = {"level": "warning", "reasons": [WARNING]}
    found["cells"][34]["runs"] = {"complete": 2, "partial": 1, "failed": 0}
    lost = found["cells"][8]
    lost.update(runs={"complete": 0, "partial": 0, "failed": 3}, estimates=[])
    lost["verdict"] = {"level": "invalid", "reasons": [quoted("no run was completed")]}
    found["verdict"] = {"level": "invalid", "reasons": [quoted("1 of 82 cells is invalid")]}
    found["published"] = [
        {
            "id": "D-0007",
            "cell": {"pattern": "random_read", "depth": "1"},
            "metric": "read.iops",
            "window": "steady",
            "unit": "1/s",
            "published": 181.0,
            "predicted": 178.5,
            "low": 175.0,
            "high": 182.2,
        },
        {
            "id": "D-0008",
            "cell": {"direction": "read"},
            "metric": "read.bandwidth",
            "window": "steady",
            "unit": "B/s",
            "published": None,
            "predicted": 187e6,
            "low": None,
            "high": None,
        },
    ]
    return found


def without_intervals(found: dict[str, Any]) -> dict[str, Any]:
    """Return the same study with one run per cell."""
    for place in found["cells"]:
        for one in place["estimates"]:
            one["sampling"] |= {"low": None, "high": None, "runs": 1}
    return found


def percentiles(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return a latency distribution for every stream and operation of every cell."""
    for place in found["cells"]:
        for one in place["estimates"]:
            operation, _, measure = one["metric"].partition(".")
            if measure == "latency.p50":
                yield {
                    "world": place["world"],
                    "phase": place["phase"],
                    "levels": place["levels"],
                    "stream": one["subject"],
                    "operation": operation,
                    "percentiles": [
                        [1 - 0.5 ** (n / 2), one["value"] * (0.6 + 0.13 * n + 0.004 * n * n)]
                        for n in range(28)
                    ],
                }


def series(worlds: tuple[str, ...] = ("measured", "simulated")) -> Iterator[dict[str, Any]]:
    """Return the rate of the mixed phase over time."""
    for world in worlds:
        rate = 60.0 if world == "simulated" else 8e3
        yield {
            "world": world,
            "name": "under_writes",
            "unit_key": "iops",
            "t_s": [t / 2 for t in range(1, 61)],
            "values": {
                "reader": [rate * (1 + 0.05 * math.sin(t)) for t in range(60)],
                "writer": [1.6 * rate * (1 + 0.08 * math.cos(t / 3)) for t in range(60)],
            },
        }


def inputs(found: dict[str, Any] | None = None) -> ReportInputs:
    """Return all inputs of a report."""
    found = results() if found is None else found
    return ReportInputs(
        results=found,
        environments={
            "measured": {
                "cpu": "2 × 16 cores at 2.9 GHz",
                "memory": "128 GiB",
                "kernel": "6.1",
                "target": {"kind": "file", "file_system": "ext4", "scheduler": "none"},
                "cache": "bypassed (O_DIRECT)",
            },
            "simulated": {"model": "15k rpm hard disk, 146 GB", "profile": "sas-15k", "seed": 1},
        },
        reproduce=[
            "tameshi run studies/first-look.toml",
            "tameshi run studies/first-look.toml --world measured --on disk=FILE",
        ],
        percentiles=list(percentiles(found)),
        series=list(series()),
    )
