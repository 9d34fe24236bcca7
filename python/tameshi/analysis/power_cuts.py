"""Power cuts that wait for a write: torn writes, broken pages, and starts of the server after them.

Runs that failed count: a database that did not start again is a result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.analysis.findings import phase_of
from tameshi.record.store import SealedRun

CUT = {"drive_cut", "power_cut"}
"""Events of a cut: of a served drive, and of a simulated one."""
TORN = "pages_torn"


def power_cuts(runs: Sequence[SealedRun], phase: int) -> dict[str, Any]:
    """Return what the power cuts of a phase did, by run; nothing if none waits for a write."""
    found = [
        {"repetition": run.spec.repetition, **_of_run(run, phase)}
        for run in runs
        if any(e.power_cut and e.power_cut.during_write for e in (run.spec.events or {}).values())
    ]
    return {"power_cuts": found} if any(each["cuts"] for each in found) else {}


def _of_run(run: SealedRun, phase: int) -> dict[str, Any]:
    events = [event for event in run.events() if phase_of(event, run, phase) == phase]
    cuts: dict[int, list[Mapping[str, Any]]] = {}
    for event in events:
        if event["kind"] in CUT:
            cuts.setdefault(event["t_ns"], []).append(event)
    torn = [sum(drive["torn_writes"] for drive in drives) for drives in cuts.values()]
    crashes = [e for e in events if e["kind"] == "crash" and e["how"] == "power_cut"]
    return {
        "cuts": len(cuts),
        "torn_cuts": sum(count > 0 for count in torn),
        "torn_writes": sum(torn),
        "starts": sum(crash.get("back") is not False for crash in crashes) - beyond_repair(events),
        **_pages(events),
    }


def beyond_repair(events: Sequence[Mapping[str, Any]]) -> int:
    """Return the cuts after which a simulated server would not start; the model continues."""
    return sum(why["code"] == TORN for event in events for why in event.get("reasons", ()))


def _pages(events: Sequence[Mapping[str, Any]]) -> dict[str, int | None]:
    """Return broken pages by Tameshi's check and by the server's tool, and cuts that left any; of a
    simulated server, pages beyond repair."""
    checks = [event for event in events if event["kind"] == "pages_checked"]
    by_tool = [e["broken_by_tool"] for e in checks if e["broken_by_tool"] is not None]
    reasons = [why for event in events for why in event.get("reasons", ())]
    torn = [why["values"]["count"] for why in reasons if why["code"] == TORN]
    broken = [event["broken"] for event in checks] or torn
    return {
        "broken_cuts": sum(count > 0 for count in broken),
        "broken": sum(broken),
        "broken_by_tool": sum(by_tool) if by_tool else None,
    }
