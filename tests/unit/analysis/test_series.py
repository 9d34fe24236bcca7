"""Stretches of a run's series."""

import polars as pl

from tameshi.analysis.series import Stretch, covered


def test_spans_cover_rows_that_lie_entirely_in_a_stretch():
    rows = {"t_ns": [10, 20, 30, 40, 50], "dt_ns": [10] * 5, "subject": ["server"] * 4 + ["disk"]}
    part = Stretch("steady", [(5, 42), (45, 60)], steady=True)
    found = covered(pl.DataFrame(rows), "server", part)
    assert (list(found.spans), found.steady, found.length_ns) == ([(10, 40)], False, 30)
    assert list(covered(pl.DataFrame(rows), "worker", part).spans) == []


def test_missing_rows_end_a_span():
    second = 1_000_000_000
    ends = [1, 2, 3, 7, 8, 9]
    rows = {
        "t_ns": [end * second for end in ends],
        "dt_ns": [second] * 6,
        "subject": ["server"] * 6,
    }
    part = Stretch("steady", [(0, 20 * second)], steady=True)
    found = covered(pl.DataFrame(rows), "server", part)
    assert list(found.spans) == [(0, 3 * second), (6 * second, 9 * second)]
