"""Warm-up: minutes until hit ratio and rate are steady; plots of a cold start."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tameshi.report.sections import plots, warm_up
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.view.section import Page
from tameshi.report.view.time_figures import hits_and_rates, over_time
from tameshi.report.words.text import Text

MINUTES = 90


def entry(quantity: str, **lines: list[float | None]) -> dict[str, Any]:
    return {
        "world": "simulated",
        "name": f"run, {quantity}",
        "quantity": quantity,
        "unit_key": "share" if quantity == "hit_ratio" else "iops",
        "t_s": [60.0 * (i + 1) for i in range(MINUTES)],
        "values": dict(lines),
        "low": dict(lines),
        "high": dict(lines),
        "runs": 1,
    }


def rising(constant_min: float, steady: float) -> list[float | None]:
    """Return an exponential approach to a steady value, by minute."""
    return [steady * (1 - math.exp(-(i + 1) / constant_min)) for i in range(MINUTES)]


FAST, SLOW, NEVER = rising(2, 0.95), rising(8, 0.95), rising(100, 0.95)
SERIES = [
    entry("statements", disk=rising(8, 1000.0), flash=rising(2, 5000.0)),
    entry("hit_ratio", disk=SLOW, flash=FAST),
]


def results() -> dict[str, Any]:
    cells = [
        {"world": "simulated", "phase": "run", "levels": {"storage": name}, "estimates": []}
        for name in ("disk", "flash")
    ]
    axis = {"name": "storage", "varies": "across", "levels": ["disk", "flash"]}
    return {"axes": [axis], "cells": cells}


def sentence(series: list[dict[str, Any]], lang: str = "en") -> str:
    (answer,) = warm_up.answers(read_results(results()), series, Text(lang))
    (clause,) = answer.clauses
    return clause.sentence


def test_warm_up_is_the_first_minute_that_stays_near() -> None:
    # Within a point of 95 %: exp(-t / c) = 1 / 95, t = 4.55 c; within 10 %: t = 2.30 c,
    # where the mean of five minutes is later by at most one.
    assert sentence(SERIES) == (
        "The hit ratio comes within one point of its steady value after 10 min (flash) to 37 min "
        "(disk); the rate comes within 10 % of its steady value after 6 min (flash) to 19 min "
        "(disk)."
    )
    assert sentence(SERIES, "ja").startswith("ヒット率は10分後（flash）から37分後（disk）までに")


def test_quantity_that_still_rises_has_no_steady_value() -> None:
    told = sentence([entry("hit_ratio", disk=NEVER, flash=FAST)])
    assert told.endswith("after 10 min (flash); still changing at the end: disk.")


@pytest.mark.parametrize("series", [[], [entry("hit_ratio", disk=[0.9] * MINUTES)]])
def test_warm_start_has_no_word_about_warm_up(series) -> None:
    assert warm_up.answers(read_results(results()), series, Text()) == []


def test_run_of_minutes_has_an_axis_in_minutes() -> None:
    rates, hits = over_time(read_results(results()), SERIES)
    assert rates.x.label.key == hits.x.label.key == "axis.minutes"
    assert max(rates.panels[0].series[0].x) == MINUTES
    short = entry("statements", disk=[1.0] * MINUTES)
    short["t_s"] = [t / 60 for t in short["t_s"]]
    (seconds,) = over_time(read_results(results()), [short])
    assert seconds.x.label.key == "axis.time"
    long = {**short, "t_s": [t * 3600 for t in short["t_s"]]}
    (hours,) = over_time(read_results(results()), [long])
    assert hours.x.label.key == "axis.hours"
    assert max(hours.panels[0].series[0].x) == MINUTES


def test_rate_is_shown_against_the_hit_ratio_of_its_minute() -> None:
    (figure,) = hits_and_rates(read_results(results()), SERIES)
    disk, flash = figure.panels[0].series
    assert (disk.name, flash.name) == (("disk",), ("flash",))
    assert list(disk.x) == SLOW
    assert disk.y[:2] == tuple(rising(8, 1000.0)[:2])
    assert hits_and_rates(read_results(results()), SERIES[:1]) == []


def test_rate_of_a_cold_start_is_the_plot_of_the_first_screen() -> None:
    page = Page(read_results(results()), ReportInputs(results(), series=SERIES), Text())
    (chief,) = plots.chief(page)
    assert chief.title.key == "figure.over_time_statements"
    assert chief.id not in {figure.id for figure in plots.others(page)}


def test_several_phases_are_named_and_compared_by_their_cells() -> None:
    data, sampling = results(), {"low": None, "high": None, "runs": 1}
    rate = {"metric": "transaction.rate", "subject": "tpcc", "value": 9.0, "sampling": sampling}
    data["cells"] += [{**cell, "phase": "failed"} for cell in data["cells"]]
    data["cells"] = [{**cell, "estimates": [rate]} for cell in data["cells"]]
    again = [{**each, "name": each["name"].replace("run", "failed")} for each in SERIES]
    page = Page(read_results(data), ReportInputs(data, series=[*SERIES, *again]), Text())
    told = warm_up.answers(page.view, page.inputs.series, page.text)
    assert [answer.topic for answer in told] == ["Warm-up in “run”", "Warm-up in “failed”"]
    assert [figure.id for figure in plots.chief(page)] == ["bars-rate"]
