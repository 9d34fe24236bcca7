"""Was a drive written over before it counted as steady? Until then it has nothing to reclaim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.unwritten_reads import drives

AGED = "steady"
TIMES = 2.0
"""How many times its capacity a real drive is to be written before it is judged (SNIA PTS)."""


def is_fresh_flash(model: Mapping[str, Any]) -> bool:
    """Whether a simulated storage is of flash that reclaimed nothing yet when the run begins."""
    told = [drive.get("flash") for drive in drives(model)]
    states = [(flash.get("simulated") or {}).get("written") for flash in told if flash is not None]
    return bool(states) and len(states) == len(told) and AGED not in states


def share_used(since_begin: WindowData) -> float | None:
    """The share of simulated flash that was used up by now; None where something was reclaimed.

    Only flash that is erased can be written, and only reclaiming brings erased flash back.
    """
    counters = since_begin.counters
    physical, erased = (counters.get(f"flash.{of}_bytes", ()) for of in ("physical", "erased"))
    cycles = counters.get("flash.cycles_mean_permille") or [0.0]
    moved = sum(counters.get("flash.moved_bytes", ()))
    if not physical or not physical[-1] or moved or cycles[-1] > cycles[0]:
        return None
    return 1 - (erased[-1] if erased else 0.0) / physical[-1]


def share_covered(written_bytes: float, capacity_bytes: int) -> float | None:
    """The share of a real drive's capacity that was written; None where it is enough."""
    share = written_bytes / capacity_bytes
    return share if share < TIMES else None
