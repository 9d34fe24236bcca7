"""How far a simulated database may be off: from what was validated, and what is left open."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tameshi.analysis import model_error
from tameshi.analysis.model_error import (
    Facts,
    Open,
    Validated,
    down_ns,
    interval,
    of_event,
    of_life,
    with_model,
)
from tameshi.analysis.published import QUANTILE
from tameshi.analysis.stats.estimates import Estimate
from tameshi.analysis.stats.intervals import none

GB = 10**9
LARGE = Facts("mysql-5.5", "tpcc tpcc-mysql", "flash", 20, 8 * GB, 40 * GB)
SMALL = Facts("mysql-5.5", "tpcc tpcc-mysql", "flash", 20, 8 * GB, GB // 4)
QPS, HITS = "statement.rate", "server.hit_ratio"
LATENCY = "transaction.latency."


@pytest.fixture(autouse=True)
def known(monkeypatch):
    rows = (
        Validated("S2-0025", LARGE, QPS, 46_000.0, 45_000.0, "1/s", ""),
        Validated("S2-0023", SMALL, QPS, 10_000.0, 40_000.0, "1/s", ""),
        Validated("own", SMALL, HITS, 0.98, 0.99, "1", ""),
    )
    families = dict.fromkeys(model_error.FAMILIES, Open(0.2, 0.5, "why"))
    monkeypatch.setattr(model_error, "validated", lambda: rows)
    monkeypatch.setattr(model_error, "left_open", lambda: families)


def changed(facts: Facts, **of: object) -> Facts:
    return Facts(**{**facts.__dict__, **of})


def test_the_interval_joins_the_error_of_what_is_like_it_with_what_parameters_leave_open():
    found = interval(QPS, 1000.0, LARGE)
    width = QUANTILE * math.hypot(math.log(45 / 46), 0.2)
    assert found.low == pytest.approx(1000 * math.exp(-width))
    assert found.high == pytest.approx(1000 * math.exp(width))
    assert (found.validated_on, found.inside_range) == ("S2-0025", True)


def test_where_a_figure_is_known_to_be_far_off_the_interval_holds_the_truth():
    found = interval(QPS, 40_000.0, SMALL)
    assert found.low < 10_000 and found.validated_on == "S2-0023"


def test_what_the_model_was_fitted_on_is_no_evidence(monkeypatch):
    rows = [
        Validated("S2-0023", SMALL, QPS, 10_000.0, 10_000.0, "1/s", "", "the cost of a look"),
        Validated("S2-0025", LARGE, QPS, 46_000.0, 45_000.0, "1/s", ""),
    ]
    monkeypatch.setattr(model_error, "validated", lambda: rows)
    found = interval(QPS, 10_000.0, SMALL)
    assert found.validated_on == "S2-0025"
    assert "S2-0023" not in found.validated_on


def test_an_invalid_measurement_is_no_evidence(monkeypatch):
    sound = Validated("cell", LARGE, QPS, 46_000.0, 45_000.0, "1/s", "")
    invalid = replace(sound, ours=100_000.0, invalid="the start was not warm")
    alone = interval(QPS, 10_000.0, LARGE)
    monkeypatch.setattr(model_error, "validated", lambda: [sound, invalid])
    assert interval(QPS, 10_000.0, LARGE) == replace(alone, validated_on="cell")


def test_where_the_model_was_fitted_a_question_lies_inside_and_is_told_so(monkeypatch):
    rows = [
        Validated("S2-0023", SMALL, QPS, 10_000.0, 10_000.0, "1/s", "", "the cost of a look"),
        Validated("S2-0024", SMALL, LATENCY + "mean", 5.0, 5.0, "ms", "", "the cost of a look"),
        Validated("S2-0025", LARGE, QPS, 46_000.0, 45_000.0, "1/s", ""),
    ]
    monkeypatch.setattr(model_error, "validated", lambda: rows)

    def there(metric: str, facts: Facts) -> tuple[bool, str]:
        found = interval(metric, 0.5, facts)
        return found.inside_range, found.fitted_on

    assert there(QPS, SMALL) == (True, "S2-0023")
    assert there(QPS, LARGE) == (True, ""), "validated, and nothing fitted"
    assert there(QPS, changed(SMALL, storage="hdd")) == (False, "")
    assert there(LATENCY + "mean", SMALL) == (True, "S2-0024")
    assert there(LATENCY + "p99", SMALL) == (False, ""), "a mean is no percentile"
    assert there(HITS, SMALL) == (False, ""), "no other family stands in"
    width = QUANTILE * math.hypot(math.log(45 / 46), 0.2)
    assert interval(QPS, 1.0, SMALL).high == pytest.approx(math.exp(width)), "no surer than else"
    assert interval(QPS, 1.0, SMALL).as_json()["fitted_on"] == "S2-0023"
    assert "fitted_on" not in interval(QPS, 1.0, LARGE).as_json()


def test_every_cell_with_a_known_figure_lies_inside_or_where_the_model_was_fitted(monkeypatch):
    monkeypatch.undo()
    for row in model_error.validated():
        found = interval(row.metric, row.ours, row.facts)
        if found is not None:
            assert found.inside_range, row.source


def test_outside_of_what_was_validated_it_is_wider_and_says_so():
    inside = interval(QPS, 1000.0, LARGE)
    others = (
        {"profile": "mysql-8.0"},
        {"storage": "hdd"},
        {"clients": 64},
        {"workload": "tpcc"},
        {"workload": "oltp"},
    )
    for change in others:
        found = interval(QPS, 1000.0, changed(LARGE, **change))
        assert not found.inside_range
        assert found.low < inside.low and found.high > inside.high
    between = changed(LARGE, pool_bytes=2 * GB)
    assert not interval(QPS, 1000.0, between).inside_range


def test_a_pool_beyond_the_data_is_like_one_that_just_holds_them():
    assert interval(QPS, 1000.0, changed(LARGE, pool_bytes=8 * GB)) == interval(QPS, 1000.0, LARGE)


def test_shares_stay_shares():
    for value in (0.5, 0.99, 0.99999):
        found = interval(HITS, value, SMALL)
        assert 0 < found.low < value < found.high < 1
    assert interval(HITS, 1.0, SMALL) is None
    assert interval(QPS, 0.0, SMALL) is None


def test_every_figure_gets_one_and_sampling_is_left_alone():
    given = [Estimate(QPS, "tpcc", 5.0, "1/s", none("one run")) for _ in range(2)]
    found = with_model(given, LARGE)
    assert all(each.model for each in found)
    assert [each.sampling for each in found] == [each.sampling for each in given]
    assert with_model(given, None) == given


def test_no_rate_may_be_off_beyond_what_arrives_and_latencies_may() -> None:
    metrics = ("transaction.rate", "statement.rate", "transaction.latency.p99")
    given = [Estimate(metric, "tpcc", 100.0, "", none("one run")) for metric in metrics]
    limited = [replace(each, at_most=102.0) for each in given[:2]] + given[2:]
    closed, most = with_model(given, LARGE), with_model(limited, LARGE)
    assert [each.model.high for each in most[:2]] == [102.0, 102.0]
    assert [each.model.low for each in most] == [each.model.low for each in closed]
    assert most[2].model == closed[2].model and closed[0].model.high > 102


def test_every_metric_of_a_database_has_a_family_and_each_is_left_something_open():
    metrics = [QPS, HITS, "transaction.latency.p99", "server.time_log", "server.read_rate"]
    metrics += ["server.page_write_rate", "server.dirty_bytes", "transaction.tpmc"]
    families = [model_error.family_of(metric) for metric in metrics]
    assert families == [
        *("rate", "hit_ratio", "latency", "share", "reads"),
        *("writes", "writes", "rate"),
    ]


def test_what_the_project_states_is_whole(monkeypatch):
    monkeypatch.undo()
    told = model_error.left_open()
    assert set(told) == set(model_error.FAMILIES)
    assert all(0 < of.parameters < of.outside < 1 and len(of.because) > 40 for of in told.values())
    for row in model_error.validated():
        assert math.isfinite(row.off) and row.facts.data_bytes > 0 and row.source


AWAY = {"kind": "crash", "event": "killed", "away_ns": 6e9, "recovery_ns": 2e9}
OUTAGE = {
    "kind": "outage",
    "outage": {"first_error_ns": 10**9, "first_success_ns": 3 * 10**9, "recovered_ns": 0},
}


def test_how_long_a_server_is_away_and_a_drive_lasts_is_not_validated_by_rates():
    found = of_event(AWAY, LARGE)
    assert {key: found[key] for key in AWAY} == AWAY
    width = math.exp(QUANTILE * math.hypot(0.2, 0.5))
    for key in ("away_ns", "recovery_ns"):
        model = found["model"][key]
        assert model["low"] == pytest.approx(AWAY[key] / width, rel=1e-4)
        assert model["high"] == pytest.approx(AWAY[key] * width, rel=1e-4)
        assert (model["validated_on"], model["inside_range"]) == ("nothing", False)
    life = of_life({"life_years": 3.0, "life_years_retried": None}, LARGE)["model"]
    assert life.keys() == {"life_years"}
    assert life["life_years"]["high"] == pytest.approx(3 * width, rel=1e-4)


def test_an_outage_may_be_off_from_its_begin_on_and_what_never_came_has_no_interval():
    model = of_event(OUTAGE, LARGE)["model"]
    assert model.keys() == {"first_success_ns"}
    assert model["first_success_ns"]["low"] < 2e9 < model["first_success_ns"]["high"]


def staged(**events: object) -> SimpleNamespace:
    """A run's spec of which only its events matter."""
    usual = {"kill": None, "restart": None, "failover": None}
    return SimpleNamespace(
        events={name: SimpleNamespace(**{**usual, **of}) for name, of in events.items()}
    )


