"""Flash wear in the report."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.sections.endurance import tables
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


def results(amplification: float | None) -> dict[str, Any]:
    flash = {
        "subject": "storage.disk",
        "written_bytes": 12_340_000_000,
        "host_bytes": 12_340_000_000,
        "moved_bytes": 30_000_000_000,
        "write_amplification": amplification,
        "over_provisioning": {"nominal": 0.145, "effective": 0.1312},
        "cycles_mean": 3.1,
        "cycles_max": 5,
        "life_years": 4.2,
    }
    cell = {
        "world": "simulated",
        "phase": "steady",
        "levels": {"depth": "16"},
        "runs": {"complete": 1},
        "estimates": [],
        "endurance": [flash],
    }
    return {"study": {"name": "s", "title": "S", "question": "Why?"}, "cells": [cell]}


@pytest.mark.parametrize(("lang", "years"), [("en", "4.2 years"), ("ja", "4.2年")])
def test_storage_shows_amplification_spares_and_life(lang: str, years: str) -> None:
    (table,) = tables(read_results(results(3.456)), Text(lang))
    (row,) = table.rows
    assert [cell.value for cell in row.cells] == [
        "11.5 GiB",
        "3.46",
        "13.1 %",
        "14.5 %",
        "5",
        years,
    ]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_life_under_a_simulated_database_has_its_model_error(lang: str) -> None:
    data = results(3.456)
    model = {"low": 1.04, "high": 17.2, "validated_on": "nothing", "inside_range": False}
    data["cells"][0]["endurance"][0]["model"] = {"life_years": model}
    (table,) = tables(read_results(data), Text(lang))
    assert table.rows[0].cells[-1].bounds == "[1.04–17.2]!"
    assert "90 %" in table.note and "!" in table.note
    (bare,) = tables(read_results(results(3.456)), Text(lang))
    assert "90 %" not in bare.note


@pytest.mark.parametrize(
    ("lang", "labels"),
    [
        ("en", ["Host writes, all runs", "Drive writes, all runs"]),
        ("ja", ["ホストの書き込み（全実行の合計）", "ドライブの書き込み（全実行の合計）"]),
    ],
)
def test_array_writes_are_not_shown_as_host_writes(lang: str, labels: list[str]) -> None:
    data = results(3.456)
    (flash,) = data["cells"][0]["endurance"]
    (table,) = tables(read_results(data), Text(lang))
    assert [column.label for column in table.columns][1] == labels[1], "of a database no more"
    data["cells"][0]["endurance"] = [flash | {"stream_written_bytes": 6_170_000_000}, flash]
    (table,) = tables(read_results(data), Text(lang))
    assert [column.label for column in table.columns][1:3] == labels
    assert [[cell.value for cell in row.cells[:2]] for row in table.rows] == [
        ["5.75 GiB", "11.5 GiB"],
        [Text(lang)("cell.none"), "11.5 GiB"],
    ]


def test_life_gained_by_read_retry_is_shown() -> None:
    data = results(3.456)
    data["cells"][0]["endurance"][0]["life_years_retried"] = 6.9
    (table,) = tables(read_results(data), Text("en"))
    assert [cell.value for cell in table.rows[0].cells][-2:] == ["4.2 years", "6.9 years"]
    assert len(table.columns) == len(table.rows[0].cells) + 1


def test_storage_without_writes_is_not_shown() -> None:
    assert tables(read_results(results(None)), Text("en")) == []


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_spare_is_effective_only_after_reclaiming(lang: str) -> None:
    data = results(1.0)
    data["cells"][0]["endurance"][0] |= {"moved_bytes": 0}
    (table,) = tables(read_results(data), Text(lang))
    effective, nominal = [cell.value for cell in table.rows[0].cells][2:4]
    assert (effective, nominal) == (Text(lang)("cell.none"), "14.5 %")


def test_exhausted_life_is_zero_and_no_dash() -> None:
    data = results(3.456)
    data["cells"][0]["endurance"][0] |= {"life_years": 0.0, "life_years_retried": 0.0}
    (table,) = tables(read_results(data), Text("en"))
    assert [cell.value for cell in table.rows[0].cells][-2:] == ["0 years", "0 years"]


@pytest.mark.parametrize(("lang", "days"), [("en", "12 days"), ("ja", "12日")])
def test_life_below_a_year_is_in_days(lang: str, days: str) -> None:
    data = results(3.456)
    model = {"low": 0.01, "high": 2.0, "inside_range": True}
    data["cells"][0]["endurance"][0] |= {"life_years": 0.0329, "model": {"life_years": model}}
    (table,) = tables(read_results(data), Text(lang))
    life = table.rows[0].cells[-1]
    assert (life.value, life.bounds) == (days, "[3.65–730]")
