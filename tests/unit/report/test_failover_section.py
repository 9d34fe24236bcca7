"""Failovers in a report: the sentence of the answer, and the table."""

from __future__ import annotations

from typing import Any

from tameshi.report.sections import failovers
from tameshi.report.study import markdown
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import View, read_results
from tameshi.report.words.text import Text

STEPS = {"fence": 3_000_000, "catch_up": 4_000_000, "promotion": 5_000_000}


def failover(lost: int, away_ns: int, **more: Any) -> dict[str, Any]:
    counts = {"repetition": 0, "event": "gone", "cause": "kill", "acknowledged": 1000, "lost": lost}
    times = {"unexplained": 0, "away_ns": away_ns, "steps_ns": {}, "lag_ns": None}
    return {**counts, **times, "link_bytes_per_s": None, **more}


def cell(way: str, *runs: dict[str, Any]) -> dict[str, Any]:
    sampling = {"low": None, "high": None, "runs": 1}
    rate = {"subject": "key_update", "metric": "transaction.rate", "value": 100.0}
    place = {"world": "emulated", "phase": "run", "levels": {"way": way}}
    estimates = [rate | {"sampling": sampling}]
    return place | {"estimates": estimates, "database": [], "failovers": list(runs)}


def results() -> dict[str, Any]:
    """Return a cell that lost commits, and one that lost none in two runs."""
    own = {"steps_ns": STEPS, "lag_ns": 7_000_000, "link_bytes_per_s": 102_400.0}
    kept = [failover(0, 500_000_000, **own), failover(0, 700_000_000, **own)]
    cells = [cell("fast", failover(20, 300_000_000)), cell("safe", *kept)]
    axes = [{"name": "way", "varies": "across", "levels": ["fast", "safe"]}]
    return {"study": {"name": "s"}, "axes": axes, "cells": cells}


def view() -> View:
    return read_results(results())


def test_answer_names_losers_and_the_time_away() -> None:
    assert failovers.summarise(view(), Text("en"), "emulated") == [
        "way fast lost 20 of 1,000 acknowledged commits",
        "other failovers (2) lost none of 2,000",
        "the service was back after 0.30–0.70 s",
    ]
    assert failovers.summarise(view(), Text("en"), "simulated") == []


def test_table_has_losses_times_and_traffic_of_the_link() -> None:
    table = failovers.table(view(), Text("en"))
    lost, kept = ([shown.value for shown in row.cells] for row in table.rows)
    assert lost == ["kill", "20 of 1,000", "300 ms", "–", "–", "–", "–", "–"]
    times = ["600 ms", "3.00 ms", "4.00 ms", "5.00 ms", "7.00 ms"]
    assert kept == ["kill", "0 of 2,000", *times, "102 kB/s"]
    assert "Failovers" in markdown(ReportInputs(results()))
    japanese = failovers.summarise(view(), Text("ja"), "emulated")
    assert "1,000件中20件を喪失" in japanese[0]
