"""Failovers of a cell's database: commits lost, outage, steps, lag and traffic of the standby."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from tameshi.analysis.findings import phase_of
from tameshi.record.store import SealedRun

STEPS = ("fence", "catch_up", "promotion")


def failovers(runs: Sequence[SealedRun], phase: int) -> dict[str, Any]:
    """Return the failovers of a phase, by run; nothing without one.

    Only emulated runs with a standby have steps, lag and bytes over the link.
    """
    found = []
    for run in runs:
        events = list(run.events())
        found += [
            {"repetition": run.spec.repetition, **_of(event, events)}
            for event in events
            if event["kind"] == "crash"
            and event["how"] == "failover"
            and phase_of(event, run, phase) == phase
        ]
    return {"failovers": found} if found else {}


def _of(crash: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    check, took_over, figures = (
        _only(events, kind) for kind in ("check", "took_over", "standby_figures")
    )
    ledger = check.get("ledger") or {}
    lags_ns = figures.get("lags_ns") or []
    seconds = figures.get("window_ns", 0) / 1e9
    return {
        "event": crash["event"],
        "cause": took_over.get("cause", "power_cut"),
        "acknowledged": ledger.get("acknowledged"),
        "lost": ledger.get("lost"),
        "unexplained": ledger.get("twice", 0) + ledger.get("phantom", 0),
        "away_ns": _away_ns(crash, events),
        "steps_ns": {step: took_over["spans_ns"][step] for step in STEPS} if took_over else {},
        "lag_ns": round(median(lags_ns)) if lags_ns else None,
        "link_bytes_per_s": figures["link_bytes"] / seconds if seconds else None,
    }


def _only(events: Sequence[Mapping[str, Any]], kind: str) -> Mapping[str, Any]:
    return next((event for event in events if event["kind"] == kind), {})


def _away_ns(crash: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the time from the event to the first success after it; None if there was none."""
    ends = [event["outage"]["first_success_ns"] for event in events if event["kind"] == "outage"]
    later = [end for end in ends if end is not None and end >= crash["t_ns"]]
    return min(later) - crash["t_ns"] if later else None