def test_the_time_down_that_a_study_sets_is_sure_and_only_the_rest_of_an_outage_is_scaled():
    spec = staged(cut={"failover": SimpleNamespace(down="30 s")})
    crash = {"kind": "crash", "event": "cut", "t_ns": 10**9, "away_ns": 32e9, "recovery_ns": 2e9}
    times = {"first_error_ns": 10**9, "first_success_ns": 33 * 10**9, "recovered_ns": 35 * 10**9}
    outage = {"kind": "outage", "outage": times}
    events = [crash, outage, {**crash, "t_ns": 40 * 10**9}]
    down = [down_ns(event, spec, events) for event in (crash, outage)]
    assert down == [30 * 10**9] * 2
    width = math.exp(QUANTILE * math.hypot(0.2, 0.5))
    model = of_event(outage, LARGE, down[1])["model"]
    for key, rest in (("first_success_ns", 2e9), ("recovered_ns", 4e9)):
        assert model[key]["low"] == pytest.approx(30e9 + rest / width)
        assert model[key]["high"] == pytest.approx(30e9 + rest * width)
    model = of_event(crash, LARGE, down[0])["model"]
    assert model["away_ns"]["low"] == pytest.approx(30e9 + 2e9 / width)
    assert model["recovery_ns"]["low"] == pytest.approx(2e9 / width)


