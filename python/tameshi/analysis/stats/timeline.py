"""The stretches between a phase's events: what happened, and the service after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import OPERATIONS, WindowData
from tameshi.analysis.stats.intervals import digits

Part = tuple[int, int, list[dict[str, Any]]]
"""A stretch: its begin, its end, what happened at its begin."""
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
"""Kinds of events that a timeline tells."""
FAULTS = {"fail", "power_cut", "failover", "crash", "restart", "hook_begin"}
"""Kinds by which commands may fail that would not have failed before."""
PARTICULARS = ("t_ns", "source", "kind", "command")
"""Fields of an event that its entry in a timeline does not repeat."""


def stretches(events: Sequence[Mapping[str, Any]], begin_ns: int, end_ns: int) -> list[Part]:
    """The phase from `begin_ns` to `end_ns` cut at each event.

    What did not happen although the phase is over has a stretch without length at its end. Empty
    where nothing happened in it.
    """
    told = [
        (min(int(event["t_ns"]), end_ns), event)
        for event in events
        if event["kind"] in KINDS and begin_ns <= event["t_ns"]
        if event["t_ns"] < end_ns or event["kind"] == MISSED
    ]
    cuts = sorted({begin_ns, *(at for at, _ in told)})
    ends = [*cuts[1:], end_ns]
    return [
        (first, last, [_happened(event) for at, event in told if at == first])
        for first, last in zip(cuts, ends, strict=True)
        if told
    ]


def _happened(event: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in event.items() if key not in PARTICULARS}
    return {"kind": event["kind"], **rest}


def failed_around(
    parts: Sequence[Part],
    visits: Iterable[Sequence[int]],
    counted: Iterable[tuple[int, int, float]],
) -> list[float]:
    """Commands that failed in intervals which events cut in two, by the stretch that they count to.

    That is the one of the first fault that the interval holds, for what fails there follows from
    it. Where it holds none, what fails began to before: then it is the one that it begins in.
    `counted`: begin and end of intervals, and commands that failed; what began outside of the
    phase's visits is another phase's work.
    """
    found = [0.0] * len(parts)
    spans = list(visits)
    for begin, end, failed in counted:
        last = next((min(end, over) for came, over in spans if came <= begin < over), begin)
        held = [place for place, part in enumerate(parts) if begin <= part[0] < last]
        cuts = [place for place in held if parts[place][0] > begin]
        if cuts:
            faults = (place for place in held if _is_fault(parts[place]))
            found[next(faults, cuts[0] - 1)] += failed
    return found


def _is_fault(part: Part) -> bool:
    return any(event["kind"] in FAULTS for event in part[2])


def service(subject: str, data: WindowData, failed_around: float = 0.0) -> dict[str, Any]:
    """Rate and mean latency of each operation of a stream in a stretch, and failed commands.

    Over the intervals that lie in it whole; without any, `seconds` is zero. `failed_around`: what
    failed in intervals that the stretch has but a part of, and counts to it.
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
    told = {"subject": subject, "seconds": digits(seconds), "operations": operations}
    return {**told, "failed": failed}


def rebuild(subject: str, data: WindowData) -> dict[str, Any] | None:
    """Bytes a second that rebuilds wrote to a storage in a stretch; None where they did nothing."""
    written, seconds = _total(data, "rebuild.bytes"), sum(data.lengths_ns) / 1e9
    return {"subject": subject, "bandwidth": digits(written / seconds)} if written else None


def _total(data: WindowData, metric: str) -> float:
    return float(sum(data.counters.get(metric, ())))
