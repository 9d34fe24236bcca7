"""Figure data with known answers, and what drawing makes of it."""

from __future__ import annotations

import json
import math

import first_look
import pytest

from tameshi.report.draw import draw, linear_ticks, log_ticks
from tameshi.report.figures import Figure, figures
from tameshi.report.points import read_results
from tameshi.report.text import Text


def all_figures() -> dict[str, Figure]:
    inputs = first_look.inputs()
    view = read_results(inputs.results)
    return {f.id: f for f in figures(view, inputs.percentiles, inputs.series)}


def test_the_study_gets_its_figures_in_order() -> None:
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


def test_latency_sweep_tells_p50_and_p99_apart_by_dash() -> None:
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
    found = all_figures()
    assert (found["bars-bandwidth"].kind, found["bars-p99"].kind) == ("bar", "dot")
    assert found["bars-bandwidth"].x.categories == (("bandwidth", "read"), ("bandwidth", "write"))
    drawn = draw(found["bars-bandwidth"], Text())
    assert drawn["layout"]["xaxis"]["range"][0] == 0


def test_intervals_are_drawn_as_distances_from_the_value() -> None:
    drawn = draw(all_figures()["bars-bandwidth"], Text())
    trace = drawn["data"][0]
    assert trace["error_x"]["arrayminus"][0] == pytest.approx(3.12e9 * 0.02)
    assert trace["error_x"]["array"][0] == pytest.approx(3.12e9 * 0.024)
    assert trace["customdata"][0] == (
        "<b>measured</b><br>bandwidth · read<br>3.12 GB/s (3.06–3.19)"
    )


def test_without_intervals_there_are_no_whiskers() -> None:
    view = read_results(first_look.without_intervals(first_look.results()))
    drawn = draw(figures(view)[0], Text())
    assert all(trace.get("error_y") is None for trace in drawn["data"])
    assert "no interval" in drawn["data"][0]["customdata"][0]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_figures_are_plain_json(lang: str) -> None:
    for figure in all_figures().values():
        json.dumps(draw(figure, Text(lang)), allow_nan=False)


def test_ticks() -> None:
    assert log_ticks(150, 420_000) == [1e2, 1e3, 1e4, 1e5, 1e6]
    assert log_ticks(20, 90) == [10, 20, 50, 100, 200, 500]
    assert linear_ticks(3.2e9) == [0, 1e9, 2e9, 3e9, 4e9]
    assert linear_ticks(0) == []
