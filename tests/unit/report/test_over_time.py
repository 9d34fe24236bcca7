"""Databases over time: lines of several runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from tameshi.report.render.draw import draw
from tameshi.report.sections.model_error import banded, figures
from tameshi.report.sections.over_time import RunWindow, database_series, over_written
from tameshi.report.view.figures import figures as plots
from tameshi.report.view.points import Point, View, moves_large_blocks, read_results
from tameshi.report.view.time_figures import MODELS, over_time
from tameshi.report.words.text import Text

SECOND = 1_000_000_000
WINDOW = {"name": "run", "phase_begin_ns": SECOND // 2, "end_ns": SECOND * 7 // 2}


def run_of(rates: list[float], cell: str = "small", late_ns: int = 0) -> RunWindow:
    """Return a run of a second each, whose intervals end a little later than in other runs."""
    ends = [SECOND // 2 + SECOND * (place + 1) + late_ns for place in range(len(rates))]
    rows: list[tuple[Any, ...]] = [
        ("load", end, SECOND, "oltp", "statement.count", rate)
        for end, rate in zip(ends, rates, strict=True)
    ]
    # A partial interval at the end does not count.
    rows.append(("load", ends[-1] + SECOND // 10, SECOND // 10, "oltp", "statement.count", 1.0))
    columns = ["source", "t_ns", "dt_ns", "subject", "metric", "value"]
    series = pl.DataFrame(rows, schema=columns, orient="row")
    return RunWindow("measured", [cell], WINDOW, 1.0, series)


def test_line_is_the_mean_of_all_runs_within_their_range() -> None:
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


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_dirty_pages_and_checkpoint_age_are_shown_as_sampled(lang: str) -> None:
    run = run_of([100.0, 200.0])
    looks = [
        ("server", end * SECOND + SECOND // 2, SECOND, "server", metric, end * size)
        for metric, size in (
            ("server.dirty_bytes", 2.0**20),
            ("server.checkpoint_age_bytes", 2.0**30),
        )
        for end in (1, 2)
    ]
    shown = pl.DataFrame(looks, schema=run.series.columns, orient="row")
    entries = list(database_series([replace(run, series=pl.concat([run.series, shown]))]))
    assert [entry["quantity"] for entry in entries] == ["statements", "dirty", "checkpoint_age"]
    assert [entry["unit_key"] for entry in entries] == ["iops", "bytes", "bytes"]
    assert entries[1]["values"] == {"small": [2.0**20, 2.0**21]}
    assert entries[2]["values"] == {"small": [2.0**30, 2.0**31]}
    nothing = {"axes": (), "worlds": ("measured",), "phases": ("run",), "points": (), "cells": ()}
    rest = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    _, dirty, age = over_time(View(name="s", title="S", question="?", **nothing, **rest), entries)
    text = Text(lang)
    assert text.phrase(dirty.title) == text("figure.over_time_dirty", phase=text.name("run"))
    ticks = draw(age, text)["layout"]["yaxis"]
    assert ticks["title"]["text"] == text("axis.bytes")
    assert "2 GiB" in ticks["ticktext"]


def test_intervals_ending_between_two_stay_separate() -> None:
    (entry,) = database_series([run_of([1.0, 2.0, 3.0], late_ns=SECOND // 2)])
    assert list(entry["values"].values()) == [[1.0, 2.0, 3.0]]


def test_several_runs_are_a_line_in_a_band_with_a_hint() -> None:
    several = list(database_series([run_of([100.0, 200.0]), run_of([140.0, 220.0])]))
    nothing = {"axes": (), "worlds": ("measured",), "phases": ("run",), "points": (), "cells": ()}
    shown = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    view, text = View(name="s", title="S", question="?", **nothing, **shown), Text("en")
    (figure,) = over_time(view, several)
    low, high, line = draw(figure, text)["data"]
    assert list(low["y"]) == [100.0, 100.0, 200.0] and list(high["y"]) == [140.0, 140.0, 220.0]
    assert high["fill"] == "tonexty" and list(line["y"]) == [120.0, 120.0, 210.0]
    assert line["mode"] == "lines" and "2" in text.phrase(figure.hint)
    (alone,) = over_time(view, list(database_series([run_of([100.0, 200.0])])))
    assert len(draw(alone, text)["data"]) == 1


def test_filling_drive_is_shown_over_bytes_written() -> None:
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
    shown = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    nothing = {"axes": (), "worlds": ("simulated",), "phases": ("saturate",), "cells": ()}
    view = View(name="s", title="S", question="?", points=(), **nothing, **shown)
    over_the_time = {**entry, "t_s": [1.0, 2.0]}
    del over_the_time["over"]
    both = [{"world": "simulated", **each} for each in (over_the_time, entry)]
    labels = [(f.title.key, f.x.label.key) for f in over_time(view, both)]
    assert labels == [("figure.series", "axis.time"), ("figure.over_written", "axis.written")]
    reads = series.with_columns(metric=pl.lit("read.count"))
    assert over_written(reads, window) is None


def point(block: str, measure: str, value: float) -> Point:
    shown = {"low": None, "high": None, "runs": 1, "method": "", "degrees": None, "scale": None}
    entry = {"levels": (("block", block),), "subject": "s", "operation": "write"}
    rest = {"operations": None, "model": None, "outside_model": False, "sound": True}
    return Point("measured", "cell", measure=measure, value=value, **entry, **shown, **rest)


def test_requests_of_128_kib_are_shown_by_bandwidth() -> None:
    points = [
        *(point("128 KiB", "iops", 3890.48666667), point("128 KiB", "bandwidth", 509933868.0)),
        *(point("127 KiB", "iops", 4000.0), point("127 KiB", "bandwidth", 4000.0 * 127 * 1024)),
    ]
    assert points[1].value / points[0].value < 128 * 1024
    nothing = {"axes": (), "worlds": ("measured",), "phases": ("cell",), "cells": ()}
    shown = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    view = View(name="s", title="S", question="?", points=tuple(points), **nothing, **shown)
    assert [moves_large_blocks(view, p) for p in points] == [True, True, False, False]


def modelled(name: str, metric: str, value: float, low: float, high: float) -> dict[str, Any]:
    model = {"low": low, "high": high, "validated_on": "x", "inside_range": True}
    estimate = {"metric": metric, "subject": "oltp", "value": value, "model": model}
    levels = {"pool": name}
    return {"world": "simulated", "phase": "run", "levels": levels, "estimates": [estimate]}


def view_of(*cells: dict[str, Any]) -> View:
    nothing = {"axes": (), "worlds": ("simulated",), "phases": ("run",), "points": ()}
    shown = {"ratios": (), "published": (), "verdict": {"level": "valid", "reasons": []}}
    return View(name="s", title="S", question="?", cells=cells, **nothing, **shown)


def test_simulated_database_lines_have_a_band_of_model_error() -> None:
    several = [
        replace(run_of([100.0, 200.0]), world="simulated"),
        replace(run_of([140.0, 220.0]), world="simulated"),
    ]
    view = view_of(modelled("small", "statement.rate", 150.0, 75.0, 300.0))
    (figure,) = over_time(view, banded(view, list(database_series(several))))
    least, most, low, high, line = draw(figure, Text("en"))["data"]
    assert list(least["y"]) == [100.0, 100.0, 200.0] and list(most["y"]) == [140.0, 140.0, 220.0]
    assert list(low["y"]) == [60.0, 60.0, 105.0] and list(high["y"]) == [240.0, 240.0, 420.0]
    assert list(line["y"]) == [120.0, 120.0, 210.0]
    # Sampling error and model error are separate.
    assert most["fillcolor"] != high["fillcolor"] and figure.modelled


def test_hit_ratio_band_stays_between_zero_and_one() -> None:
    entry = {
        **{"world": "simulated", "name": "run, hit_ratio", "quantity": "hit_ratio"},
        **{"unit_key": "share", "t_s": [1.0, 2.0], "runs": 1},
        **{key: {"small": [0.5, 0.98]} for key in ("values", "low", "high")},
    }
    view = view_of(modelled("small", "server.hit_ratio", 0.9, 0.8, 0.95))
    (shown,) = banded(view, [entry])
    bounds, values = shown[MODELS]["small"], shown["values"]["small"]
    for (low, high), value in zip(bounds, values, strict=True):
        assert 0 < low < value < high < 1
    lowest = bounds[0][0]
    assert lowest / (1 - lowest) == pytest.approx((0.8 / 0.2) / (0.9 / 0.1))


def test_many_lines_are_split_into_plots() -> None:
    cells = [modelled(str(n), "statement.rate", 100.0, 50.0, 200.0) for n in range(9)]
    runs = [replace(run_of([100.0], str(n)), world="simulated") for n in range(9)]
    parts = banded(view_of(*cells), list(database_series(runs)))
    assert [len(part["values"]) for part in parts] == [4, 4, 1]
    assert [name for part in parts for name in part["values"]] == [str(n) for n in range(9)]
    assert all(part[MODELS] == {} for part in parts)
    (figure,) = over_time(view_of(*cells), parts)
    assert len({line.style for panel in figure.panels for line in panel.series}) == 9


def test_first_of_two_levels_splits_plots_and_second_lines() -> None:
    names = [(storage, pool) for storage in ("disk", "flash") for pool in "abcd"]
    cells = []
    for storage, pool in names:
        cell = modelled(pool, "statement.rate", 100.0, 50.0, 200.0)
        cells.append({**cell, "levels": {"storage": storage, "pool": pool}})
    one = run_of([100.0])
    runs = [replace(one, world="simulated", cell=name) for name in names]
    view = view_of(*cells)
    (figure,) = over_time(view, banded(view, list(database_series(runs))))
    assert [panel.name for panel in figure.panels] == [
        ("simulated", "disk"),
        ("simulated", "flash"),
    ]
    for panel in figure.panels:
        assert [(line.name, line.style) for line in panel.series] == [
            ((pool,), style) for style, pool in enumerate("abcd")
        ]


def test_measured_lines_have_no_model_band() -> None:
    measured = list(database_series([run_of([100.0], "0")]))
    (shown,) = banded(view_of(modelled("0", "statement.rate", 100.0, 50.0, 200.0)), measured)
    assert shown[MODELS] == {}


def cells_of(*cells: dict[str, Any]) -> View:
    return read_results({"study": {"name": "s"}, "axes": [], "cells": list(cells)})


def test_simulated_cells_are_points_with_both_intervals() -> None:
    one = modelled("small", "statement.rate", 100.0, 50.0, 200.0)
    other = modelled("large", "statement.rate", 1000.0, 700.0, 1500.0)
    one["estimates"][0]["sampling"] = {"low": 95.0, "high": 110.0, "runs": 1}
    hits = modelled("small", "server.hit_ratio", 0.9, 0.8, 0.95)["estimates"]
    one["estimates"] = [*one["estimates"], *({**hit, "subject": "server"} for hit in hits)]
    (figure,) = figures(cells_of(one, other, {**one, "world": "measured"}))
    assert figure.x.categories == (("small",), ("large",))
    statements, ratios = figure.panels
    assert statements.y is not None and statements.y.log
    assert ratios.y is not None and (ratios.y.kind, ratios.y.log) == ("share", False)
    model, points, *_ = draw(figure, Text("en"))["data"]
    assert list(model["x"]) == [50.0, 200.0, None, 700.0, 1500.0, None]
    assert list(points["x"]) == [100.0, 1000.0]
    whiskers = points["error_x"]
    assert list(whiskers["array"]) == [10.0, 0] and list(whiskers["arrayminus"]) == [5.0, 0]
    unknown = {**one, "estimates": [{**one["estimates"][0], "model": None}]}
    assert figures(cells_of(unknown)) == []


def test_simulated_database_curves_are_off_by_one_factor() -> None:
    cell = modelled("small", "transaction.latency.p99", 4e6, 2e6, 8e6)
    place = {key: cell[key] for key in ("world", "phase", "levels")}
    curve = {**place, "stream": "oltp", "operation": "transaction"}
    entry = {**curve, "percentiles": [[0.5, 1e6], [0.99, 4e6]]}
    result = [f for f in plots(cells_of(cell), [entry]) if f.id == "percentiles-plain"]
    (line,) = result[0].panels[0].series
    assert line.models == ((0.5e6, 2e6), (2e6, 8e6))
