"""Checkpoint lag: whether a database writes its pages more slowly than it changes them."""

from __future__ import annotations

from tameshi.analysis.stats.estimates import WindowData

LEAST_BYTES = 16 << 20
"""Least growth of the checkpoint age that counts."""
SHARE = 0.1
"""Tolerated growth of the checkpoint age in a window, as a share of the log written."""
AGE = "server.checkpoint_age_bytes"
"""Log from the last checkpoint to its end, at an interval's end."""
LOGGED = "server.log_bytes"


def checkpoint_lag(server: WindowData) -> tuple[float, float] | None:
    """Return the growth of the checkpoint age and the log written in a window, in bytes.

    None if page writes keep up: the age must grow in each half of the window, by a tenth of the
    log. The count starts at the first interval's end.
    """
    ages, logged = server.counters.get(AGE, ()), sum(server.counters.get(LOGGED, ())[1:])
    if len(ages) < 3:
        return None
    begin, middle, end = (float(ages[place]) for place in (0, len(ages) // 2, -1))
    grown = end - begin
    if grown <= max(LEAST_BYTES, SHARE * logged) or min(middle - begin, end - middle) < grown / 4:
        return None
    return grown, logged
