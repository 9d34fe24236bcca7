"""Why estimates lack intervals, and how those were found, as the report says it."""

from __future__ import annotations

import first_look
import pytest

from tameshi.report.points import read_results
from tameshi.report.standing import caveats
from tameshi.report.text import Text
from tameshi.stats.intervals import OVER_RUNS, OVER_RUNS_PLAIN


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_maxima_are_counted_apart_and_each_method_is_told_once(lang: str) -> None:
    found = first_look.results(("measured",))
    estimates = [one for cell in found["cells"] for one in cell["estimates"]]
    for place, one in enumerate(estimates):
        one["sampling"]["method"] = OVER_RUNS if place % 2 else OVER_RUNS_PLAIN
    for one in estimates[:3]:
        one["metric"] = "read.latency.max"
        one["sampling"] |= {"low": None, "high": None}
    text = Text(lang)
    said = caveats(read_results(found), {}, text)
    total = len(estimates)
    assert text("caveat.extreme", count=3, total=total) in said
    assert not any(text("caveat.no_interval", count=n, total=total) in said for n in range(9))
    (method,) = [line for line in said if "95 %" in line]
    assert method.count(text.said(OVER_RUNS_PLAIN)) == 1
