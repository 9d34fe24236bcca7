"""Gain between two levels of an axis: pairs of cells that differ in nothing else."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tameshi.analysis.stats.gains import gain

DEPTHS = ("1", "8", "64")
STORAGES = ("disk", "flash")
CELLS = list(itertools.product(STORAGES, DEPTHS))
LEVELS = {"storage": [cell[0] for cell in CELLS], "depth": [cell[1] for cell in CELLS]}
RATES = [100, 200, 400, 1000, 1600, 8000]


def test_gain_is_the_median_of_pairs_with_equal_other_levels() -> None:
    made = gain(RATES, LEVELS, "storage", ("flash", "disk"))
    assert made and (made.ratio, made.low, made.high, made.pairs) == (10, 8, 20, 3)
    assert made.rows == (3, 0)


def test_gain_at_a_level_counts_its_pairs_only() -> None:
    made = gain(RATES, LEVELS, "storage", ("flash", "disk"), {"depth": "64"})
    assert made and (made.ratio, made.pairs) == (20, 1)


def test_cells_without_a_figure_or_a_pair_are_left_out() -> None:
    made = gain([math.nan, 200, 400, 1000, 0, 8000], LEVELS, "storage", ("flash", "disk"))
    assert made and (made.ratio, made.pairs) == (20, 1)
    assert gain(RATES, LEVELS, "storage", ("flash", "tape")) is None


@given(st.permutations(range(len(CELLS))), st.floats(0.1, 10))
def test_gain_depends_on_no_order_and_no_unit(order: list[int], unit: float) -> None:
    levels = {axis: [column[place] for place in order] for axis, column in LEVELS.items()}
    made = gain([RATES[place] * unit for place in order], levels, "depth", ("64", "1"))
    assert made and made.ratio == pytest.approx(4) and made.pairs == 2
    other = gain([RATES[place] for place in order], levels, "depth", ("1", "64"))
    assert other and other.high == pytest.approx(1 / made.low)
