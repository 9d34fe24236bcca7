"""Served drives in the report."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.stats.served import KINDS, served_drives
from tameshi.report.sections.served import table
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text

ZERO = {"p50": 0, "p99": 0}


def events() -> list[dict[str, Any]]:
    """Events of a run whose drive took 200 reads."""
    none = {"operations": 0, "short": 0, "modelled_ns": ZERO, "met_ns": ZERO, "late_ns": ZERO}
    reads = {
        "operations": 200,
        "short": 3,
        "modelled_ns": {"p50": 80_000, "p99": 120_000},
        "met_ns": {"p50": 80_600, "p99": 124_000},
        "late_ns": {"p50": 600, "p99": 4_000},
    }
    operations = {kind: none for kind in KINDS} | {"read": reads}
    facts = {"profile": "ssd", "door": "ring", "offset_ns": 16_000, "real_time": True}
    return [
        {"kind": "drive_served", "storage": "disk", **facts},
        {"kind": "drive_figures", "storage": "disk", "operations": operations},
    ]


def results(served: list[dict[str, Any]]) -> dict[str, Any]:
    cell = {
        "world": "emulated",
        "phase": "steady",
        "levels": {"storage": "card"},
        "runs": {"complete": 1},
        "estimates": [],
        "served": served,
    }
    return {"study": {"name": "s", "title": "S", "question": "Why?"}, "cells": [cell]}


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_drive_shows_modelled_and_met_latency(lang: str) -> None:
    shown = table(read_results(results(served_drives(events()))), Text(lang))
    assert shown is not None
    (row,) = shown.rows
    count = f"{Text(lang).name('read')}: 200"
    assert [cell.value for cell in row.cells] == [
        *(count, "80.0 µs", "80.6 µs", "600 ns", "4.00 µs", "1.50 %", "16.0 µs"),
    ]
    assert len(shown.columns) == len(row.cells) + 1


def test_study_without_served_drives_has_no_table() -> None:
    assert table(read_results(results([])), Text("en")) is None
