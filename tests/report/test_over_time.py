"""A database over time: what a line shows of several runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tameshi.report.draw import draw
from tameshi.report.figures import over_time
from tameshi.report.modelled import banded, figures
from tameshi.report.over_time import RunWindow, database_series, over_written
from tameshi.report.points import Point, View, moves_large_blocks
from tameshi.report.text import Text

SECOND = 1_000_000_000
WINDOW = {"name": "run", "phase_begin_ns": SECOND // 2, "end_ns": SECOND * 7 // 2}


def run_of(rates: list[float], cell: str = "small", late_ns: int = 0) -> RunWindow:
    """A run of a second each, whose intervals end a little later than in other runs."""
    ends = [SECOND // 2 + SECOND * (place + 1) + late_ns for place in range(len(rates))]
    rows: list[tuple[Any, ...]] = [
        ("load", end, SECOND, "oltp", "statement.count", rate)
        for end, rate in zip(ends, rates, strict=True)
    ]
    # What is left of an interval at the end says nothing.
    rows.append(("load", ends[-1] + SECOND // 10, SECOND // 10, "oltp", "statement.count", 1.0))
    columns = ["source", "t_ns", "dt_ns", "subject", "metric", "value"]
    series = pl.DataFrame(rows, schema=columns, orient="row")
    return RunWindow("measured", [cell], WINDOW, 1.0, series)


def test_a_line_is_the_mean_of_all_runs_between_the_least_and_the_greatest() -> None:
    runs = [
        run_of([100.0, 200.0, 300.0]),
        run_of([140.0, 220.0, 120.0], late_ns=4_000_000),
        run_of([50.0, 60.0, 70.0], "large"),
    ]
    (entry,) = database_series(runs)
    assert entry["t_s"] == [1.0, 2.0, 3.0]
    assert entry["values"] == {"small": [120.0, 210.0, 210.0], "large": [50.0, 60.0, 70.0]}
    assert entry["low"]["small"] == [100.0, 200.0, 120.0]
    assert entry["high"]["small"] == [140.0, 220.0, 300.0]
    assert entry["low"]["large"] == entry["high"]["large"] == [50.0, 60.0, 70.0]
    assert entry["runs"] == 2


def test_intervals_that_end_halfway_between_two_stay_apart() -> None:
    (entry,) = database_series([run_of([1.0, 2.0, 3.0], late_ns=SECOND // 2)])
    assert list(entry["values"].values()) == [[1.0, 2.0, 3.0]]


def test_several_runs_are_drawn_as_a_line_in_a_band_and_the_hint_says_how_many() -> None:
    several = list(database_series([run_of([100.0, 200.0]), run_of([140.0, 220.0])]))
    nothing = {"axes": (), "worlds": ("measured",), "phases": ("run",), "points": (), "cells": ()}
    told = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    view, text = View(name="s", title="S", question="?", **nothing, **told), Text("en")
    (figure,) = over_time(view, several)
    low, high, line = draw(figure, text)["data"]
    assert list(low["y"]) == [100.0, 100.0, 200.0] and list(high["y"]) == [140.0, 140.0, 220.0]
    assert high["fill"] == "tonexty" and list(line["y"]) == [120.0, 120.0, 210.0]
    assert line["mode"] == "lines" and "2" in text.phrase(figure.hint)
    (alone,) = over_time(view, list(database_series([run_of([100.0, 200.0])])))
    assert len(draw(alone, text)["data"]) == 1


def test_a_drive_that_fills_is_shown_against_the_bytes_written_since_its_phase_began() -> None:
    columns = ["source", "t_ns", "dt_ns", "subject", "metric", "value"]
    rows = [
        ("load", end * SECOND, SECOND, stream, metric, value)
        for end, count in ((1, 900.0), (2, 500_000.0), (3, 250_000.0))
        for stream in ("a", "b")
        for metric, value in (("write.count", count), ("write.bytes", count * 4000))
    ]
    series = pl.DataFrame(rows, schema=columns, orient="row")
    window = {"name": "saturate", "visits": [[SECOND, 3 * SECOND]]}
    entry = over_written(series, window)
    assert entry is not None
    assert entry["t_s"] == pytest.approx([4.0, 6.0]), "GB, of both streams, none from before"
    assert entry["values"] == {"write": [1_000_000.0, 500_000.0]}
    told = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    nothing = {"axes": (), "worlds": ("simulated",), "phases": ("saturate",), "cells": ()}
    view = View(name="s", title="S", question="?", points=(), **nothing, **told)
    over_the_time = {**entry, "t_s": [1.0, 2.0]}
    del over_the_time["over"]
    both = [{"world": "simulated", **each} for each in (over_the_time, entry)]
    labels = [(f.title.key, f.x.label.key) for f in over_time(view, both)]
    assert labels == [("figure.series", "axis.time"), ("figure.over_written", "axis.written")]
    reads = series.with_columns(metric=pl.lit("read.count"))
    assert over_written(reads, window) is None


def point(block: str, measure: str, value: float) -> Point:
    told = {"low": None, "high": None, "runs": 1, "method": "", "degrees": None, "scale": None}
    of = {"levels": (("block", block),), "subject": "s", "operation": "write"}
    rest = {"operations": None, "outside_model": False, "sound": True}
    return Point("measured", "cell", measure=measure, value=value, **of, **told, **rest)


def test_requests_of_128_kib_are_told_by_bandwidth_however_the_quotient_is_rounded() -> None:
    points = [
        *(point("128 KiB", "iops", 3890.48666667), point("128 KiB", "bandwidth", 509933868.0)),
        *(point("127 KiB", "iops", 4000.0), point("127 KiB", "bandwidth", 4000.0 * 127 * 1024)),
    ]
    assert points[1].value / points[0].value < 128 * 1024
    nothing = {"axes": (), "worlds": ("measured",), "phases": ("cell",), "cells": ()}
    told = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    view = View(name="s", title="S", question="?", points=tuple(points), **nothing, **told)
    assert [moves_large_blocks(view, p) for p in points] == [True, True, False, False]


def modelled(name: str, metric: str, value: float, low: float, high: float) -> dict[str, Any]:
    model = {"low": low, "high": high, "validated_on": "x", "inside_range": True}
    estimate = {"metric": metric, "subject": "oltp", "value": value, "model": model}
    levels = {"pool": name}
    return {"world": "simulated", "phase": "run", "levels": levels, "estimates": [estimate]}


def view_of(*cells: dict[str, Any]) -> View:
    nothing = {"axes": (), "worlds": ("simulated",), "phases": ("run",), "points": ()}
    told = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    return View(name="s", title="S", question="?", cells=cells, **nothing, **told)


def test_lines_of_a_simulated_database_stand_in_a_band_as_wide_as_the_model_may_be_off() -> None:
    run = replace(run_of([100.0, 200.0]), world="simulated")
    view = view_of(modelled("small", "statement.rate", 150.0, 75.0, 300.0))
    (figure,) = over_time(view, banded(view, list(database_series([run]))))
    low, high, line = draw(figure, Text("en"))["data"]
    assert list(low["y"]) == [50.0, 50.0, 100.0] and list(high["y"]) == [200.0, 200.0, 400.0]
    assert list(line["y"]) == [100.0, 100.0, 200.0]
    assert "model" in Text("en").phrase(figure.hint) and "モデル" in Text("ja").phrase(figure.hint)


def test_a_hit_ratio_in_its_band_stays_between_none_and_all() -> None:
    entry = {
        **{"world": "simulated", "name": "run, hit_ratio", "quantity": "hit_ratio"},
        **{"unit_key": "share", "t_s": [1.0, 2.0], "runs": 1},
        **{key: {"small": [0.5, 0.98]} for key in ("values", "low", "high")},
    }
    view = view_of(modelled("small", "server.hit_ratio", 0.9, 0.8, 0.95))
    (told,) = banded(view, [entry])
    lines = (told[key]["small"] for key in ("low", "values", "high"))
    for low, value, high in zip(*lines, strict=True):
        assert 0 < low < value < high < 1
    lowest = told["low"]["small"][0]
    assert lowest / (1 - lowest) == pytest.approx((0.8 / 0.2) / (0.9 / 0.1))


def test_many_lines_have_no_bands_and_what_was_measured_has_none() -> None:
    cells = [modelled(str(n), "statement.rate", 100.0, 50.0, 200.0) for n in range(9)]
    runs = [replace(run_of([100.0], str(n)), world="simulated") for n in range(9)]
    many = list(database_series(runs))
    assert banded(view_of(*cells), many) == many
    measured = list(database_series([run_of([100.0], "0")]))
    assert banded(view_of(*cells), measured) == measured


def test_each_simulated_cell_is_a_point_with_whiskers_of_the_model() -> None:
    one = modelled("small", "statement.rate", 100.0, 50.0, 200.0)
    other = modelled("large", "statement.rate", 1000.0, 700.0, 1500.0)
    (figure,) = figures(view_of(one, other, {**one, "world": "measured"}))
    (points,) = draw(figure, Text("en"))["data"]
    assert list(points["x"]) == [100.0, 1000.0]
    assert list(points["error_x"]["array"]) == [100.0, 500.0]
    assert list(points["error_x"]["arrayminus"]) == [50.0, 300.0]
    assert figure.x.categories == (("small",), ("large",)) and figure.y.log
    assert figures(view_of({**one, "estimates": [{**one["estimates"][0], "model": None}]})) == []
