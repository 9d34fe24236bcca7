"""Stretches between a phase's events: the events, and the service after each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import OPERATIONS, WindowData
from tameshi.analysis.stats.intervals import digits

Part = tuple[int, int, list[dict[str, Any]]]
"""Stretch: its start, its end, and the events at its start."""
MISSED = "missed"
FAILED = "load.failed"
KINDS = (
    "fail",
    "replace",
    "rebuilt",
    "power_cut",
    "failover",
    "crash",
    "restart",
    "pool_loaded",
    MISSED,
    "hook_begin",
    "hook_end",
)
"""Kinds of events in a timeline."""
FAULTS = {"fail", "power_cut", "failover", "crash", "restart", "hook_begin"}
"""Kinds of events that make commands fail."""
PARTICULARS = ("t_ns", "source", "kind", "command")
"""Fields of an event that its timeline entry omits."""


def stretches(events: Sequence[Mapping[str, Any]], begin_ns: int, end_ns: int) -> list[Part]:
    """Return the phase from `begin_ns` to `end_ns`, cut at each event.

    An event that did not happen gets a stretch without length at the end. Empty without events.
    """
    dated = [
        (min(int(event["t_ns"]), end_ns), event)
        for event in events
        if event["kind"] in KINDS and begin_ns <= event["t_ns"]
        if event["t_ns"] < end_ns or event["kind"] == MISSED
    ]
    cuts = sorted({begin_ns, *(at for at, _ in dated)})
    ends = [*cuts[1:], end_ns]
    return [
        (first, last, [_happened(event) for at, event in dated if at == first])
        for first, last in zip(cuts, ends, strict=True)
        if dated
    ]


def _happened(event: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in event.items() if key not in PARTICULARS}
    return {"kind": event["kind"], **rest}


def failed_around(
    parts: Sequence[Part],
    visits: Iterable[Sequence[int]],
    counted: Iterable[tuple[int, int, float]],
) -> list[float]:
    """Return failed commands of intervals that events split, by the stretch that they count for.

    They count for the first fault in the interval, or for the stretch in which the interval starts.
    `counted`: start, end and failed commands of intervals; those that start outside the phase
    belong to another phase.
    """
    failures = [0.0] * len(parts)
    spans = list(visits)
    for begin, end, failed in counted:
        last = next((min(end, over) for came, over in spans if came <= begin < over), begin)
        held = [place for place, part in enumerate(parts) if begin <= part[0] < last]
        cuts = [place for place in held if parts[place][0] > begin]
        if cuts:
            faults = (place for place in held if _is_fault(parts[place]))
            failures[next(faults, cuts[0] - 1)] += failed
    return failures


def _is_fault(part: Part) -> bool:
    return any(event["kind"] in FAULTS for event in part[2])


def service(subject: str, data: WindowData, failed_around: float = 0.0) -> dict[str, Any]:
    """Return rate and mean latency of each operation of a stream in a stretch, and failed commands.

    Covers the intervals that lie entirely in it; without any, `seconds` is zero. `failed_around`:
    failures of split intervals that count for it.
    """
    seconds = sum(data.lengths_ns) / 1e9
    operations = {}
    for operation in OPERATIONS:
        count = _total(data, f"{operation}.count")
        if count:
            operations[operation] = {
                "rate": digits(count / seconds),
                "latency_ns_mean": digits(_total(data, f"{operation}.latency_sum") / count),
            }
    failed = int(_total(data, FAILED) + failed_around)
    entry = {"subject": subject, "seconds": digits(seconds), "operations": operations}
    return {**entry, "failed": failed}


def rebuild(subject: str, data: WindowData) -> dict[str, Any] | None:
    """Return bytes per second that rebuilds wrote to a storage in a stretch; None if they wrote
    nothing."""
    written, seconds = _total(data, "rebuild.bytes"), sum(data.lengths_ns) / 1e9
    return {"subject": subject, "bandwidth": digits(written / seconds)} if written else None


def _total(data: WindowData, metric: str) -> float:
    return float(sum(data.counters.get(metric, ())))
