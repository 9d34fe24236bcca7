"""What each storage offers, as one table at the top of a report."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.inputs import ReportInputs
from tameshi.report.offers import table
from tameshi.report.plain import markdown
from tameshi.report.points import read_results
from tameshi.report.standing import published
from tameshi.report.text import Text

PHASES = {
    "small": {"iops": 1000.0, "bandwidth": 4.096e6, "latency.mean": 64e6},
    "large": {"iops": 100.0, "bandwidth": 1.048576e8, "latency.mean": 10e6},
    "alone": {"iops": 200.0, "bandwidth": 8.192e5, "latency.mean": 5e6},
}
"""With 64 outstanding, in requests of 1 MiB, and one at a time."""
USED = {"disk": {"used_bytes": 98 * 10**9}, "card": {}}


def cell(storage: str, phase: str, subject: str) -> dict[str, Any]:
    told = PHASES[phase]
    drawn = {"watts": 20.0, "iops_per_watt": told["iops"] / 20, "bandwidth_per_watt": None}
    return {
        "world": "simulated",
        "phase": phase,
        "levels": {"storage": storage},
        "runs": {"complete": 1},
        "windows": {phase: 1.0},
        "estimates": [
            {"metric": f"read.{metric}", "subject": "s", "window": phase, "value": value}
            for metric, value in told.items()
        ],
        "power": [
            {"subject": subject, "capacity_bytes": 300 * 10**9, **USED[storage], **drawn},
        ],
    }


def results(subjects: tuple[str, str] = ("storage.disk", "storage.card")) -> dict[str, Any]:
    of = dict(zip(USED, subjects, strict=True))
    latency = {
        "cell": {"storage": "disk"},
        "phase": "alone",
        "metric": "read.latency.mean",
        "unit": "ms",
        "predicted": 5.0,
        "low": None,
        "high": None,
    }
    return {
        "study": {"name": "s", "title": "S", "question": "Why?"},
        "axes": [{"name": "storage", "varies": "across", "levels": list(USED)}],
        "cells": [cell(storage, phase, of[storage]) for storage in USED for phase in PHASES],
        "published": [
            {"id": "S0-0001", **latency, "published": 1.0},
            {"id": "S0-0002", **latency, "published": 10.0},
        ],
    }


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_kinds_of_storage_stand_in_one_table_with_what_each_phase_tells_of_them(lang: str) -> None:
    text = Text(lang)
    shown = table(read_results(results()), text)
    assert shown is not None
    part = text("cell.part", part="98.0 GB", whole="300 GB")
    told = ["1.00 k", "20.0 W", "50.0", "105 MB/s", "5.00 ms"]
    assert [[c.value for c in row.cells] for row in shown.rows] == [
        [part, *told, "1.00 ms – 10.0 ms"],
        ["300 GB", *told, "–"],
    ]
    assert len(shown.columns) == len(shown.rows[0].cells) + 1
    page = markdown(ReportInputs(results=results()), lang)
    assert page.index(shown.caption) < page.index(text("table.overview_bare"))


def test_cells_of_one_storage_have_no_table_of_storages() -> None:
    found = results(("storage.d", "storage.d"))
    assert table(read_results(found), Text("en")) is None


def test_a_figure_within_a_published_range_is_told_so_and_not_divided_by_its_ends() -> None:
    found = results()
    shown = published(read_results(found), Text("en"))
    assert shown is not None
    assert [row.cells[-1].value for row in shown.rows] == ["within it", "within it"]
    for entry in found["published"]:
        entry["predicted"] = 20.0
    shown = published(read_results(found), Text("en"))
    assert shown is not None
    assert [row.cells[-1].value for row in shown.rows] == ["20.0 ×", "2.00 ×"]
