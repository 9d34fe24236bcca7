"""Latency breakdown and bottleneck of a cell; see docs/why.md for the rule.

Judged per cell over the steady window, from the parts of every latency and the utilisation of each
resource.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.intervals import digits

PARTS = ("queue", "host", "link", "controller", "media", "gc", "rebuild")
"""Parts of a latency, in the order of the record."""
RESOURCES = (
    *("media", "channels", "controller", "link", "cores", "lock", "hypervisor", "power"),
    *("threads", "port", "thermal", "interrupts", "allowance", "places", "flush_turn"),
)
"""Resources that requests share, in the order of the record."""
CORES, LOCK = "cores", "lock"
HELD = ("places", "flush_turn")
"""Resources that a request holds until everything downstream is done, saturated or not."""
OPERATIONS = ("read", "write", "sync", "trim")
"""Operations with latency parts; a commit consists of two."""
SATURATED = 0.9
"""Least utilisation of a saturated resource."""
WAITING = ("queue", "gc", "rebuild")
"""Parts in which a request waits for a resource that serves another."""
WAIT = 0.05
"""Least share of waiting for a busy resource to count as the bottleneck."""


def breakdown(subject: str, runs: Sequence[WindowData]) -> dict[str, Any] | None:
    """Return mean latency and parts of a stream, over all operations of all runs.

    None if the record has no parts, as for real devices.
    """
    parts = {part: sum(_total(run, f"time.{part}_ns_sum") for run in runs) for part in PARTS}
    time = sum(parts.values())
    count = sum(_total(run, f"{operation}.count") for run in runs for operation in OPERATIONS)
    if not time or not count:
        return None
    shares = {
        part: {"mean_ns": digits(spent / count), "share": digits(spent / time)}
        for part, spent in parts.items()
        if spent
    }
    return {
        "subject": subject,
        "operations": int(count),
        "latency_ns_mean": digits(time / count),
        "outstanding": digits(time / sum(run.length_ns for run in runs)),
        "parts": shares,
    }


def busy(subject: str, runs: Sequence[WindowData]) -> list[dict[str, Any]]:
    """Return the utilisation of each resource of a storage or the host."""
    utilisations = []
    for resource in RESOURCES:
        capacity = sum(_total(run, f"capacity.{resource}_ns") for run in runs)
        if capacity:
            worked = sum(_total(run, f"busy.{resource}_ns") for run in runs)
            share = digits(worked / capacity)
            utilisations.append({"subject": subject, "resource": resource, "share": share})
    return utilisations


def bottleneck(
    breakdowns: Sequence[Mapping[str, Any]], resources: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """Return the bottleneck of a cell: a saturated resource, waiting, or latency alone.

    None if nothing is known.
    """
    spent: dict[str, float] = {}
    for stream in breakdowns:
        for part, figures in stream["parts"].items():
            spent[part] = spent.get(part, 0.0) + figures["mean_ns"] * stream["operations"]
    if not spent:
        return None
    part = max(spent, key=lambda name: spent[name])
    limit: dict[str, Any] = {
        "kind": "waiting" if part == "queue" else "latency",
        "part": part,
        "part_share": digits(spent[part] / sum(spent.values())),
        "outstanding": digits(sum(stream["outstanding"] for stream in breakdowns)),
        "subject": None,
        "resource": None,
        "busy": None,
    }
    most = busiest(resources)
    if most is not None:
        figures = {key: most[key] for key in ("subject", "resource")}
        limit |= {**figures, "busy": most["share"]}
        waited = sum(spent.get(name, 0.0) for name in WAITING) / sum(spent.values())
        if most["share"] >= SATURATED and waited >= WAIT:
            limit["kind"] = "saturated"
    return limit


def busiest(resources: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the busiest resource.

    A held resource counts only if nothing downstream of it is saturated. Processors count only if
    no lock does, because threads spin on locks.
    """

    def most(resources: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        return max(resources, key=lambda each: float(each["share"]), default=None)

    working = most(each for each in resources if each["resource"] not in HELD)
    if working is not None and working["share"] >= SATURATED:
        lock = most(each for each in resources if each["resource"] == LOCK)
        spun_on = working["resource"] == CORES and lock and lock["share"] >= SATURATED
        return lock if spun_on else working
    full = most(
        each for each in resources if each["resource"] in HELD and each["share"] >= SATURATED
    )
    return full or working


def _total(run: WindowData, metric: str) -> float:
    return float(sum(run.counters.get(metric, ())))
