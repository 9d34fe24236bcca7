"""A database over time: what a line shows of several runs."""

from __future__ import annotations

from typing import Any

import polars as pl

from tameshi.report.draw import draw
from tameshi.report.figures import over_time
from tameshi.report.over_time import RunWindow, database_series
from tameshi.report.points import View
from tameshi.report.text import Text

SECOND = 1_000_000_000
WINDOW = {"name": "run", "phase_begin_ns": SECOND // 2, "end_ns": SECOND * 7 // 2}


def run_of(rates: list[float], cell: str = "small", late_ns: int = 0) -> RunWindow:
    """A run of a second each, whose intervals end a little later than in other runs."""
    ends = [SECOND // 2 + SECOND * (place + 1) + late_ns for place in range(len(rates))]
    rows: list[tuple[Any, ...]] = [
        ("load", end, SECOND, "oltp", "statement.count", rate)
        for end, rate in zip(ends, rates, strict=True)
    ]
    # What is left of an interval at the end says nothing.
    rows.append(("load", ends[-1] + SECOND // 10, SECOND // 10, "oltp", "statement.count", 1.0))
    columns = ["source", "t_ns", "dt_ns", "subject", "metric", "value"]
    series = pl.DataFrame(rows, schema=columns, orient="row")
    return RunWindow("measured", [cell], WINDOW, 1.0, series)


def test_a_line_is_the_mean_of_all_runs_between_the_least_and_the_greatest() -> None:
    runs = [
        run_of([100.0, 200.0, 300.0]),
        run_of([140.0, 220.0, 120.0], late_ns=4_000_000),
        run_of([50.0, 60.0, 70.0], "large"),
    ]
    (entry,) = database_series(runs)
    assert entry["t_s"] == [1.0, 2.0, 3.0]
    assert entry["values"] == {"small": [120.0, 210.0, 210.0], "large": [50.0, 60.0, 70.0]}
    assert entry["low"]["small"] == [100.0, 200.0, 120.0]
    assert entry["high"]["small"] == [140.0, 220.0, 300.0]
    assert entry["low"]["large"] == entry["high"]["large"] == [50.0, 60.0, 70.0]
    assert entry["runs"] == 2


def test_intervals_that_end_halfway_between_two_stay_apart() -> None:
    (entry,) = database_series([run_of([1.0, 2.0, 3.0], late_ns=SECOND // 2)])
    assert list(entry["values"].values()) == [[1.0, 2.0, 3.0]]


def test_several_runs_are_drawn_as_a_line_in_a_band_and_the_hint_says_how_many() -> None:
    several = list(database_series([run_of([100.0, 200.0]), run_of([140.0, 220.0])]))
    nothing = {"axes": (), "worlds": ("measured",), "phases": ("run",), "points": (), "cells": ()}
    told = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    view, text = View(name="s", title="S", question="?", **nothing, **told), Text("en")
    (figure,) = over_time(view, several)
    low, high, line = draw(figure, text)["data"]
    assert list(low["y"]) == [100.0, 100.0, 200.0] and list(high["y"]) == [140.0, 140.0, 220.0]
    assert high["fill"] == "tonexty" and list(line["y"]) == [120.0, 120.0, 210.0]
    assert line["mode"] == "lines" and "2" in text.phrase(figure.hint)
    (alone,) = over_time(view, list(database_series([run_of([100.0, 200.0])])))
    assert len(draw(alone, text)["data"]) == 1
