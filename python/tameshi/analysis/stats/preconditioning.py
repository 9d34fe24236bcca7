"""Preconditioning of drives: whether a drive was overwritten before it counted as steady."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.unwritten_reads import drives

AGED = "steady"
TIMES = 2.0
"""Capacities to write to a real drive before it is judged (SNIA PTS)."""


def is_fresh_flash(model: Mapping[str, Any]) -> bool:
    """Return whether a simulated storage is flash without prior garbage collection."""
    flash_drives = [drive.get("flash") for drive in drives(model)]
    states = [
        (flash.get("simulated") or {}).get("written") for flash in flash_drives if flash is not None
    ]
    return bool(states) and len(states) == len(flash_drives) and AGED not in states


def share_used(since_begin: WindowData) -> float | None:
    """Return the used share of simulated flash so far; None once it reclaimed something.

    Only erased flash can be programmed, and only garbage collection makes erased flash.
    """
    counters = since_begin.counters
    physical, erased = (
        counters.get(f"flash.{state}_bytes", ()) for state in ("physical", "erased")
    )
    cycles = counters.get("flash.cycles_mean_permille") or [0.0]
    moved = sum(counters.get("flash.moved_bytes", ()))
    if not physical or not physical[-1] or moved or cycles[-1] > cycles[0]:
        return None
    return 1 - (erased[-1] if erased else 0.0) / physical[-1]


def share_covered(written_bytes: float, capacity_bytes: int) -> float | None:
    """Return the written share of a real drive's capacity; None if it is enough."""
    share = written_bytes / capacity_bytes
    return share if share < TIMES else None
