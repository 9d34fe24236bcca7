"""Comparison table of storages at the top of a report."""

from __future__ import annotations

import pytest
from storage_results import results

from tameshi.report.sections import published
from tameshi.report.sections.comparison_table import table
from tameshi.report.study import markdown
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_storages_share_one_table_of_all_phases(lang: str) -> None:
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


def test_quick_study_has_no_published_levels_in_the_table() -> None:
    data = results()
    data["study"]["quick"] = True
    shown = table(read_results(data), Text())
    assert shown is not None
    assert not any(column.label == Text()("column.published") for column in shown.columns)
    assert len(shown.columns) == len(shown.rows[0].cells) + 1


def test_cells_of_one_storage_have_no_comparison_table() -> None:
    data = results(("storage.d", "storage.d"))
    assert table(read_results(data), Text("en")) is None


def test_figure_within_a_published_range_has_no_ratio() -> None:
    data = results()
    shown = published.table(read_results(data), Text("en"))
    assert shown is not None
    assert [row.cells[-1].value for row in shown.rows] == ["within it", "within it"]
    for entry in data["published"]:
        entry["predicted"] = 20.0
    shown = published.table(read_results(data), Text("en"))
    assert shown is not None
    assert [row.cells[-1].value for row in shown.rows] == ["20.0 ×", "2.00 ×"]
