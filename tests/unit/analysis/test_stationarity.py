"""Drift, transients, outliers and spread: power of the tests, and their false positives."""

from __future__ import annotations

import numpy as np
import pytest
from covering import autoregression
from window_data import window

from tameshi.analysis.stats import stationarity
from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.stationarity import (
    drift_over,
    drift_within,
    outliers,
    spread,
    transient,
)


@pytest.mark.parametrize("correlation", [0.0, 0.6, 0.8])
@pytest.mark.parametrize("count", [20, 60, 300])
def test_correlation_alone_is_seldom_called_drift(monkeypatch, correlation, count) -> None:
    monkeypatch.setattr(stationarity, "NOTICEABLE", 0.0)
    random, trials = np.random.default_rng(count), 200
    series = (100 + autoregression(random, correlation, count) for _ in range(trials))
    called = sum(drift_within(each.tolist(), [1.0] * count) is not None for each in series)
    assert called <= 3


@pytest.mark.parametrize(("correlation", "count"), [(0.0, 40), (0.5, 30), (0.8, 15), (0.8, 24)])
def test_noise_is_called_drift_in_at_most_one_percent(correlation: float, count: int) -> None:
    random = np.random.default_rng(count)
    series = (100 + 10 * autoregression(random, correlation, count) for _ in range(1000))
    assert sum(drift_within(each.tolist(), [1.0] * count) is not None for each in series) <= 10


