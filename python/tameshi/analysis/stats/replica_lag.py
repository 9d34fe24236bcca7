"""Replica lag: whether an asynchronous replica falls behind without bound."""

from __future__ import annotations

from tameshi.analysis.stats.estimates import WindowData

LEAST_BYTES = 16 << 20
"""Least growth of the lag that counts."""
SHARE = 0.01
"""Tolerated growth of the lag in a window, as a share of the written bytes."""
BEHIND = "replica.behind_bytes"
"""Lag of an asynchronous replica at an interval's end."""


def fallen_behind(storage: WindowData, written_bytes: float) -> float | None:
    """Return the growth of the lag in a window in bytes, given the bytes that streams wrote.

    None without growth, or if the lag settles: it must grow in each half of the window. The count
    starts at the first interval's end.
    """
    behind = storage.counters.get(BEHIND, ())
    if len(behind) < 3:
        return None
    begin, middle, end = (float(behind[place]) for place in (0, len(behind) // 2, -1))
    grown = end - begin
    if grown <= max(LEAST_BYTES, SHARE * written_bytes):
        return None
    return grown if min(middle - begin, end - middle) >= grown / 4 else None
