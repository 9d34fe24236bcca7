"""Power in the report."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.sections.power import tables
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


def results(power: list[dict[str, Any]]) -> dict[str, Any]:
    cell = {
        "world": "simulated",
        "phase": "steady",
        "levels": {"storage": "card"},
        "runs": {"complete": 1},
        "estimates": [],
        "power": power,
    }
    return {"study": {"name": "s", "title": "S", "question": "Why?"}, "cells": [cell]}


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_storage_shows_power_and_performance_per_watt(lang: str) -> None:
    shown = {
        "subject": "storage.d",
        "capacity_bytes": 6_400_000_000_000,
        "watts": 21.97,
        "iops_per_watt": 36_400.0,
        "bandwidth_per_watt": 1.491e8,
    }
    idle = {
        "subject": "storage.d",
        "watts": 0.85,
        "iops_per_watt": None,
        "bandwidth_per_watt": None,
    }
    (table,) = tables(read_results(results([shown, idle])), Text(lang))
    none = Text(lang)("cell.none")
    assert [[cell.value for cell in row.cells] for row in table.rows] == [
        ["6.40 TB", "22.0 W", "36.4 k", "149 MB/s"],
        [none, "850 mW", none, none],
    ]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_warm_drives_show_temperature_and_throttling(lang: str) -> None:
    words = {"watts": 3.0, "iops_per_watt": None, "bandwidth_per_watt": None}
    heat = {"celsius_mean": 74.07, "celsius_max": 78.0, "throttled": 0.529}
    shown = [{"subject": "storage.d", **words, **heat}, {"subject": "storage.e", **words}]
    (table,) = tables(read_results(results(shown)), Text(lang))
    none = Text(lang)("cell.none")
    assert [[cell.value for cell in row.cells[4:]] for row in table.rows] == [
        ["74.1 °C", "78.0 °C", "52.9 %"],
        [none, none, none],
    ]
    assert len(table.columns) == len(table.rows[0].cells) + 1


def test_study_without_power_models_has_no_section() -> None:
    assert tables(read_results(results([])), Text("en")) == []


@pytest.mark.parametrize(
    ("mean", "highest", "throttled", "window_s", "warming"),
    [
        (40.17, 40.69, 0.0, 1.8, True),
        (77.9, 78.0, 0.0, 600.0, False),
        (74.0, 78.0, 0.5, 60.0, False),
    ],
)
def test_temperatures_of_a_warming_drive_are_marked(
    mean: float, highest: float, throttled: float, window_s: float, warming: bool
) -> None:
    words = {"watts": 4.8, "iops_per_watt": None, "bandwidth_per_watt": None}
    heat = {"celsius_mean": mean, "celsius_max": highest, "throttled": throttled}
    data = results([{"subject": "storage.d", **words, **heat}])
    data["cells"][0]["windows"] = {"steady": window_s}
    for lang in ("en", "ja"):
        (table,) = tables(read_results(data), Text(lang))
        assert {bool(cell.mark) for cell in table.rows[0].cells[4:]} == {warming}
        assert (Text(lang)("note.warming") in table.note) == warming
