"""Lateness of served drives: how far an emulated run differs from its model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tameshi.core.reasons import Reason, reason, verdict

KINDS = ("read", "write", "flush", "trim")
CODES = frozenset({"served_late", "served_short", "served_path", "served_unpaced", "served_moved"})
"""Codes of all reasons of served drives."""
PATH_NS = 35_000
"""Usual time of a request through file system, loop device and FUSE."""
LATE_NS = 5_000
LATE_SHARE = 0.02
"""Most median lateness of an operation: whichever is larger, the share being of its modelled
median."""
SHORT_SHARE = 0.05
"""Share of operations with a modelled latency below the path's time from which a warning tells."""
PATH_SHARE = 0.05
"""Most time of requests in the kernel beyond what the path took when it was measured."""
MOVED_SHARE = 0.05
"""Most time that a drive may answer late, as a share of the time that it works or of the run."""


def served_verdicts(
    storage: str, status: Mapping[str, Any], window_ns: int
) -> list[dict[str, Any]]:
    """Return the verdicts on one drive of a run from its figures over `window_ns`."""
    found = [verdict("warning", each) for each in _warnings(storage, status)]
    share = moved_share(status, window_ns)
    if share > MOVED_SHARE:
        found.append(verdict("invalid", reason("served_moved", storage, share=share)))
    return found


def served_drives(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the drives that served a run, with the figures of their operations."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        if event["kind"] == "drive_served":
            facts = ("storage", "profile", "door", "offset_ns")
            found[event["storage"]] = {fact: event[fact] for fact in facts} | {"operations": {}}
        elif event["kind"] == "drive_figures" and event["storage"] in found:
            operations = event["operations"].items()
            done = {kind: _shown(of) for kind, of in operations if of["operations"]}
            found[event["storage"]]["operations"] = done
    return list(found.values())


def _shown(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "count": figures["operations"],
        "modelled_p50_ns": figures["modelled_ns"]["p50"],
        "met_p50_ns": figures["met_ns"]["p50"],
        "late_p50_ns": figures["late_ns"]["p50"],
        "late_p99_ns": figures["late_ns"]["p99"],
        "short_share": figures["short"] / figures["operations"],
    }


def _warnings(storage: str, status: Mapping[str, Any]) -> list[Reason]:
    found: list[Reason] = []
    for kind in KINDS:
        figures = status["operations"][kind]
        if not figures["operations"]:
            continue
        late_ns, modelled_ns = figures["late_ns"]["p50"], figures["modelled_ns"]["p50"]
        if late_ns > max(LATE_NS, LATE_SHARE * modelled_ns):
            fields = {"operation": kind, "late_ns": late_ns, "modelled_ns": modelled_ns}
            found.append(reason("served_late", storage, **fields))
        share = figures["short"] / figures["operations"]
        if share > SHORT_SHARE:
            missing_ns = round(figures["short_ns"] / figures["short"])
            fields = {"operation": kind, "share": share, "missing_ns": missing_ns}
            found.append(reason("served_short", storage, **fields))
    share = path_share(status)
    if share > PATH_SHARE:
        found.append(reason("served_path", storage, share=share))
    if not (status["real_time"] and status["processors_awake"]):
        found.append(reason("served_unpaced", storage))
    return found


def path_share(status: Mapping[str, Any]) -> float:
    """Return the time of requests in the kernel beyond that of the drive, as a share."""
    whole_ns = beyond_ns = 0.0
    for kind, kernel_ns in status.get("kernel_ns", {}).items():
        figures = status["operations"][kind]
        whole_ns += kernel_ns
        beyond_ns += max(kernel_ns - figures["met_ns"]["mean"] * figures["operations"], 0)
    return beyond_ns / whole_ns if whole_ns else 0.0


def moved_share(status: Mapping[str, Any], window_ns: int) -> float:
    """Return the time that a drive answered later than its model, as a share.

    The share is of the time that requests were outstanding, summed over them; of the run, if that
    is longer. The rate of a closed loop moves by as much; other rates by less.
    """
    late_ns = met_ns = 0.0
    for kind in KINDS:
        figures = status["operations"][kind]
        count = figures["operations"]
        late_ns += figures["late_ns"]["mean"] * count + figures["short_ns"]
        met_ns += figures["met_ns"]["mean"] * count
    return late_ns / max(met_ns, window_ns, 1)
