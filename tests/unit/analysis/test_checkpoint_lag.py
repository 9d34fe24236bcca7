"""Checkpoint age of a database: stationary or growing."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.analysis.stats.checkpoint_lag import checkpoint_lag
from tameshi.analysis.stats.estimates import WindowData

SECOND = 1_000_000_000
MIB = 1 << 20


def lag(age_mib: Sequence[float], log_mib: float = 100.0) -> tuple[float, float] | None:
    """Return the lag in MiB, from the age at the end of each second and the log of each second."""
    counters = {
        "server.checkpoint_age_bytes": [each * MIB for each in age_mib],
        "server.log_bytes": [log_mib * MIB for _ in age_mib],
    }
    found = checkpoint_lag(WindowData(SECOND * len(age_mib), [SECOND] * len(age_mib), counters, {}))
    return found and (found[0] / MIB, found[1] / MIB)


def test_checkpoint_age_that_grows_with_the_log_is_found() -> None:
    assert lag([100.0 * second for second in range(1, 9)]) == (700.0, 700.0), "nothing is written"
    assert lag([3000.0 + 20.0 * second for second in range(9)]) == (160.0, 800.0)


def test_checkpoint_age_that_settles_or_swings_is_ignored() -> None:
    assert lag([]) is None, "a server without a checkpoint age"
    assert lag([0.0, 400.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0]) is None
    assert lag([300.0, 100.0, 400.0, 200.0, 300.0, 100.0]) is None
    assert lag([2.0 * second for second in range(8)], log_mib=3.0) is None, "16 MiB are little"
    assert lag([9.0 * second for second in range(9)]) is None, "nine tenths are written"
    assert lag([800.0 - 100.0 * second for second in range(8)]) is None
