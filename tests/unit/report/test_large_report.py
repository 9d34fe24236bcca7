"""Report of a large study: frontier, sensitivity, parallel coordinates, in place of cells."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tameshi.analysis.stats.gains import Gain
from tameshi.core.reasons import reason
from tameshi.report.sections import large_frontier, large_settings
from tameshi.report.study import markdown, plot_tables, render, terminal_doubts, terminal_summary
from tameshi.report.view.cell_table import CellTable, Load, LoadGain, SettingColumn
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.view.section import Page
from tameshi.report.words.text import Text

ROWS = 3000


def table(rows: int = ROWS, *, cost: bool = False) -> CellTable:
    """Return cells whose latency depends on depth above all, and on the pool a little."""
    drawn = np.random.default_rng(1).random((3, rows))
    depth, pool = np.floor(1 + 63 * drawn[0]), 2.0 ** (28 + 4 * drawn[1])
    kind = np.floor(2 * drawn[2])
    latency = 1e5 * depth * (2**32 / pool) ** 0.1
    rate = 1e4 * depth**0.5
    settings = [
        SettingColumn("queue_depth", "number", depth),
        SettingColumn("buffer_pool", "bytes", pool),
        SettingColumn("storage", "label", kind, ("disk", "flash")),
    ]
    load = Load("s", "read", rate, latency, "latency.p99")
    return CellTable("p", rows, settings, [load], pool / 2**30 if cost else None)


def document(**changes: Any) -> dict[str, Any]:
    verdicts = {"valid": ROWS - 5, "warning": 5, "invalid": 0}
    few = reason("stopped")
    return {
        "schema_version": 3,
        "study": {"name": "many", "title": "Many", "question": "Which setting matters?"},
        "axes": [{"name": "sample", "varies": "across", "count": ROWS, "levels": []}],
        "worlds": ["simulated"],
        "phases": ["p"],
        "tables": {
            "cells": {"files": "results/cells/*.parquet", "rows": ROWS},
            "estimates": {"files": "results/estimates/*.parquet", "rows": 9 * ROWS},
            "sha256": "0",
        },
        "runs": {"complete": ROWS, "partial": 0, "failed": 0},
        "verdicts": verdicts,
        "reasons": [{"reason": few, "cells": 5}],
        "verdict": {"level": "warning", "reasons": [few]},
        **changes,
    }


def inputs(*, cost: bool = False) -> ReportInputs:
    found = document(reasons=[], verdict={"level": "valid", "reasons": []})
    return ReportInputs(found, {"simulated": {"model": "m"}}, tables=[table(cost=cost)])


def page(lang: str = "en", *, cost: bool = False) -> Page:
    given = inputs(cost=cost)
    return Page(read_results(given.results), given, Text(lang))


def test_answer_names_frontier_and_weighty_settings() -> None:
    (line,) = terminal_summary(inputs())
    assert "of 3,000 cells" in line and "are on the frontier" in line
    assert "depends on queue depth (9" in line and "storage" not in line.rpartition("depends")[2]


def test_answer_begins_with_the_gain_and_its_model_error() -> None:
    made = Gain(8.0, 5.0, 12.0, 1500, (1, 0))
    gain = LoadGain("s", "read", "rate", "storage", "flash", "disk", made, (6.0, 9.5))
    cells = table()
    ends = (cells.loads[0].rate * 0.9, cells.loads[0].rate * 1.1)
    load = replace(cells.loads[0], rate_model=ends)
    given = ReportInputs(inputs().results, tables=[replace(cells, gains=[gain], loads=[load])])
    (line,) = terminal_summary(given)
    said = "storage flash yields 8.00 × the operations / s of disk (median of 1,500 pairs of cells"
    assert said in line and "nine tenths from 5.00 × to 12.0 ×" in line
    assert "model 6.00" in line and line.index("yields") < line.index("frontier")
    assert line.rpartition("frontier")[2].count("model") == 2


def test_samples_have_gains_between_the_ends_of_a_setting() -> None:
    (line,) = terminal_summary(inputs())
    assert "queue depth 63 yields " in line and "the operations / s of 1 (ratio of the" in line


def test_report_has_sections_for_all_cells_together() -> None:
    text = markdown(inputs())
    for heading in ("Frontier", "Which settings matter", "Validity", "Tables of all cells"):
        assert f"## {heading}" in text
    assert "All numbers" not in text and "results/cells/" in text
    html = render(inputs())
    assert 'id="parallel"' in html and len(html) < 4_000_000


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_report_is_written_in_both_languages(lang: str) -> None:
    assert "{" not in markdown(inputs(cost=True), lang).replace("{{", "")


def test_frontier_plot_draws_a_readable_number_of_cells() -> None:
    (figure,) = large_frontier.figures(page())
    cloud, front = figure.panels[0].series
    fields = large_frontier.FIELDS[0] * large_frontier.FIELDS[1]
    assert len(cloud.x) + len(front.x) <= fields + len(front.x)
    assert list(front.x) == sorted(front.x)
    assert all("queue depth" in words and "p99" in words for words in front.words)


def test_prices_put_cost_on_the_frontier() -> None:
    (figure,) = large_frontier.figures(page(cost=True))
    assert figure.title.key == "figure.frontier_cost"
    _, front = figure.panels[0].series
    assert list(front.x) == sorted(front.x) and list(front.y) == sorted(front.y, reverse=True)
    (shown,) = large_frontier.tables(page(cost=True))
    assert "cost" in [column.label for column in shown.columns]
    assert len(shown.rows) <= large_frontier.MOST_ROWS


def test_settings_are_ranked_by_their_share() -> None:
    (figure,) = large_settings.sensitivity_figures(page())
    assert figure.x.categories[0] == ("queue_depth",)
    (shown,) = large_settings.sensitivity_tables(page())
    assert shown.rows[0].head == "queue depth" and "1 … 63" in str(shown.rows[0].cells[0])


def test_parallel_coordinates_have_a_line_per_chosen_cell() -> None:
    (figure,) = large_settings.parallel(page())
    lines = figure.panels[0].series
    assert len(lines) == large_settings.LINES and len(figure.x.categories) == 5
    assert all(0 <= y <= 1 for line in lines for y in line.y)
    assert "256 MiB" in figure.x.categories[1][1]
    assert lines[0].y[-1] == pytest.approx(0) and lines[-1].y[-1] == pytest.approx(1)


def test_plots_have_their_data_as_csv() -> None:
    names = plot_tables(inputs())
    assert set(names) == {"frontier-p-s-read.csv", "sensitivity-p.csv", "parallel-p.csv"}


def test_doubts_count_cells_of_the_tables() -> None:
    given = ReportInputs(document(), tables=[table(50)])
    assert "5 of 3,000" in terminal_doubts(given)[0] or "5 of 3000" in terminal_doubts(given)[0]


def test_study_without_finished_cells_has_a_report() -> None:
    empty = document(worlds=[], phases=[], reasons=[], verdict={"level": "valid", "reasons": []})
    assert "Tables of all cells" in markdown(ReportInputs(empty))
