"""Where the time went, and what set the limit: `docs/why.md` tells the rule and why.

Judged per cell over the steady window, from the parts of every latency and from how busy each
resource was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.intervals import digits

PARTS = ("queue", "host", "link", "controller", "media", "gc", "rebuild")
"""What a latency is made of, in the order of the record."""
RESOURCES = (
    *("media", "channels", "controller", "link", "cores", "lock", "hypervisor", "power"),
    *("threads", "port", "thermal", "interrupts", "allowance", "places", "flush_turn"),
)
"""What requests share, in the order of the record."""
CORES, LOCK = "cores", "lock"
HELD = ("places", "flush_turn")
"""What a request has until all behind it is done: taken up whatever else is saturated."""
OPERATIONS = ("read", "write", "sync", "trim")
"""Operations whose latencies have parts; a commit is two of them."""
SATURATED = 0.9
"""Share of its time from which on a resource counts as the limit."""
WAITING = ("queue", "gc", "rebuild")
"""Parts in which a request waits for what works for somebody else."""
WAIT = 0.05
"""Share of the time that requests must wait before a busy resource counts as the limit."""


def breakdown(subject: str, runs: Sequence[WindowData]) -> dict[str, Any] | None:
    """Mean latency of a stream and of each part, over all operations of all runs together.

    None where the record tells no parts, as it does of real devices.
    """
    parts = {part: sum(_total(run, f"time.{part}_ns_sum") for run in runs) for part in PARTS}
    time = sum(parts.values())
    count = sum(_total(run, f"{operation}.count") for run in runs for operation in OPERATIONS)
    if not time or not count:
        return None
    told = {
        part: {"mean_ns": digits(spent / count), "share": digits(spent / time)}
        for part, spent in parts.items()
        if spent
    }
    return {
        "subject": subject,
        "operations": int(count),
        "latency_ns_mean": digits(time / count),
        "outstanding": digits(time / sum(run.length_ns for run in runs)),
        "parts": told,
    }


def busy(subject: str, runs: Sequence[WindowData]) -> list[dict[str, Any]]:
    """How busy each resource of a storage, or of the host, was: of a resource's time a share."""
    found = []
    for resource in RESOURCES:
        capacity = sum(_total(run, f"capacity.{resource}_ns") for run in runs)
        if capacity:
            worked = sum(_total(run, f"busy.{resource}_ns") for run in runs)
            share = digits(worked / capacity)
            found.append({"subject": subject, "resource": resource, "share": share})
    return found


def bottleneck(
    breakdowns: Sequence[Mapping[str, Any]], resources: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """What limits a cell: a saturated resource, waiting, or nothing but the latency itself.

    None where nothing is known.
    """
    spent: dict[str, float] = {}
    for stream in breakdowns:
        for part, told in stream["parts"].items():
            spent[part] = spent.get(part, 0.0) + told["mean_ns"] * stream["operations"]
    if not spent:
        return None
    part = max(spent, key=lambda name: spent[name])
    found: dict[str, Any] = {
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
        told = {key: most[key] for key in ("subject", "resource")}
        found |= {**told, "busy": most["share"]}
        waited = sum(spent.get(name, 0.0) for name in WAITING) / sum(spent.values())
        if most["share"] >= SATURATED and waited >= WAIT:
            found["kind"] = "saturated"
    return found


def busiest(resources: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The busiest resource.

    What is held is it only where it is taken up and nothing behind it is, and processors only where
    no lock is: they spin on it.
    """

    def most(of: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
        return max(of, key=lambda each: float(each["share"]), default=None)

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
