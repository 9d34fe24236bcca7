"""Figure data with known answers, and their drawing."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import first_look
import pytest

from tameshi.core.units import format_tick
from tameshi.report.render.draw import draw
from tameshi.report.render.ticks import (
    binary_log_ticks,
    binary_ticks,
    fitting_ticks,
    linear_ticks,
    log_ticks,
)
from tameshi.report.view.figures import Figure, Scale, Series, figures
from tameshi.report.view.points import read_results
from tameshi.report.view.time_figures import over_time
from tameshi.report.words.text import Phrase, Text


def all_figures() -> dict[str, Figure]:
    inputs = first_look.inputs()
    view = read_results(inputs.results)
    drawn = [*figures(view, inputs.percentiles), *over_time(view, inputs.series)]
    return {f.id: f for f in drawn}


def test_study_has_its_figures_in_order() -> None:
    assert list(all_figures()) == [
        "rate-sweep",
        "latency-sweep",
        "percentiles-sweep",
        "bars-rate",
        "bars-bandwidth",
        "bars-p99",
        "percentiles-plain",
        "series-0",
    ]


def test_sweep_has_a_panel_per_world_and_a_line_per_pattern() -> None:
    figure = all_figures()["rate-sweep"]
    assert [panel.name for panel in figure.panels] == [("measured",), ("simulated",)]
    line = figure.panels[1].series[0]
    assert [s.name for s in figure.panels[1].series] == [(p,) for p in first_look.PATTERNS]
    assert line.x == tuple(float(2**n) for n in range(9))
    cell = first_look.sweep_cell("simulated", "random_read", "16")
    estimate = cell["estimates"][0]
    assert line.y[4] == estimate["value"]
    assert (line.low[4], line.high[4]) == (
        estimate["sampling"]["low"],
        estimate["sampling"]["high"],
    )
    assert figure.x.log and figure.y.log


def test_latency_sweep_separates_p50_and_p99_by_dash() -> None:
    series = all_figures()["latency-sweep"].panels[0].series
    assert [(s.name, s.style, s.dash) for s in series[:2]] == [
        (("random_read", "p50"), 0, 0),
        (("random_read", "p99"), 0, 1),
    ]


def test_percentiles_are_spread_by_nines() -> None:
    figure = all_figures()["percentiles-plain"]
    line = figure.panels[0].series[0]
    assert line.x[:3] == pytest.approx((1.0, math.sqrt(2), 2.0))
    grid = all_figures()["percentiles-sweep"]
    assert (len(grid.panels), grid.columns) == (8, 2)
    ramps = [s.ramp for s in grid.panels[0].series]
    assert (ramps[0], ramps[-1], len(ramps)) == (0.0, 1.0, 9)


def test_percentiles_given_in_percent_are_refused() -> None:
    view = read_results(first_look.results())
    entry = next(iter(first_look.percentiles(first_look.results()))) | {"percentiles": [[99, 1.0]]}
    with pytest.raises(ValueError, match="fractions"):
        figures(view, [entry])


def test_bars_start_at_zero_and_wide_ranges_become_points() -> None:
    result = all_figures()
    assert (result["bars-bandwidth"].kind, result["bars-p99"].kind) == ("bar", "dot")
    assert result["bars-bandwidth"].x.categories == (("bandwidth", "read"), ("bandwidth", "write"))
    drawn = draw(result["bars-bandwidth"], Text())
    assert drawn["layout"]["xaxis"]["range"][0] == 0


def test_intervals_are_drawn_as_distances_from_the_value() -> None:
    drawn = draw(all_figures()["bars-bandwidth"], Text())
    trace = drawn["data"][0]
    assert trace["error_x"]["arrayminus"][0] == pytest.approx(3.12e9 * 0.02)
    assert trace["error_x"]["array"][0] == pytest.approx(3.12e9 * 0.024)
    assert trace["customdata"][0] == (
        "<b>measured</b><br>bandwidth · read<br>3.12 GB/s (3.06–3.19)"
    )


def test_values_without_intervals_have_no_whiskers() -> None:
    view = read_results(first_look.without_intervals(first_look.results()))
    drawn = draw(figures(view)[0], Text())
    assert all(trace.get("error_y") is None for trace in drawn["data"])
    assert "no interval" in drawn["data"][0]["customdata"][0]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_figures_are_plain_json(lang: str) -> None:
    for figure in all_figures().values():
        json.dumps(draw(figure, Text(lang)), allow_nan=False)


def test_traces_are_those_of_the_basic_bundle() -> None:
    drawn = [draw(figure, Text()) for figure in all_figures().values()]
    assert {trace["type"] for each in drawn for trace in each["data"]} == {"scatter", "bar"}


def test_narrow_layout_has_all_panels_in_one_column() -> None:
    drawn = draw(all_figures()["rate-sweep"], Text())
    wide, narrow = drawn["layout"], drawn["narrow"]
    assert wide["xaxis"]["domain"][1] < wide["xaxis2"]["domain"][0]
    assert narrow["xaxis"]["domain"] == narrow["xaxis2"]["domain"] == [0.0, 1.0]
    assert narrow["yaxis"]["domain"][0] > narrow["yaxis2"]["domain"][1]
    used = {trace["xaxis"] for trace in drawn["data"]}
    assert used == {"x", "x2"}, "traces name the same axes in both layouts"
    assert narrow["height"] > wide["height"]
    titles = [[a["text"] for a in each["annotations"]] for each in (wide, narrow)]
    assert titles[0] == titles[1] == ["measured", "simulated"]
    assert [each["yaxis2"].get("showticklabels") for each in (wide, narrow)] != [False, False]


def test_narrow_layout_breaks_long_categories() -> None:
    drawn = draw(all_figures()["bars-bandwidth"], Text())
    assert "<br>" not in "".join(drawn["layout"]["yaxis"]["ticktext"])
    figure = all_figures()["bars-bandwidth"]
    names = tuple(("a phase of many words", *name) for name in figure.x.categories)
    long = replace(figure, x=replace(figure.x, categories=names))
    lines = draw(long, Text())["narrow"]["yaxis"]["ticktext"][0].split("<br>")
    assert len(lines) == 3 and max(map(len, lines)) <= 18
    heights = [draw(each, Text())["narrow"]["height"] for each in (figure, long)]
    assert heights[1] >= heights[0] + 2 * (60 - 46)


@pytest.mark.parametrize("level", [8.2e6, 9.9e6, 1.01e7, 3.16e5])
def test_flat_curve_has_a_tick(level: float) -> None:
    figure = all_figures()["percentiles-plain"]
    (panel, *_) = figure.panels
    flat = replace(panel.series[0], y=tuple(level for _ in panel.series[0].y), low=(), high=())
    figure = replace(figure, panels=(replace(panel, series=(flat,), bounds=()),))
    axis = draw(figure, Text())["layout"]["yaxis"]
    assert axis["type"] == "log"
    low, high = axis["range"]
    assert low < math.log10(level) < high
    assert any(low < math.log10(tick) < high for tick in axis["tickvals"])


def test_ticks() -> None:
    assert log_ticks(150, 420_000) == [1e2, 1e3, 1e4, 1e5, 1e6]
    assert log_ticks(20, 90) == [10, 20, 50, 100, 200, 500]
    assert linear_ticks(3.2e9) == [0, 1e9, 2e9, 3e9, 4e9]
    assert linear_ticks(0) == []
    assert [format_tick("bytes", tick) for tick in binary_ticks(3.2 * 2**30)] == [
        *("0 B", "1 GiB", "2 GiB", "3 GiB", "4 GiB")
    ]
    shown = [format_tick("bytes", tick) for tick in binary_log_ticks(700e3, 90e6)]
    assert shown == ["512 KiB", "2 MiB", "8 MiB", "32 MiB", "128 MiB"]
    assert binary_ticks(0) == []


def searched() -> dict:
    """Return a curve of four rates, whose limit lies between the last two."""

    def estimate(metric: str, value: float) -> dict:
        sampling = {"low": value * 0.9, "high": value * 1.1, "runs": 1, "method": "series"}
        entry = {"metric": metric, "window": "load", "subject": "reads", "unit": "ns"}
        return {**entry, "value": value, "sampling": sampling}

    def cell(rate: str, p50: float, p999: float) -> dict:
        estimates = [
            estimate("read.latency.p50", p50),
            estimate("read.latency.p99", p999 / 2),
            estimate("read.latency.p999", p999),
        ]
        levels = {"rate": rate}
        return {"world": "simulated", "phase": "load", "levels": levels, "estimates": estimates}

    rates = [("1000", 8e4, 2e5), ("5000", 9e4, 3e5), ("8000", 1e5, 6e5), ("9500", 4e5, 4e6)]
    result = {"world": "simulated", "levels": {}, "stream": "reads", "metric": "read.latency.p999"}
    answer = {"limit_ns": 1_000_000, "value": 8500.0, "low": 8000.0, "high": 9500.0}
    return {
        "study": {"name": "s"},
        "axes": [{"name": "rate", "varies": "across", "levels": [rate for rate, *_ in rates]}],
        "cells": [cell(*rate) for rate in rates],
        "searches": [{**result, **answer, "confidence": 0.95, "knee": 8000.0, "runs": 4}],
    }


@pytest.mark.parametrize(
    ("lang", "knee", "highest", "limit"),
    [
        ("en", "knee", "8.50 k under the limit, 95% confidence", "limit 1.00 ms"),
        ("ja", "屈曲点", "上限未満で8.50 k、信頼度95%", "上限 1.00 ms"),
    ],
)
def test_load_latency_curve_shows_knee_limit_and_highest_rate(
    lang: str, knee: str, highest: str, limit: str
) -> None:
    data = {f.id: f for f in figures(read_results(searched()))}
    (panel,) = data["latency-load"].panels
    assert [at for at, _ in panel.marks] == [8000.0, 8500.0]
    assert [at for at, _ in panel.bounds] == [1_000_000.0]
    assert [s.name[-1] for s in panel.series] == ["p50", "p99", "p999"], "the limited one, too"
    drawn = draw(data["latency-load"], Text(lang))
    labels = {a["text"]: a for a in drawn["layout"]["annotations"]}
    assert {knee, highest, limit} <= set(labels)
    lines = drawn["layout"]["shapes"]
    assert [line["x0"] for line in lines if line["x0"] == line["x1"]] == [8000.0, 8500.0]
    assert [line["y0"] for line in lines if line["y0"] == line["y1"]] == [1_000_000.0]
    assert data["latency-load"].x.log
    assert labels[knee]["x"] == pytest.approx(math.log10(8000)), "labels go by the logarithm"
    assert labels[limit]["y"] == pytest.approx(6.0)


def test_other_sweeps_carry_no_marks_of_a_search() -> None:
    for figure in all_figures().values():
        assert not any(panel.bounds for panel in figure.panels)


@pytest.mark.parametrize("width", [60, 120, 240, 480])
@pytest.mark.parametrize(("low", "high"), [(3e6, 2e8), (1e3, 9e9), (4.1e7, 4.4e7)])
def test_labels_below_a_plot_of_a_grid_do_not_overlap(
    low: float, high: float, width: float
) -> None:
    for log, ticks in ((True, log_ticks(low, high)), (False, linear_ticks(high))):
        ends = [math.log10(low), math.log10(high)] if log else [0.0, high]
        scale = Scale(Phrase("axis.statements"), "latency", log=log)
        chosen = fitting_ticks(ticks, scale, ends, width)
        at = [math.log10(tick) if log else tick for tick in chosen]
        places = [(place - ends[0]) / (ends[1] - ends[0]) * width for place in at]
        halves = [len(format_tick("latency", tick)) * 7 / 2 for tick in chosen]
        assert chosen and set(chosen) <= set(ticks)
        for i in range(1, len(chosen)):
            assert places[i] - places[i - 1] > halves[i] + halves[i - 1] + 5


def test_powers_of_ten_go_first_if_labels_are_too_many() -> None:
    scale = Scale(Phrase("axis.statements"), "latency", log=True)
    ticks = [5e6, 1e7, 2e7, 5e7, 1e8]
    assert fitting_ticks(ticks, scale, [6.5, 8.3], 240) == [1e7, 1e8]
    assert fitting_ticks(ticks, scale, [6.5, 8.3], 2400) == ticks


def test_distributions_state_omitted_panels() -> None:
    inputs = first_look.inputs()
    view = read_results(inputs.results)
    one = [
        e
        for e in inputs.percentiles
        if e["levels"] == {"pattern": "random_read", "depth": "16"} and e["world"] == "simulated"
    ]
    (figure,) = [f for f in figures(view, one) if f.id == "percentiles-sweep"]
    assert [panel.name for panel in figure.panels] == [("simulated", "random_read")]
    assert [note.fields for note in figure.notes] == [{"shown": "1", "all": "72"}]
    drawn = draw(figure, Text())
    assert drawn["layout"]["showlegend"] and drawn["layout"]["xaxis"]["title"]["text"]
    assert [trace["name"] for trace in drawn["data"]] == ["depth 16"]
    assert "random read · depth 16" in drawn["data"][0]["customdata"][0]
    assert not all_figures()["percentiles-sweep"].notes


def test_plot_over_time_names_its_cell_of_several() -> None:
    view = read_results(first_look.results())
    entry = next(first_look.series()) | {
        "name": "sweep",
        "levels": (),
        "cell": {"pattern": "random_read", "depth": "16"},
    }
    (figure,) = [f for f in over_time(view, [entry]) if f.id == "series-0"]
    assert figure.panels[0].name == ("measured", "random_read", "depth", "16")
    assert figure.hint == Phrase("hint.series_cell", {"all": "36"})


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_whiskers_are_explained_only_if_present(lang: str) -> None:
    text = Text(lang)
    with_some = [f for f in all_figures().values() if f.whiskers]
    assert {f.kind for f in with_some} == {"line", "bar", "dot"}
    for figure in with_some:
        assert text("hint.whiskers") in map(text.phrase, figure.hints)
        bare = [replace(p, series=tuple(map(without_interval, p.series))) for p in figure.panels]
        hints = replace(figure, panels=tuple(bare)).hints
        assert text("hint.whiskers") not in map(text.phrase, hints)


def without_interval(series: Series) -> Series:
    return replace(series, low=(None,) * len(series.x), high=(None,) * len(series.x))
