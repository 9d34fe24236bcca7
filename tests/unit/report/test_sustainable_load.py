"""Answer of a search for the highest rate under a limit, in words."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.sections.answer import answers, overview
from tameshi.report.study import markdown, terminal_summary
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

RATES = {"1000": 3e4, "9000": 9e4, "9500": 2e5}
SEARCH = {
    "world": "simulated",
    "levels": {},
    "stream": "reads",
    "metric": "read.latency.p99",
    "limit_ns": 100_000,
    "maximum": 12_000.0,
    "knee": 9000.0,
    "runs": 3,
    "value": 9100.0,
    "low": 9000.0,
    "high": 9500.0,
    "confidence": 0.95,
}


def cell(phase: str, levels: dict[str, str], rate: float, p99: float) -> dict[str, Any]:
    shown = {"read.iops": rate, "read.latency.p50": p99 / 2, "read.latency.p99": p99}
    result = [
        {"subject": "reads", "metric": metric, "value": value}
        | {"sampling": {"low": value * 0.99, "high": value * 1.01, "runs": 1}}
        for metric, value in shown.items()
    ]
    return {"world": "simulated", "phase": phase, "levels": levels, "estimates": result}


def searched(*found: dict[str, Any]) -> dict[str, Any]:
    cells = [cell("load", {"rate": rate}, float(rate), p99) for rate, p99 in RATES.items()]
    axis = {"name": "rate", "varies": "across", "levels": list(RATES), "offered": True}
    return {
        "study": {"name": "s"},
        "axes": [axis],
        "cells": [cell("maximum", {}, 12_000.0, 4e6), *cells],
        "searches": list(found),
    }


def said(lang: str = "en", **more: Any) -> list[str]:
    view = read_results(searched({**SEARCH, **more}))
    return [clause.sentence for line in answers(view, Text(lang)) for clause in line.clauses]


def test_limit_comes_first_with_its_interval_and_criterion() -> None:
    assert said()[0] == (
        "Reads sustains 9.10 k requests per second (9.00–9.50) with read latency p99 below 100 µs."
    )
    assert said("ja")[0] == (
        "Readsが読み出しのレイテンシp99を100 µs未満に保てる要求レートは毎秒9.10 k (9.00–9.50)まで。"
    )
    inputs = ReportInputs(searched(SEARCH))
    for lang in LANGUAGES:
        assert "9.10 k" in terminal_summary(inputs, lang)[0]
        assert "9.10 k" in markdown(inputs, lang).split("##")[1]


def test_points_beyond_the_limit_are_no_answer() -> None:
    lines = said()
    assert lines[1:] == [
        "Read takes 15.0 µs (14.8–15.2) at the median and 30.0 µs (29.7–30.3) at p99."
    ], "no peak, no maximum that breaks the limit, no comparison of rates that were asked for"
    unlimited = said(limit_ns=None)
    assert not any("bears" in line or "makes" in line for line in unlimited)
    assert any("12.0 k IOPS" in line for line in unlimited), "without a limit nothing breaks it"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"high": None, "value": 9000.0}, "sustains at least 9.00 k requests per second"),
        (
            {"low": None, "value": None, "high": 1000.0},
            "does not sustain 1.00 k requests per second",
        ),
        (
            {"low": None, "value": None, "high": None},
            "The tested rates do not determine how much reads",
        ),
        ({"confidence": None}, "9.10 k requests per second (9.00–9.50; no interval)"),
    ],
)
def test_limit_bounded_on_one_side_says_so(found: dict[str, Any], words: str) -> None:
    assert words in said(**found)[0]
    assert said("ja", **found)[0].endswith("。")


def test_many_searches_show_the_extremes() -> None:
    result = [
        {**SEARCH, "levels": {"drive": f"d{n}"}, "value": 1000.0 * n, "low": 900.0 * n}
        | {"high": 1100.0 * n}
        for n in range(1, 9)
    ]
    first = answers(read_results(searched(*result)), Text())[0].clauses[0].sentence
    assert first.startswith("Reads · d8 sustains 8.00 k requests per second (7.20–8.80)")
    assert "; reads · d1 sustains 1.00 k" in first
    assert first.endswith("the other 6 lie between them.")


def test_key_figures_have_the_limit_and_no_peak_beyond_it() -> None:
    def told(lang: str = "en", **more: Any) -> list[tuple[str, str, str]]:
        table = overview(read_results(searched({**SEARCH, **more})), Text(lang))
        return [(row.head, row.cells[0].value, row.cells[0].interval) for row in table.rows]

    first, *others = told()
    assert first == (
        "reads: highest rate with read latency p99 below 100 µs",
        "9.10 k",
        "9.00–9.50",
    )
    assert others and not any("peak" in head.lower() for head, *_ in others)
    assert not any(value.startswith("12.0 k") for _, value, _ in others), "it breaks the limit"
    assert told(high=None, value=9000.0)[0][1] == "at least 9.00 k"
    assert told(low=None, value=None, high=1000.0)[0][1] == "less than 1.00 k"
    assert told("ja")[0][0].endswith("最大要求レート")
    assert any("peak" in head for head, *_ in told(limit_ns=None)), "nothing was searched for"
