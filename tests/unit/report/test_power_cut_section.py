"""Power cuts during writes in a report: sentences of the answer, and the table."""

from __future__ import annotations

from typing import Any

from tameshi.report.sections import power_cuts
from tameshi.report.study import markdown, terminal_summary
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


def estimate(metric: str, value: float) -> dict[str, Any]:
    sampling = {"low": None, "high": None, "runs": 1}
    return {"subject": "key_update", "metric": metric, "value": value, "sampling": sampling}


def cell(pages: str, estimates: list[dict[str, Any]], *runs: dict[str, Any]) -> dict[str, Any]:
    place = {"world": "emulated", "phase": "run", "levels": {"pages": pages}}
    return place | {"estimates": estimates, "database": [], "power_cuts": list(runs)}


def run(cuts: int, torn: int, broken: int, starts: int, by_tool: int | None) -> dict[str, Any]:
    counts = {"repetition": 0, "cuts": cuts, "torn_cuts": torn, "torn_writes": torn}
    pages = {"broken_cuts": min(broken, torn), "broken": broken, "broken_by_tool": by_tool}
    return counts | pages | {"starts": starts}


FIGURES = [estimate("transaction.rate", 100.0), estimate("server.write_bandwidth", 5e6)]


def results() -> dict[str, Any]:
    """Return a cell that survives its cuts, and one whose two runs end at their first cut."""
    failed = run(1, 1, 1, 0, 1)
    cells = [cell("twice", FIGURES, run(5, 4, 0, 5, 0)), cell("once", [], failed, failed)]
    axes = [{"name": "pages", "varies": "across", "levels": ["twice", "once"]}]
    return {"study": {"name": "s"}, "axes": axes, "cells": cells}


def test_answer_begins_with_broken_pages_and_starts() -> None:
    first = terminal_summary(ReportInputs(results()))[0]
    assert first == (
        "Power cuts — Emulated: Pages twice: none of 5 power cuts broke a page, and the database "
        "started after each; pages once: 2 of 2 power cuts broke pages (2), and the database "
        "started after 0 of 2."
    )


def test_table_counts_cuts_pages_starts_and_costs() -> None:
    view = read_results(results())
    table = power_cuts.table(view, Text("en"))
    survived, failed = ([shown.value for shown in row.cells] for row in table.rows)
    assert survived == ["5", "4", "0", "0", "5 of 5", "100", "48.8 KiB"]
    assert failed == ["2", "2", "2", "2", "0 of 2", "–", "–"]
    assert "Power cuts while pages were written" in markdown(ReportInputs(results()))
    japanese = power_cuts.summarise(view, Text("ja"), "emulated")
    assert "電源断5回でページの破損なし" in japanese[0]
