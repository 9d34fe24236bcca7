"""Results of failover trials for tests, as the command keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tameshi.availability import SetFolder, Trial, TrialSet, conduct, summarise

ASKED = TrialSet(
    ways=("mariadb-single", "mariadb-asynchronous", "mariadb-semi-synchronous"), repetitions=3
)


def result(rate: float = 1000.0, lost: int = 0, **changed: Any) -> dict[str, Any]:
    """Return a trial's result, as the command keeps it."""
    warmth = {"hit_ratio": 0.99, "reads_per_commit": 0.5, "end_ns": 10**9}
    ledger = {"acknowledged": 500, "lost": lost, "twice": 0, "phantom": 0, "broken": 0}
    outage = {"first_error_ns": 10**9, "first_success_ns": 11 * 10**8, "recovered_ns": None}
    return {
        "rate": rate,
        "rate_alone": None,
        "rate_after": rate,
        "latencies_ns": [[2_000_000, 5_000_000], [0, 0], [2_000_000, 5_000_000]],
        "lags_ns": [],
        "costs": {"link_bytes": 0.0, "primary_cpu_ns": 9e4, "standby_cpu_ns": 0.0},
        "away_ns": 120_000_000,
        "outage": outage,
        "steps_ns": {"fence": 10**7, "catch_up": 1, "promotion": 2, "failover": 10**7 + 3},
        "returned": None,
        "ledger": ledger,
        "holds": True,
        "unexplained": 0,
        "warm_up": {"before": warmth, "after": [{**warmth, "hit_ratio": 0.5}, warmth]},
        "answer": "None was lost.",
        **changed,
    }


def document(folder: Path, asked: TrialSet, losing: str = "") -> dict[str, Any]:
    """Return the summary of a whole set; the way `losing` loses seven commits in each trial."""

    def make(trial: Trial) -> dict[str, Any]:
        is_alone = trial.way.endswith("single")
        lost = 7 if trial.way == losing else 0
        returned = {"means": "binary log", "time_ns": 10**9, "link_bytes": 1 << 20, "refused": ""}
        return result(
            2000.0 + trial.repetition if is_alone else 1500.0,
            lost,
            returned=None if is_alone else returned,
            lags_ns=[] if is_alone else [4_000_000, 5_000_000, 6_000_000],
            holds=not lost or trial.way.endswith("asynchronous"),
            away_ns=100_000_000 * trial.repetition,
        )

    kept = SetFolder(folder)
    kept.begin(asked)
    conduct(asked, kept, make, lambda _: None)
    return summarise(asked, kept)
