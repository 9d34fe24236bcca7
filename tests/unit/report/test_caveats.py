"""Caveats on missing intervals, their methods, and capacity scales."""

from __future__ import annotations

from typing import Any

import first_look
import pytest

from tameshi.analysis.stats.intervals import OVER_RUNS, OVER_RUNS_PLAIN
from tameshi.report.sections.validity import caveats
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_maxima_count_separately_and_methods_once(lang: str) -> None:
    data = first_look.results(("measured",))
    estimates = [one for cell in data["cells"] for one in cell["estimates"]]
    for place, one in enumerate(estimates):
        one["sampling"]["method"] = OVER_RUNS if place % 2 else OVER_RUNS_PLAIN
    for one in estimates[:3]:
        one["metric"] = "read.latency.max"
        one["sampling"] |= {"low": None, "high": None}
    text = Text(lang)
    lines = caveats(read_results(data), {}, text)
    total = len(estimates)
    assert text("caveat.extreme", count=3, total=total) in lines
    assert not any(text("caveat.no_interval", count=n, total=total) in lines for n in range(9))
    (method,) = [line for line in lines if "95 %" in line]
    assert method.count(text.method(OVER_RUNS_PLAIN)) == 1


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_capacity_scales_appear_once_with_their_levels(lang: str) -> None:
    def cell(phase: str, drive: str, scale: int) -> dict[str, Any]:
        estimate = {"metric": "read.iops", "subject": "s", "window": phase, "value": 1.0}
        return {
            "world": "simulated",
            "phase": phase,
            "levels": {"drive": drive},
            "runs": {"complete": 1},
            "estimates": [{**estimate, "scale": scale}],
        }

    drives = {"small": 64, "large": 128, "huge": 128, "vast": 1024}
    axes = [{"name": "drive", "varies": "across", "levels": list(drives)}]
    cells = [cell(phase, *drive) for drive in drives.items() for phase in ("one", "two")]
    text = Text(lang)
    lines = caveats(read_results({"axes": axes, "cells": cells}), {}, text)
    shown = [line for line in lines if "capacity-scale.md" in line]
    assert len(shown) == 2
    for scale, names in ((64, ["small"]), (128, ["large", "huge"])):
        names_told = text("list.short").join(names)
        assert text("caveat.scale_of", scale=scale, names=names_told) in shown[0]
    assert text("caveat.scale_of", scale=1024, names="vast") in shown[1]
