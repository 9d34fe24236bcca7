"""What a load costs in power, as the report shows it."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.points import read_results
from tameshi.report.power import tables
from tameshi.report.text import Text


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
def test_each_storage_shows_its_power_and_what_a_watt_brings(lang: str) -> None:
    told = {
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
    (table,) = tables(read_results(results([told, idle])), Text(lang))
    none = Text(lang)("cell.none")
    assert [[cell.value for cell in row.cells] for row in table.rows] == [
        ["6.40 TB", "22.0 W", "36.4 k", "149 MB/s"],
        [none, "850 mW", none, none],
    ]


def test_a_study_whose_storages_say_nothing_shows_nothing() -> None:
    assert tables(read_results(results([])), Text("en")) == []
