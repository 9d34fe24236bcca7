"""Ratios: pairing, uncertain sides, and zeros."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind, ttest_rel

from tameshi.analysis.stats import intervals, ratios
from tameshi.analysis.stats.intervals import Interval
from tameshi.analysis.stats.ratios import MOVER, PAIRED, WELCH, Side, of_models

RUNS = st.lists(st.floats(0.5, 2.0), min_size=3, max_size=6)


def side(values: list[float]) -> Side:
    return Side(intervals.centre(values), intervals.of_runs(values), dict(enumerate(values)))


@given(RUNS, RUNS)
def test_ratio_over_runs_is_welchs_t(above: list[float], below: list[float]) -> None:
    if min(max(above) / min(above), max(below) / min(below)) < 1.001:
        return
    ratio, result = ratios.ratio(side(above), side(below), paired=False)
    logs = [[math.log(value) for value in values] for values in (above, below)]
    known = ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert result.method == WELCH and ratio and result.low and result.high
    assert math.log(result.low) == pytest.approx(known.low, abs=1e-6)
    assert math.log(result.high) == pytest.approx(known.high, abs=1e-6)


@given(st.lists(st.tuples(st.floats(0.5, 2.0), st.floats(0.5, 2.0)), min_size=2, max_size=6))
def test_paired_ratio_is_the_t_of_differences(pairs: list[tuple[float, float]]) -> None:
    above, below = ([pair[place] for pair in pairs] for place in (0, 1))
    logs = [math.log(top / bottom) for top, bottom in pairs]
    _, result = ratios.ratio(side(above), side(below), paired=True)
    assert result.method == PAIRED and result.low and result.high
    if max(logs) - min(logs) < 1e-6:
        return
    known = ttest_rel(*([math.log(v) for v in each] for each in (above, below)))
    bounds = known.confidence_interval(0.95)
    assert math.log(result.low) == pytest.approx(bounds.low, abs=1e-6)
    assert math.log(result.high) == pytest.approx(bounds.high, abs=1e-6)


def test_shared_variation_of_repetitions_cancels() -> None:
    above, below = [200.0, 300.0, 400.0], [101.0, 150.0, 199.0]
    _, paired = ratios.ratio(side(above), side(below), paired=True)
    _, apart = ratios.ratio(side(above), side(below), paired=False)
    assert paired.low and paired.high and apart.low and apart.high
    assert paired.high - paired.low < (apart.high - apart.low) / 20


def test_different_repetitions_are_not_paired() -> None:
    below = side([1.0, 2.0, 3.0])
    lost = Side(below.value, below.sampling, {0: 1.0, 1: 2.0, 3: 3.0})
    assert ratios.ratio(side([1.0, 2.0, 3.0]), lost, paired=True)[1].method == WELCH


def test_zeros_and_missing_intervals_are_reported() -> None:
    one, zero = side([1.0, 1.1]), Side(0.0, intervals.none("one_run"))
    assert ratios.ratio(one, zero, paired=True)[0] is None
    assert ratios.ratio(zero, one, paired=True)[0] == 0.0
    bare = Side(1.0, intervals.none("one_run"))
    for result in (ratios.ratio(one, bare, paired=True), ratios.ratio(bare, one, paired=False)):
        assert result[0] and result[1].low is None and result[1].method == "side_without"
    touching = Side(1.0, Interval(0.0, 3.0, 3, "plain"))
    assert ratios.ratio(touching, one, paired=False)[1].low is None


def test_unknown_bounds_are_combined_by_mover() -> None:
    above, below = Side(2.0, Interval(1.8, 2.4, 1, "?")), Side(1.0, Interval(0.9, 1.05, 1, "?"))
    ratio, result = ratios.ratio(above, below, paired=False)
    _, inverse = ratios.ratio(below, above, paired=False)
    assert (ratio, result.method) == (2.0, MOVER)
    assert result.low and result.high and inverse.low
    assert result.high == pytest.approx(1 / inverse.low)
    assert result.low < 1.8 and result.high > 2.4


def test_equal_percentiles_are_limited_by_their_histogram() -> None:
    same = side([5.0, 5.0])
    _, result = ratios.ratio(same, same, paired=True, resolution=0.001)
    assert (result.low, result.high) == pytest.approx((0.999, 1.001), abs=1e-6)
    assert ratios.ratio(same, same, paired=False)[1].low == 1.0


def test_unserved_numerator_does_not_enlarge_a_ratio() -> None:
    served, base = (100.0, (50.0, 102.0)), (50.0, None)
    assert of_models(served, base) == pytest.approx((1.0, 2.04)), "not 4: no more arrives"
    assert of_models(base, served) == pytest.approx((0.5 / 1.02, 1.0))


def test_ratio_interval_ends_at_the_arrival_rate() -> None:
    free = Side(100.0, intervals.Interval(80.0, 125.0, 2, "m"), {0: 80.0, 1: 125.0})
    full = Side(100.0, intervals.Interval(90.0, 102.0, 2, "m"), {0: 90.0, 1: 110.0}, 102.0)
    for paired in (True, False):
        _, above = ratios.ratio(full, free, paired=paired)
        _, below = ratios.ratio(free, full, paired=paired)
        assert above.high is not None and above.high <= 102.0 / 80.0 + 1e-9
        assert below.low is not None and below.low >= 80.0 / 102.0 - 1e-9
        _, unbound = ratios.ratio(free, free, paired=paired)
        assert unbound.high is not None


def test_model_error_of_a_ratio_is_that_of_its_less_certain_side() -> None:
    sure, unsure = (100.0, (80.0, 125.0)), (50.0, (25.0, 100.0))
    assert of_models(sure, unsure) == pytest.approx((1.0, 4.0))
    assert of_models(unsure, sure) == pytest.approx((0.25, 1.0))
    measured = (50.0, None)
    assert of_models(sure, measured) == pytest.approx((1.6, 2.5))
    assert of_models(measured, measured) is None and of_models((0.0, (0.0, 1.0)), sure) is None
