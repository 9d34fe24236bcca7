"""Unknown settings in a report: the setting that matters most, and how far each moves figures."""

from __future__ import annotations

from typing import Any

from tameshi.report.sections.answer import answers
from tameshi.report.sections.unknown_settings import summarise, table
from tameshi.report.view.points import View, read_results
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

LEVELS = {"log": ["small", "large"], "clients": ["16", "32"]}


def estimate(value: float, small: float, clients: float) -> dict[str, Any]:
    tried = [
        {"name": "log", "level": "small", "value": small},
        {"name": "clients", "level": "32", "value": clients},
    ]
    sampling = {"low": None, "high": None, "runs": 1}
    figure = {"metric": "transaction.rate", "subject": "tpcc", "value": value}
    return {**figure, "sampling": sampling, "unknown": tried}


def view(*, with_ratio: bool = True) -> View:
    rates = {"sata": estimate(100.0, 50.0, 110.0), "nvme": estimate(200.0, 150.0, 330.0)}
    place = {"world": "simulated", "phase": "run"}
    cells = [
        {**place, "levels": {"drive": drive}, "estimates": [rate]} for drive, rate in rates.items()
    ]
    sides = {"numerator": "nvme", "denominator": "sata"}
    ratio = {
        "metric": "transaction.rate",
        "subject": "tpcc",
        "phase": "run",
        **{side: {"world": "simulated", "levels": {"drive": at}} for side, at in sides.items()},
        **estimate(2.0, 3.0, 3.0),
    }
    unknown = [
        {"name": n, "assumed": lv[-1 if n == "log" else 0], "levels": lv}
        for n, lv in LEVELS.items()
    ]
    axes = [{"name": "drive", "varies": "across", "levels": list(rates)}]
    ratios = [ratio] if with_ratio else []
    return read_results({"axes": axes, "cells": cells, "ratios": ratios, "unknown": unknown})


def test_setting_that_matters_most_is_named_by_ratios() -> None:
    found = summarise(view(), Text("en"), "simulated")
    assert found == [
        "Of what was not published, log matters most: ratios become 1.00 × to 1.50 × of those"
        " shown",
        "the others move them by at most 50.0 %",
    ]


def test_setting_is_named_by_values_without_ratios() -> None:
    (most, _) = summarise(view(with_ratio=False), Text("en"), "simulated")
    assert most.startswith("Of what was not published, log matters most: values become 0.500 ×")


def test_table_has_a_row_for_each_level_that_is_not_assumed() -> None:
    rows = {row.head: [cell.value for cell in row.cells] for row in table(view(), Text("en")).rows}
    assert rows == {
        "log: small": ["large", "0.500 × to 0.750 ×", "1.50 ×"],
        "clients: 32": ["16", "1.10 × to 1.65 ×", "1.50 ×"],
    }


def test_answer_tells_of_unknown_settings_in_each_language() -> None:
    for lang in LANGUAGES:
        text = Text(lang)
        labels = [answer.topic for answer in answers(view(), text)]
        assert text("answer.unknown") in labels


def test_bounds_of_an_effect_include_unknown_settings() -> None:
    sentence = answers(view(), Text("en"))[0].clauses[0].sentence
    assert "2.00 × (model 2.00–3.55)" in sentence
