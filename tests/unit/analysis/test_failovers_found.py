"""Failovers in results.json: losses, outage, steps, lag and traffic, by run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from tameshi.analysis.failovers import failovers
from tameshi.record.store import SealedRun

CRASH = {"kind": "crash", "t_ns": 10, "how": "failover", "event": "gone"}
SPANS = {"fence": 1, "catch_up": 2, "promotion": 3, "repointing": 4, "failover": 10}
TOOK_OVER = {"kind": "took_over", "t_ns": 10, "cause": "kill", "spans_ns": SPANS}
FIGURES = {
    "kind": "standby_figures",
    "t_ns": 10,
    "lags_ns": [5, 9, 7],
    "link_bytes": 4000,
    "window_ns": 2_000_000_000,
}
LEDGER = {"acknowledged": 90, "lost": 2, "twice": 1, "phantom": 3}


def run(*events: dict[str, Any]) -> SealedRun:
    """Return a run of two phases with these events, the first from 0 to 100 ns."""
    windows = [
        {"phase": 0, "name": "update", "visits": [[0, 100]]},
        {"phase": 1, "name": "after", "visits": [[100, 200]]},
    ]
    spec = SimpleNamespace(repetition=1)
    made = SimpleNamespace(spec=spec, outcome={"windows": windows}, events=lambda: list(events))
    return cast(SealedRun, made)


def outage(first_ns: int, success_ns: int | None) -> dict[str, Any]:
    span = {"first_error_ns": first_ns, "first_success_ns": success_ns}
    return {"kind": "outage", "t_ns": first_ns, "outage": span}


def test_failover_to_a_standby_has_steps_lag_and_losses() -> None:
    check = {"kind": "check", "t_ns": 200, "ledger": LEDGER}
    made = run(FIGURES, TOOK_OVER, CRASH, outage(2, 4), outage(11, 40), check)
    (found,) = failovers([made], 0)["failovers"]
    assert found == {
        "repetition": 1,
        "event": "gone",
        "cause": "kill",
        "acknowledged": 90,
        "lost": 2,
        "unexplained": 4,
        "away_ns": 30,
        "steps_ns": {"fence": 1, "catch_up": 2, "promotion": 3},
        "lag_ns": 7,
        "link_bytes_per_s": 2000.0,
    }
    assert failovers([made], 1) == {}


def test_failover_of_a_mirror_has_no_steps_and_may_have_no_end() -> None:
    (found,) = failovers([run(CRASH, outage(11, None))], 0)["failovers"]
    assert found["away_ns"] is None and found["acknowledged"] is None
    assert found["steps_ns"] == {} and found["lag_ns"] is None
    assert found["cause"] == "power_cut" and found["link_bytes_per_s"] is None


def test_other_crashes_are_no_failovers() -> None:
    assert failovers([run({**CRASH, "how": "kill"})], 0) == {}
