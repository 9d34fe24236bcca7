"""Interference matrix: its phases, and its content."""

from typing import Any

from tameshi.report.sections import interference
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


def cell(phase: str, tails: dict[str, float], operation: str = "read") -> dict[str, Any]:
    """Return a cell whose streams have these p99.9 latencies in ns."""
    metric = f"{operation}.latency.p999"
    sampling = {"low": None, "high": None, "runs": 1, "method": ""}
    estimates = [
        {"metric": metric, "subject": subject, "value": value, "unit": "ns", "sampling": sampling}
        for subject, value in tails.items()
    ]
    return {"world": "simulated", "phase": phase, "levels": {}, "estimates": estimates}


def study(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"study": {"name": "s"}, "axes": [], "cells": list(cells)}


WHOLE = study(
    cell("log", {"log": 1e6}),
    cell("scan", {"in": 4e6, "out": 5e6}),
    cell("flush", {"flush": 2e6}),
    cell("log-scan", {"log": 8e6, "in": 4e6, "out": 5e6}),
    cell("log-flush", {"log": 3e6, "flush": 2e6}),
    cell("scan-flush", {"in": 6e6, "out": 7e6, "flush": 9e6}),
    cell("all", {"log": 20e6, "in": 8e6, "out": 9e6, "flush": 30e6}),
)


def test_loads_alone_pairs_and_all_make_a_matrix():
    matrix = interference.matrix_of(read_results(WHOLE))
    assert matrix
    assert list(matrix.alone) == ["log", "scan", "flush"]
    assert matrix.alone["scan"] == {"in", "out"}, "two streams that never run apart are one load"
    assert matrix.beside("scan", "log") == "log-scan"
    assert matrix.together == "all"


def test_cell_holds_the_tail_and_its_ratio_to_the_tail_alone():
    for lang, alone, beside in [("en", "alone", "with"), ("ja", "単独", "同時に動作")]:
        (table,) = interference.tables(read_results(WHOLE), Text(lang))
        assert [column.label for column in table.columns][1] == alone
        assert [column.group for column in table.columns][2:5] == [beside] * 3
        rows = {row.head: [str(shown) for shown in row.cells] for row in table.rows}
        assert len(rows) == 4
        log = next(cells for head, cells in rows.items() if head.startswith(("log", "ログ")))
        assert [cells.split(" (")[0] for cells in log] == [
            "1.00 ms",
            "–",
            "8.00 ms",
            "3.00 ms",
            "20.0 ms",
        ]
        assert "8.00" in log[2].split("(")[1]


def test_two_phases_make_no_matrix():
    few = study(
        cell("alone", {"reader": 1e6}),
        cell("under_writes", {"reader": 2e6, "writer": 1e6}),
    )
    assert interference.matrix_of(read_results(few)) is None
    assert interference.tables(read_results(few), Text("en")) == []


def test_phases_varied_by_an_axis_are_no_loads():
    cells = [{**c, "levels": {"depth": "1"}} for c in WHOLE["cells"]]
    assert interference.matrix_of(read_results(study(*cells))) is None