@pytest.mark.parametrize("count", [10, 19, 20, 60, 180])
@pytest.mark.parametrize("power", [0.5, 1.0, 1.1, 2.0, 3.0])
def test_smooth_growth_is_drift_however_it_bends(power: float, count: int) -> None:
    """Regression: k^1.1 over 60 points passed for noise, because residuals of a line correlate."""
    grown = [1 + (place / (count - 1)) ** power for place in range(count)]
    fallen = grown[::-1]
    assert (drift_within(grown, [1.0] * count) or 0.0) > 0.2
    assert (drift_within(fallen, [1.0] * count) or 0.0) < -0.2
    exchanged = [*grown[: count // 2 - 1], grown[count // 2], grown[count // 2 - 1]]
    assert drift_within([*exchanged, *grown[count // 2 + 1 :]], [1.0] * count) is not None
    little = [100 + value for value in grown]
    assert drift_within(little, [1.0] * count) is None, "1 % is not noticeable"


def test_bent_trend_under_noise_is_detected() -> None:
    random, places = np.random.default_rng(4), np.linspace(0, 1, 60)
    for bent in (places**3, np.sqrt(places), np.maximum(places - 0.5, 0) * 2):
        noise = random.standard_normal((20, 60))
        seen = [drift_within((1 + bent + 0.1 * row).tolist(), [1.0] * 60) for row in noise]
        assert sum(change is not None for change in seen) >= 18


def test_drift_is_detected_and_measured() -> None:
    random, seen = np.random.default_rng(1), []
    for _ in range(50):
        noise = 0.02 * autoregression(random, 0.5, 100)
        seen.append(drift_within((np.linspace(1.1, 0.9, 100) + noise).tolist(), [1.0] * 100))
    assert sum(change is not None for change in seen) >= 48
    assert np.median([change for change in seen if change]) == pytest.approx(-0.2, abs=0.02)


def test_certain_but_small_drift_is_not_flagged() -> None:
    assert drift_within([100 + 0.02 * place for place in range(100)], [1.0] * 100) is None
    assert drift_within([100 + 0.2 * place for place in range(100)], [1.0] * 100) is not None


def test_short_empty_and_constant_series_do_not_drift() -> None:
    for series in ([], [1.0] * 5, [0.0] * 50, [3.0] * 50, [0.0, 1.0] * 40):
        assert drift_within(series, [1.0] * len(series)) is None
        assert transient(series, [1.0] * len(series)) is None


def test_short_start_transient_is_flagged_with_its_effect() -> None:
    """Regression: a rate four times too high in 2 of 60 s passed as valid, as slopes and ranks miss
    it."""
    random = np.random.default_rng(6)
    for begin, count in ((2, 60), (8, 40), (3, 23), (1, 40)):
        rest = 200 + 4 * autoregression(random, 0.5, count - begin)
        complete = [*[900.0] * begin, *rest.tolist()]
        assert drift_within(complete, [1.0] * count) is None
        expected = np.mean(complete) / rest.mean() - 1
        assert transient(complete, [1.0] * count) == pytest.approx(expected, rel=0.05)
        assert transient(complete[::-1], [1.0] * count) is None, "it is about how runs begin"
    slow = [50.0] * 6 + [*(200 + random.standard_normal(34))]
    assert transient(slow, [1.0] * 40) == pytest.approx(-0.75 * 6 / 40, rel=0.05)
    assert transient([210.0, 210.0, *[200.0] * 58], [1.0] * 60) is None, "0.2 % is not noticeable"


@pytest.mark.parametrize(("correlation", "most"), [(0.0, 5), (0.5, 10), (0.8, 25)])
@pytest.mark.parametrize("count", [10, 15, 24, 60])
def test_noise_seldom_looks_like_a_transient(
    monkeypatch: pytest.MonkeyPatch, correlation: float, most: int, count: int
) -> None:
    monkeypatch.setattr(stationarity, "NOTICEABLE", 0.0)
    random = np.random.default_rng(count)
    series = (100 + autoregression(random, correlation, count) for _ in range(800))
    assert sum(transient(each.tolist(), [1.0] * count) is not None for each in series) <= most


def test_drift_over_repetitions_takes_five_in_a_row() -> None:
    assert drift_over([1.0, 1.1, 1.2, 1.3]) is None
    assert drift_over([1.0, 1.1, 1.2, 1.3, 1.4]) == pytest.approx(1 / 3)
    assert drift_over([1.0, 1.2, 1.1, 1.3, 1.4]) is None
    random = np.random.default_rng(2)
    called = sum(drift_over(np.exp(random.normal(size=8)).tolist()) is not None for _ in range(500))
    assert called <= 20


@pytest.mark.parametrize("count", [4, 5, 8, 12])
def test_chance_seldom_makes_an_outlier(count: int) -> None:
    random = np.random.default_rng(count)
    called = sum(bool(outliers(np.exp(random.normal(size=count)).tolist())) for _ in range(1000))
    assert called <= 25


def test_several_outliers_are_all_named() -> None:
    assert list(outliers([100, 101, 99, 100.5, 140])) == [4]
    eight = [100, 101, 99, 100, 150, 100.5, 99.5, 155]
    assert list(outliers(eight)) == [4, 7]
    assert outliers(eight)[7] == pytest.approx(0.55, abs=0.01)
    assert outliers([100, 100, 100, 100.001]) == {}
    assert outliers([100, 101, 300]) == {}


def test_wide_spread_of_three_runs_is_flagged_beyond_chance() -> None:
    assert spread([100, 101, 140], [1e6] * 3) == pytest.approx(1.4)
    assert spread([100, 101, 140], [20] * 3) is None
    assert spread([100, 101, 110], [1e6] * 3) is None
    assert spread([100, 101, 99, 140], [1e6] * 4) is None
    assert spread([0, 1], [0, 10]) is None


def codes(runs, *, ordered: bool) -> set[tuple[str, str, int | None]]:
    result = stationarity.flags("s", runs, ordered=ordered)
    assert all(flag.reason and flag.as_json() for flag in result)
    return {(flag.code, flag.metric, flag.repetition) for flag in result}


def test_planned_load_changes_are_no_drift() -> None:
    counts = [float(100 + place) for place in range(40)]
    counters = {"read.count": counts, "read.latency_sum": [1e6 * count for count in counts]}
    runs = [WindowData(40 * 10**9, [10**9] * 40, counters, {})]
    assert [flag.code for flag in stationarity.flags("s", runs, ordered=True)] == ["drift_within"]
    assert stationarity.flags("s", runs, ordered=True, varied=True) == []
    counters = {"read.count": [900.0] * 3 + [100.0] * 37, "read.latency_sum": [1e8] * 40}
    filling = [WindowData(40 * 10**9, [10**9] * 40, counters, {})]
    result = stationarity.flags("s", filling, ordered=False)
    assert [(flag.code, flag.metric) for flag in result] == [
        ("transient", "read.iops"),
        ("transient", "read.latency.mean"),
    ]
    assert result[0].change == pytest.approx(0.6)


def test_flags_of_a_stream_name_their_run() -> None:
    alike = [window(n, reads=1000) for n in range(5)]
    assert codes(alike, ordered=True) == set()
    rising = [window(n, reads=1000 * 1.1**n) for n in range(5)]
    assert codes(rising, ordered=True) == {("drift_over", "read.iops", None)}
    assert codes(rising, ordered=False) == set()
    slow = [*alike[:4], window(4, reads=1000, level=2.0)]
    assert ("outlier", "read.latency.mean", 4) in codes(slow, ordered=False)
    two = [window(0, reads=1000), window(1, reads=2000, writes=5)]
    assert codes(two, ordered=False) == {
        ("spread", "read.iops", None),
        ("spread", "read.latency.mean", None),
        ("absent", "write.iops", 0),
    } - {("spread", "read.latency.mean", None)}
