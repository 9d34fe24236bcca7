"""Does a replica that nobody waits for fall behind without end?"""

from __future__ import annotations

from tameshi.analysis.stats.estimates import WindowData

LEAST_BYTES = 16 << 20
"""By less than that nothing falls behind that is worth a word."""
SHARE = 0.01
"""Share of what is written by which the far side may fall behind in a window."""
BEHIND = "replica.behind_bytes"
"""What the far side lacks at an interval's end; only where nobody waits for it."""


def fallen_behind(storage: WindowData, written_bytes: float) -> float | None:
    """Bytes by which the far side fell behind in a window, of so many that streams wrote.

    None where it did not, or where it came to rest: it must go on in each half of the window. The
    first interval's end is where the count begins.
    """
    behind = storage.counters.get(BEHIND, ())
    if len(behind) < 3:
        return None
    begin, middle, end = (float(behind[place]) for place in (0, len(behind) // 2, -1))
    grown = end - begin
    if grown <= max(LEAST_BYTES, SHARE * written_bytes):
        return None
    return grown if min(middle - begin, end - middle) >= grown / 4 else None
