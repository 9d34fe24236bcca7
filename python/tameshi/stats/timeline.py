"""The stretches between a phase's events: what happened, and the service after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.stats.estimates import OPERATIONS, WindowData
from tameshi.stats.intervals import digits

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
PARTICULARS = ("t_ns", "source", "kind", "command")
"""Fields of an event that its entry in a timeline does not repeat."""


def stretches(
    events: Sequence[Mapping[str, Any]], begin_ns: int, end_ns: int
) -> list[tuple[int, int, list[dict[str, Any]]]]:
    """The phase from `begin_ns` to `end_ns` cut at each event: begin, end, what happened at begin.

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


def service(subject: str, data: WindowData, failed_around: float = 0.0) -> dict[str, Any]:
    """Rate and mean latency of each operation of a stream in a stretch, and failed commands.

    Over the intervals that lie in it whole; without any, `seconds` is zero. `failed_around`: in the
    interval that the stretch's first event lies in, for what fails there follows from the event.
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
