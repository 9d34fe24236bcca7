"""Reasons of served drives that cells share: one line each, with the range of its amounts."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.stats import served
from tameshi.core.reasons import Span, distinct, reason, spanned
from tameshi.report.sections.doubts import sentences
from tameshi.report.sections.matrices import matrices
from tameshi.report.sections.validity import verdicts
from tameshi.report.study import markdown, render
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.words.reason_words import CAUSES, REASONS
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

FULL = reason("processors", "small")
LATE_US = (5, 9, 12)


def late(micros: int, operation: str = "read") -> dict[str, Any]:
    fields = {"operation": operation, "late_ns": 1000 * micros, "modelled_ns": 80_000}
    return reason("served_late", "disk", **fields)


def moved(share: float) -> dict[str, Any]:
    return reason("served_moved", "disk", share=share)


def results(*reasons: list[dict[str, Any]], level: str = "warning") -> dict[str, Any]:
    """Return an emulated cell for each list of reasons; without any it is valid."""
    sampling = {"low": None, "high": None, "runs": 1}
    rate = {"subject": "s", "metric": "read.iops", "value": 100.0, "sampling": sampling}
    cells = [
        {
            "world": "emulated",
            "phase": "sweep",
            "levels": {"depth": str(depth)},
            "runs": {"complete": 1},
            "estimates": [rate],
            "verdict": {"level": level if found else "valid", "reasons": found},
        }
        for depth, found in enumerate(reasons, 1)
    ]
    labels = [cell["levels"]["depth"] for cell in cells]
    axes = [{"name": "depth", "varies": "within", "levels": labels}]
    whole = {"level": level, "reasons": distinct(each for found in reasons for each in found)}
    return {"study": {"name": "s"}, "axes": axes, "cells": cells, "verdict": whole}


def test_reasons_that_differ_in_amounts_are_one() -> None:
    (one,) = spanned([late(9), late(5), late(12)])
    assert one["values"]["late_ns"] == Span(5000, 12_000)
    assert one["values"]["modelled_ns"] == 80_000
    assert len(spanned([late(5), late(5, "write"), FULL])) == 3


@pytest.mark.parametrize("lang", LANGUAGES)
def test_amounts_are_told_as_a_range(lang: str) -> None:
    (said,) = Text(lang).reasons([late(9), late(5), late(12)])
    assert "5.00 µs–12.0 µs" in said and said.count("80.0 µs") == 1


def test_verdict_has_a_line_per_reason_with_its_cells() -> None:
    found = [[late(micros)] for micros in LATE_US]
    found[0].append(late(7, "write"))
    table = verdicts(read_results(results(*found, [])), Text())
    warned, valid = table.rows
    assert (warned.mark, valid.mark) == ("warning", "valid")
    assert [str(cell) for cell in warned.cells[1:4]] == ["sweep", "3 of 4", "3 / 0 / 0"]
    reads, writes = warned.cells[4].folds
    assert "5.00 µs–12.0 µs late" in reads.line and reads.line.endswith("(3 cells)")
    assert reads.details == ("depth 1", "depth 2", "depth 3")
    assert "7.00 µs late" in writes.line and writes.details == ()
    assert str(warned.cells[4]) == f"{reads.line}; {writes.line}"


def test_cells_with_further_reasons_have_a_row_of_their_own() -> None:
    table = verdicts(read_results(results([late(5)], [late(6), FULL], [FULL], [])), Text())
    lines = [[fold.line for fold in row.cells[4].folds] for row in table.rows]
    alone, both, full, valid = lines
    assert len(alone) == 1 and len(both) == 2 and not full and not valid
    assert both[0] == str(table.rows[2].cells[4])


def test_page_folds_the_cells_and_markdown_counts_them() -> None:
    inputs = ReportInputs(results(*([late(micros)] for micros in LATE_US), []))
    page = render(inputs)
    assert page.count('<details class="fold">') == 1 and "<li>depth 2</li>" in page
    shown = markdown(inputs)
    assert shown.count("late at the median") == 1 and "(3 cells)" in shown


def test_table_of_invalid_values_has_one_note() -> None:
    found = ([late(5), moved(0.06)], [moved(0.5)], [late(7), moved(0.2)])
    (table,) = matrices(read_results(results(*found, level="invalid")), Text())
    assert table.note.count("✕ invalid") == 1
    assert "5.00 µs–7.00 µs late" in table.note and "6%–50%" in table.note


def test_first_sentence_tells_the_cause_without_amounts() -> None:
    (said,) = sentences(read_results(results([late(5)], [late(6)], [], [])), Text())
    assert said == "Warnings for 2 of 4 cells: at depth 1 or depth 2, whose drives answered late."


def test_every_reason_of_served_drives_has_a_clause() -> None:
    assert {code for code in REASONS if code.startswith("served_")} == served.CODES
    assert CAUSES.keys() >= served.CODES
