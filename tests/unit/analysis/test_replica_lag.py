"""Lag of an asynchronous replica: bounded or growing."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.replica_lag import fallen_behind

SECOND = 1_000_000_000
MIB = 1 << 20


def behind(mib: Sequence[float], written_mib: float = 1000.0) -> float | None:
    """Return the growth of the lag in bytes, from the lag at the end of each second."""
    counters = {"replica.behind_bytes": [each * MIB for each in mib]} if mib else {}
    data = WindowData(SECOND * len(mib), [SECOND] * len(mib), counters, {})
    return fallen_behind(data, written_mib * MIB)


def test_growing_lag_counts_from_the_first_interval() -> None:
    assert behind([100.0 * second for second in range(1, 11)]) == 900 * MIB
    assert behind([5000.0 + 100.0 * second for second in range(10)]) == 900 * MIB, "a later phase"


def test_settled_or_small_lag_is_ignored() -> None:
    assert behind([]) is None, "nothing is acknowledged without the far side"
    assert behind([0.0, 400.0, 500.0, 500.0, 500.0, 500.0, 500.0, 500.0]) is None, "it fills once"
    assert behind([3.0, 1.0, 4.0, 2.0, 3.0, 1.0]) is None, "it keeps up"
    assert behind([2.0 * second for second in range(9)]) is None, "16 MiB are little"
    assert behind([10.0 * second for second in range(10)], written_mib=10_000.0) is None
    assert behind([1000.0 - 100.0 * second for second in range(10)]) is None, "it catches up"