def test_a_restart_that_is_cut_short_was_never_down_for_the_time_that_it_sets():
    spec = staged(again={"restart": SimpleNamespace(down="30 s")}, off={"kill": None})
    restart = {"kind": "restart", "event": "again", "t_ns": 0, "back": False}
    assert down_ns(restart, spec, []) == 0
    assert down_ns({**restart, "back": True}, spec, []) == 30 * 10**9
    assert down_ns({"kind": "crash", "event": "off", "t_ns": 0}, spec, []) == 0


def test_an_end_that_something_else_follows_before_the_server_answers_has_no_interval():
    cut = {**AWAY, "back": False, "t_ns": 0, "down_ns": 2 * 10**9}
    assert of_event(cut, LARGE) == cut
    assert "model" in of_event({**cut, "back": True}, LARGE, 2 * 10**9)


def test_an_outage_is_away_for_as_long_as_nobody_started_the_server_in_all_its_blows():
    spec = staged(down={"kill": SimpleNamespace(down="5 s")})
    first = {"kind": "crash", "event": "down", "t_ns": 3 * 10**9, "back": False}
    then = {"kind": "crash", "event": "cut", "t_ns": 5 * 10**9, "back": True}
    blows = [{**first, "down_ns": 2 * 10**9}, {**then, "down_ns": 3 * 10**9}]
    ends = {"first_error_ns": 3 * 10**9, "first_success_ns": 9 * 10**9}
    assert down_ns({"kind": "outage", "outage": ends}, spec, blows) == 5 * 10**9


def test_what_is_measured_and_what_tells_no_time_stays_as_it_is():
    assert of_event(AWAY, None) == AWAY
    assert of_life({"life_years": 3.0}, None) == {"life_years": 3.0}
    check = {"kind": "check", "conditions": []}
    assert of_event(check, LARGE) == check
