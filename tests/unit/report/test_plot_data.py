"""Data of plots as CSV, and the command that writes it."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import first_look
import pytest

from tameshi.core.reasons import quoted
from tameshi.report.render.plot_data import FIRST, file_name, plot_csv
from tameshi.report.study import plot_tables
from tameshi.report.view.figures import Figure, Panel, Scale, Series
from tameshi.report.words.text import Phrase, Text

FIGURE = Figure(
    "rate-a b",
    Phrase("axis.none"),
    Phrase("axis.none"),
    "line",
    Scale(Phrase("axis.name", {"name": "depth"}), "number"),
    Scale(Phrase("axis.rate"), "rate"),
    (
        Panel(
            ("measured",),
            (
                Series(
                    ("random_read",),
                    (1.0, 2.5),
                    (1234.5678901234, 2e6),
                    (1e3, None),
                    (2e3, None),
                    models=((1e2, 1e4), None),
                    faults=(None, (quoted("late"), quoted("late"))),
                ),
            ),
        ),
    ),
)


def rows(figure: Figure, lang: str = "en") -> list[list[str]]:
    return list(csv.reader(io.StringIO(plot_csv(figure, Text(lang)))))


def test_points_have_place_value_unit_and_intervals() -> None:
    assert rows(FIGURE) == [
        [
            *("panel", "series", "depth", "value", "unit"),
            *("low", "high", "model_low", "model_high", "invalid"),
        ],
        ["measured", "random read", "1", "1234.56789", "1/s", "1000", "2000", "100", "10000", ""],
        ["measured", "random read", "2.5", "2000000", "1/s", "", "", "", "", "quoted"],
    ]


def test_categories_and_percentiles_are_in_words_and_per_cent() -> None:
    x = Scale(Phrase("axis.none"), "number", categories=(("a",), ("b", "c")))
    series = replace(FIGURE.panels[0].series[0], x=(0.0, 1.0))
    bars = replace(FIGURE, kind="bar", x=x, panels=(Panel(("measured",), (series,)),))
    assert [row[2] for row in rows(bars)] == ["category", "a", "b · c"]
    tail = replace(FIGURE, x=Scale(Phrase("axis.percentile"), "number", log=True))
    line = replace(FIGURE.panels[0].series[0], x=(2.0, 10000.0))
    tail = replace(tail, panels=(Panel((), (line,)),))
    assert [row[2] for row in rows(tail)][1:] == ["50", "99.99"]


def test_bars_between_bounds_have_no_value() -> None:
    assert [row[3] for row in rows(replace(FIGURE, kind="range"))][1:] == ["", ""]


def test_file_name_has_no_sign_of_a_path() -> None:
    assert file_name(FIGURE) == "rate-a-b"
    assert file_name(replace(FIGURE, id="../a/ü")) == "a-ü"
    assert file_name(replace(FIGURE, id="//")) == "plot"


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_every_plot_of_a_report_has_its_table(lang: str) -> None:
    tables = plot_tables(first_look.inputs(), lang)
    assert len(tables) == 8
    for table in tables.values():
        assert table.startswith(FIRST) and table.count("\n") > 1
    read = list(csv.DictReader(io.StringIO(tables["rate-sweep.csv"])))
    cell = first_look.sweep_cell("simulated", "random_read", "16")["estimates"][0]
    values = [float(row["value"]) for row in read]
    assert any(value == pytest.approx(cell["value"]) for value in values)
