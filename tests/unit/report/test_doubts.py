"""Doubtful cells in plain sentences, and their marks in tables and plots."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.core.reasons import reason
from tameshi.report.render.draw import draw
from tameshi.report.sections.doubts import sentences
from tameshi.report.sections.matrices import matrices
from tameshi.report.study import markdown, render, terminal_summary
from tameshi.report.view.figures import figures
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import View, read_results
from tameshi.report.words.reason_words import CAUSES, REASONS
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
        "2 of 8 cells can't be trusted: sequential beyond depth 8, where the processors were full."
    ]
    assert sentences(view(END), Text("ja")) == [
        "8セル中2セルは信頼できない：sequential 深度 8超（プロセッサが飽和）。"
    ]


def test_warnings_are_counted_next_to_invalid_cells() -> None:
    warned = {("random", "8"): ("warning", DRIFT)}
    (said,) = sentences(view({**END, **warned}), Text())
    assert said.endswith("where the processors were full. Warnings for 1 more.")
    assert sentences(view(warned), Text()) == [
        "Warnings for 1 of 8 cells: random at depth 8, where nothing completed."
    ]


def test_places_with_one_cause_share_it() -> None:
    results = study(END)
    other = [{**cell, "phase": "again"} for cell in study(END)["cells"]]
    results["cells"] += other
    (said,) = sentences(read_results(results), Text())
    assert said == (
        "4 of 16 cells can't be trusted: sweep, sequential beyond depth 8, and again, sequential "
        "beyond depth 8, where the processors were full."
    )


def test_answer_marks_a_figure_of_invalid_cells() -> None:
    every = {("sequential", depth): ("invalid", FULL) for depth in DEPTHS}
    (line, *_) = terminal_summary(ReportInputs(study(every)))
    assert "sequential ✕ 25.6 k, each at depth 256" in line
    assert "random reaches 25.6 k" in line.lower()


def test_reasons_of_several_streams_are_one_cause() -> None:
    other = {("sequential", "256"): ("invalid", reason("processors", "large"))}
    assert sentences(view({**END, **other}), Text()) == sentences(view(END), Text())


def test_cause_without_a_clause_has_the_whole_reason() -> None:
    odd = {("random", "1"): ("warning", reason("pool_raised", asked="1 MiB"))}
    (said,) = sentences(view(odd), Text())
    place, _, cause = said.partition(": ")[2].partition(", ")
    assert (place, cause) == ("random at depth 1", f"{Text().reason(odd['random', '1'][1])}.")


def test_every_clause_is_of_a_reason_in_both_languages() -> None:
    assert CAUSES.keys() <= REASONS.keys()
    assert all(english and japanese for english, japanese in CAUSES.values())


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


FIRST = {("sequential", depth): ("invalid", FULL) for depth in ("1", "8")}
ALL = {("sequential", depth): ("invalid", FULL) for depth in DEPTHS}


@pytest.mark.parametrize(("faults", "hollow"), [(FIRST, False), (END, False), (ALL, True)])
def test_legend_is_hollow_only_if_all_points_are_invalid(faults, hollow) -> None:
    (figure, *_) = figures(view(faults), ())
    traces = draw(figure, Text())["data"]
    keys = [trace for trace in traces if trace.get("showlegend")]
    assert [key["name"] for key in keys] == list(PATTERNS)
    symbols = [key["marker"]["symbol"] for key in keys]
    assert [symbol == "circle-x-open" for symbol in symbols] == [False, hollow]
    assert {trace.get("legendgroup") for trace in traces} == set(PATTERNS)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_first_screen_has_the_sentence_of_doubt(lang: str) -> None:
    inputs = ReportInputs(study(END))
    (said,) = sentences(view(END), Text(lang))
    assert said in markdown(inputs, lang)
    assert said[:13] in render(inputs, lang)
