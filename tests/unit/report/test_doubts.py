"""Doubtful cells in plain sentences, and their marks in tables and plots."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.core.reasons import reason
from tameshi.report.render.draw import draw
from tameshi.report.sections.doubts import sentences
from tameshi.report.sections.matrices import matrices
from tameshi.report.study import markdown, render
from tameshi.report.view.figures import figures
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import View, read_results
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

DEPTHS = ("1", "8", "64", "256")
PATTERNS = ("random", "sequential")
FULL = reason("processors", "small")
DRIFT = reason("nothing", "small")


def study(levels: dict[tuple[str, str], tuple[str, Any]], patterns=PATTERNS) -> dict[str, Any]:
    """Return a sweep of patterns by depth; `levels`: verdict and reason by pattern and depth."""
    cells = []
    for pattern in patterns:
        for depth in DEPTHS:
            level, why = levels.get((pattern, depth), ("valid", None))
            sampling = {"low": None, "high": None, "runs": 1}
            rate = {"subject": "small", "metric": "read.iops", "value": 100.0 * int(depth)}
            cells.append(
                {
                    "world": "simulated",
                    "phase": "sweep",
                    "levels": {"pattern": pattern, "depth": depth},
                    "estimates": [{**rate, "sampling": sampling}],
                    "verdict": {"level": level, "reasons": [why] if why else []},
                }
            )
    axes = [
        {"name": "pattern", "varies": "within", "levels": list(patterns)},
        {"name": "depth", "varies": "within", "levels": list(DEPTHS)},
    ]
    worst = "invalid" if any(level == "invalid" for level, _ in levels.values()) else "valid"
    verdict = {"level": worst, "reasons": [FULL] if worst == "invalid" else []}
    return {"study": {"name": "s"}, "axes": axes, "cells": cells, "verdict": verdict}


def view(levels: dict[tuple[str, str], tuple[str, Any]]) -> View:
    return read_results(study(levels))


END = {("sequential", depth): ("invalid", FULL) for depth in ("64", "256")}


def test_invalid_end_of_an_axis_is_a_range() -> None:
    assert sentences(view(END), Text()) == [
        "2 of 8 cells can't be trusted: sequential, from depth 64 on "
        "(the processors were the limit, not the disk: small)."
    ]


def test_warnings_have_a_sentence_of_their_own() -> None:
    said = sentences(view({**END, ("random", "8"): ("warning", DRIFT)}), Text())
    assert said[1] == "Warnings for 1 of 8 cells: random, depth 8 (nothing completed: small)."


def test_all_cells_in_doubt_need_no_place() -> None:
    every = {(pattern, depth): ("invalid", FULL) for pattern in PATTERNS for depth in DEPTHS}
    assert sentences(view(every), Text()) == [
        "No cell can be trusted: the processors were the limit, not the disk: small."
    ]


def test_valid_study_has_no_doubts() -> None:
    assert sentences(view({}), Text()) == []


def test_invalid_values_are_crossed_with_a_footnote() -> None:
    (table,) = matrices(view(END), Text())
    crossed = [str(cell) for row in table.rows for cell in row.cells if cell.crossed]
    assert len(crossed) == 2
    assert all(words.startswith("✕ ") for words in crossed)
    assert "✕ invalid: the processors were the limit, not the disk: small." in table.note


def test_invalid_points_are_crossed_with_the_reason_on_hover() -> None:
    (figure, *_) = figures(view(END), ())
    lines = [trace for trace in draw(figure, Text())["data"] if trace.get("customdata")]
    doubtful = next(line for line in lines if isinstance(line["marker"]["symbol"], list))
    crossed = [symbol == "circle-x-open" for symbol in doubtful["marker"]["symbol"]]
    assert crossed == [False, False, True, True]
    assert ["✕ invalid" in words for words in doubtful["customdata"]] == crossed
    sound = next(line for line in lines if line is not doubtful)
    assert isinstance(sound["marker"]["symbol"], str)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_first_screen_has_the_sentence_of_doubt(lang: str) -> None:
    inputs = ReportInputs(study(END))
    (said,) = sentences(view(END), Text(lang))
    assert said in markdown(inputs, lang)
    assert said[:13] in render(inputs, lang)
