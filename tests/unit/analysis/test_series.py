"""Stretches of a run's series."""

import polars as pl

from tameshi.analysis.series import Stretch, span_of


def test_span_covers_rows_that_lie_entirely_in_a_stretch():
    rows = {"t_ns": [10, 20, 30, 40, 50], "dt_ns": [10] * 5, "subject": ["server"] * 4 + ["disk"]}
    part = Stretch("steady", [(5, 42), (45, 60)], steady=True)
    found = span_of(pl.DataFrame(rows), "server", part)
    assert (list(found.spans), found.steady, found.length_ns) == ([(10, 40)], False, 30)
    assert list(span_of(pl.DataFrame(rows), "worker", part).spans) == []
