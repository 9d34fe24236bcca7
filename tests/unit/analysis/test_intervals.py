"""Intervals: known answers, edge cases, and reasons for absence."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp
from window_data import window

from tameshi.analysis.stats import intervals
from tameshi.analysis.stats.estimates import ModelInterval, WindowData, estimates
from tameshi.analysis.stats.intervals import centre, of_quantile, of_runs, within
from tameshi.report.words.reason_words import METHODS

POSITIVE = st.floats(1e-3, 1e12)


@given(st.lists(POSITIVE, min_size=2, max_size=12))
def test_interval_over_runs_is_students_t_on_logarithms(values: list[float]) -> None:
    result = of_runs(values)
    logs = [math.log(value) for value in values]
    assert result.low is not None and result.high is not None
    assert result.low <= centre(values) <= result.high
    if max(logs) - min(logs) > 1e-6:
        known = ttest_1samp(logs, 0.0).confidence_interval(0.95)
        if known.low > -200 and known.high < 200:
            assert math.log(result.low) == pytest.approx(known.low, abs=1e-6)
            assert math.log(result.high) == pytest.approx(known.high, abs=1e-6)


def test_runs_with_a_zero_use_the_plain_mean_and_stay_positive() -> None:
    result = of_runs([0.0, 1.0, 2.0])
    assert (result.low, result.method) == (0.0, intervals.OVER_RUNS_PLAIN)
    assert centre([0.0, 1.0, 2.0]) == 1.0


def test_equal_runs_are_limited_by_the_records_resolution() -> None:
    exact, rough = of_runs([5.0, 5.0, 5.0]), of_runs([5.0, 5.0, 5.0], 0.001)
    assert (exact.low, exact.high) == (5.0, 5.0)
    assert (rough.low, rough.high) == pytest.approx((4.995, 5.005), abs=1e-5)


@given(st.lists(st.floats(0, 1e9), max_size=60), st.floats(1e-3, 1e3))
def test_interval_within_a_run_scales_with_its_unit(tops: list[float], unit: float) -> None:
    total = math.fsum(tops)
    result = within(tops, [1.0] * len(tops), total / max(len(tops), 1))
    if len(tops) < intervals.FEWEST_INTERVALS or total == 0:
        assert result.low is None and result.method not in METHODS
    elif total > 1:
        scaled = within([top * unit for top in tops], [1.0] * len(tops), total * unit / len(tops))
        if result.low is None or scaled.low is None:
            assert intervals.TOO_UNEVEN in (result.method, scaled.method)
            return
        assert result.low and result.high and scaled.low and scaled.high
        assert result.low <= total / len(tops) <= result.high
        if result.high / result.low < 1e6:
            assert scaled.high / scaled.low == pytest.approx(result.high / result.low, rel=1e-6)


def test_correlation_widens_an_interval() -> None:
    alternating = [100.0 + 10 * (-1) ** place for place in range(60)]
    grouped = [100.0 + 10 * (-1) ** (place // 10) for place in range(60)]
    narrow, wide = (within(each, [1.0] * 60, 100.0) for each in (alternating, grouped))
    assert narrow.high and narrow.low and wide.high and wide.low
    assert wide.high - wide.low > 4 * (narrow.high - narrow.low)


def test_short_rising_run_has_no_interval() -> None:
    climbing = [float(2**place) for place in range(24)]
    result = within(climbing, [1.0] * 24, sum(climbing) / 24)
    assert (result.low, result.high, result.method) == (None, None, intervals.TOO_UNEVEN)
    steady = within([100.0 + place % 3 for place in range(24)], [1.0] * 24, 101.0)
    assert steady.low and steady.high and steady.high / steady.low < 1.1


def test_percentiles_of_few_operations_have_no_interval() -> None:
    assert of_quantile(0.99, [10.0] * 30, [10.0] * 30, lambda share: share).low is None
    assert of_quantile(0.99, [99.0] * 10, [100.0] * 10, lambda share: share).low is None


def test_results_do_not_depend_on_the_last_digits() -> None:
    assert intervals.digits(0.1 + 0.2) == 0.3
    assert intervals.digits(None) is None
    assert intervals.digits(123456789.123456) == 123456789.123


def test_every_estimate_has_an_interval_or_a_reason() -> None:
    for runs in ([window(0)], [window(0), window(1)], [window(n, writes=n) for n in range(3)]):
        result = estimates("s", runs)
        assert result
        for one in result:
            assert one.sampling.method
            assert (one.sampling.low is None) == (one.sampling.method not in METHODS)
            assert one.model is None


def test_deviations_and_maxima_state_their_operations() -> None:
    for runs in ([window(0)], [window(0), window(1)]):
        counted = int(sum(sum(run.counters["read.count"]) for run in runs))
        by_metric = {e.metric: e.operations for e in estimates("s", runs)}
        assert by_metric["read.latency.stddev"] == by_metric["read.latency.max"] == counted
        assert by_metric["read.latency.p99"] is None and by_metric["read.iops"] is None


def test_missing_operation_counts_as_a_rate_of_zero() -> None:
    by_metric = {e.metric: e for e in estimates("s", [window(0, writes=2), window(1)])}
    assert by_metric["write.iops"].by_repetition == {0: 2.0, 1: 0.0}
    assert by_metric["write.iops"].value == 1.0
    assert by_metric["write.latency.mean"].by_repetition == {0: 1e6}


def test_windows_without_histograms_have_no_percentiles() -> None:
    complete = window(0)
    cut = WindowData(complete.length_ns, complete.lengths_ns, complete.counters, {})
    assert {e.metric for e in estimates("s", [cut])} == {
        "read.iops",
        "read.bandwidth",
        "read.latency.mean",
    }


def test_percentiles_of_one_run_use_its_recorded_intervals() -> None:
    complete = window(0)
    series = {"below": [990.0 + (-1) ** n for n in range(24)], "counts": [1000.0] * 24}
    curve = [[0.9, 2e6], [0.985, 2.8e6], [0.99, 3e6], [0.995, 3.3e6], [1.0, 9e6]]
    latency = {**complete.latencies["read"], "intervals": {"0.99": series}, "curve": curve}
    shown = WindowData(
        complete.length_ns, complete.lengths_ns, complete.counters, {"read": latency}
    )
    by_metric = {e.metric: e.sampling for e in estimates("s", [shown])}
    tail = by_metric["read.latency.p99"]
    assert tail.low and tail.high and 2e6 <= tail.low <= 3e6 <= tail.high < 9e6
    assert by_metric["read.latency.p50"].low is None


def test_model_interval_is_separate_from_sampling() -> None:
    model = ModelInterval(0.9, 1.1, "a drive", True)
    assert model.as_json() == {
        "low": 0.9,
        "high": 1.1,
        "validated_on": "a drive",
        "inside_range": True,
    }
