"""Reads of flash that was never written, which take no flash time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.core import compiled

MOST = 0.5
"""Least share of reads, or of the flash, that counts as most."""
NEVER = "never"


def least_read_ns(model: Mapping[str, Any]) -> int | None:
    """Return the shortest read of an all-flash storage that is new at the start of the run; None
    for others."""
    all_drives = list(drives(model))
    flash = [drive["flash"] for drive in all_drives if "flash" in drive]
    fresh = [
        profile
        for profile in flash
        if (profile.get("simulated") or {}).get("written", NEVER) == NEVER
    ]
    if not all_drives or len(fresh) < len(all_drives):
        return None
    return min(_least(profile["nand"]["read_time"]["value"]) for profile in fresh)


def drives(node: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every drive of a device tree."""
    if isinstance(node, list):
        for each in node:
            yield from drives(each)
    elif isinstance(node, Mapping):
        if "profile" in node and isinstance(node.get("device"), Mapping):
            yield node["device"]
            return
        for each in node.values():
            yield from drives(each)


def _least(time: Any) -> int:
    times = time if isinstance(time, list) else [time]
    return min(compiled.nanoseconds(str(each)) for each in times)


def share_met(stream: WindowData, storage: WindowData, least_ns: int) -> float | None:
    """Return the least share of reads that hit unwritten flash; None if it is not most of them.

    If most of the flash is mapped by then, a cache answered.
    """
    reads, media = (_total(stream, metric) for metric in ("read.count", "time.media_ns_sum"))
    mapped, logical = (_total(storage, f"flash.{state}_bytes") for state in ("mapped", "logical"))
    if not reads or not logical or mapped / logical >= MOST:
        return None
    share = 1 - media / least_ns / reads
    return share if share > MOST else None


def _total(data: WindowData, metric: str) -> float:
    return float(sum(data.counters.get(metric, ())))
