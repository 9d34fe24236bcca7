"""Model error of simulated databases, from known figures, and of what no figure is known."""

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tameshi.analysis import database_error, model_error
from tameshi.analysis.database_error import Known, family_of
from tameshi.analysis.database_facts import Facts
from tameshi.analysis.model_error import (
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
def evidence(monkeypatch):
    rows = [
        Known("one", LARGE, QPS, 40_000.0, 44_000.0),
        Known("two", SMALL, QPS, 10_000.0, 40_000.0),
        Known("three", SMALL, QPS, 10_000.0, 12_000.0),
    ]
    families = dict.fromkeys(database_error.ALONE, Open(0.2, 0.5, "why"))
    monkeypatch.setattr(database_error, "known", lambda: rows)
    monkeypatch.setattr(model_error, "validated", lambda: ())
    monkeypatch.setattr(model_error, "left_open", lambda: families)
    return rows


def changed(facts: Facts, **of: object) -> Facts:
    return Facts(**{**facts.__dict__, **of})


def test_interval_reaches_as_far_as_the_evidence_is_off():
    result = interval(QPS, 1000.0, LARGE)
    assert (result.low, result.high) == (pytest.approx(250), pytest.approx(4000))
    assert (result.validated_on, result.inside_range) == ("one; two; three", True)
    assert result.as_json()["database"] == LARGE.key


def test_cell_far_from_all_known_ones_is_outside_the_range():
    others = (
        {"profile": "mysql-8.0"},
        {"storage": "hdd"},
        {"clients": 64},
        {"workload": "oltp"},
        {"pool_bytes": 2 * GB},
    )
    for change in others:
        assert not interval(QPS, 1000.0, changed(LARGE, **change)).inside_range, change


def test_fitted_point_lies_inside_the_validated_range(monkeypatch, evidence):
    fitted = [
        Validated("S2-0023", SMALL, QPS, 10_000.0, 10_000.0, "1/s", "", "the cost of a look"),
        Validated("S2-0024", SMALL, LATENCY + "mean", 5.0, 5.0, "ms", "", "the cost of a look"),
    ]
    evidence[1:] = []
    monkeypatch.setattr(model_error, "validated", lambda: fitted)

    def there(metric: str, facts: Facts) -> tuple[bool, str]:
        result = interval(metric, 0.5, facts)
        return result.inside_range, result.fitted_on

    assert there(QPS, SMALL) == (True, "S2-0023")
    assert there(QPS, LARGE) == (True, ""), "validated, and nothing fitted"
    assert there(QPS, changed(SMALL, storage="hdd")) == (False, "")
    assert there(LATENCY + "mean", SMALL) == (True, "S2-0024")
    assert there(LATENCY + "p99", SMALL) == (False, ""), "a mean is no percentile"
    assert there(HITS, SMALL) == (False, ""), "no other family stands in"
    near = changed(SMALL, clients=30)
    assert interval(QPS, 1.0, near).fitted_on == "S2-0023"
    assert interval(QPS, 1.0, near).high == interval(QPS, 1.0, LARGE).high, "no surer than else"
    assert interval(QPS, 1.0, SMALL).as_json()["fitted_on"] == "S2-0023"
    assert "fitted_on" not in interval(QPS, 1.0, LARGE).as_json()


def test_fitted_cell_asked_for_again_is_as_certain_as_the_fit(monkeypatch):
    row = Validated("S2-0023", SMALL, QPS, 10_000.0, 10_500.0, "1/s", "", "the cost of a look")
    monkeypatch.setattr(model_error, "validated", lambda: [row])
    result = interval(QPS, 10_500.0, SMALL)
    width = math.exp(math.log(1.05) + model_error.REPEATED)
    assert (result.low, result.high) == pytest.approx((10_500 / width, 10_500 * width))
    assert result.inside_range and result.fitted_on == "S2-0023"


def test_known_cells_lie_inside_or_at_fitted_points(monkeypatch):
    monkeypatch.undo()
    for row in database_error.known():
        result = interval(row.metric, row.ours, row.facts)
        if result is not None:
            assert result.inside_range, row


def test_pool_beyond_the_data_equals_one_that_just_holds_them():
    assert interval(QPS, 1000.0, changed(LARGE, pool_bytes=8 * GB)) == interval(QPS, 1000.0, LARGE)


def test_shares_stay_between_zero_and_one():
    for value in (0.5, 0.99, 0.99999):
        result = interval(HITS, value, SMALL)
        assert 0 < result.low < value < result.high < 1
    assert interval(HITS, 1.0, SMALL) is None
    assert interval(QPS, 0.0, SMALL) is None


def test_every_figure_has_a_model_interval_next_to_sampling():
    given = [Estimate(QPS, "tpcc", 5.0, "1/s", none("one run")) for _ in range(2)]
    result = with_model(given, LARGE)
    assert all(each.model for each in result)
    assert [each.sampling for each in result] == [each.sampling for each in given]
    assert with_model(given, None) == given


def test_model_rates_do_not_exceed_arrivals() -> None:
    metrics = ("transaction.rate", "statement.rate", "transaction.latency.p99")
    given = [Estimate(metric, "tpcc", 100.0, "", none("one run")) for metric in metrics]
    limited = [replace(each, at_most=102.0) for each in given[:2]] + given[2:]
    closed, most = with_model(given, LARGE), with_model(limited, LARGE)
    assert [each.model.high for each in most[:2]] == [102.0, 102.0]
    assert [each.model.low for each in most] == [each.model.low for each in closed]
    assert most[2].model == closed[2].model and closed[0].model.high > 102


def test_every_database_metric_has_a_family():
    metrics = [QPS, HITS, "transaction.latency.p99", "server.time_log", "server.read_rate"]
    metrics += ["server.page_write_rate", "server.dirty_bytes", "transaction.tpmc"]
    families = [family_of(metric) for metric in metrics]
    assert families == [
        *("rate", "hit_ratio", "tail", "share", "reads"),
        *("writes", "writes", "rate"),
    ]


def test_evidence_files_are_complete(monkeypatch):
    monkeypatch.undo()
    shown = model_error.left_open()
    assert set(shown) == set(database_error.ALONE)
    assert all(
        0 < entry.parameters < entry.outside < 1 and len(entry.because) > 40
        for entry in shown.values()
    )
    for row in model_error.validated():
        assert math.isfinite(row.off) and row.facts.data_bytes > 0 and row.source


AWAY = {"kind": "crash", "event": "killed", "away_ns": 6e9, "recovery_ns": 2e9}
OUTAGE = {
    "kind": "outage",
    "outage": {"first_error_ns": 10**9, "first_success_ns": 3 * 10**9, "recovered_ns": 0},
}


def test_rates_do_not_validate_outages_or_drive_life():
    result = of_event(AWAY, LARGE)
    assert {key: result[key] for key in AWAY} == AWAY
    width = math.exp(QUANTILE * math.hypot(0.2, 0.5))
    for key in ("away_ns", "recovery_ns"):
        model = result["model"][key]
        assert model["low"] == pytest.approx(AWAY[key] / width, rel=1e-4)
        assert model["high"] == pytest.approx(AWAY[key] * width, rel=1e-4)
        assert (model["validated_on"], model["inside_range"]) == ("nothing", False)
    life = of_life({"life_years": 3.0, "life_years_retried": None}, LARGE)["model"]
    assert life.keys() == {"life_years"}
    assert life["life_years"]["high"] == pytest.approx(3 * width, rel=1e-4)


def test_outage_error_starts_at_its_begin():
    model = of_event(OUTAGE, LARGE)["model"]
    assert model.keys() == {"first_success_ns"}
    assert model["first_success_ns"]["low"] < 2e9 < model["first_success_ns"]["high"]


def staged(**events: object) -> SimpleNamespace:
    """Return a run's spec with these events only."""
    usual = {"kill": None, "restart": None, "failover": None}
    return SimpleNamespace(
        events={name: SimpleNamespace(**{**usual, **entry}) for name, entry in events.items()}
    )


def test_planned_downtime_has_no_model_error():
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


def test_restart_cut_short_has_no_planned_downtime():
    spec = staged(again={"restart": SimpleNamespace(down="30 s")}, off={"kill": None})
    restart = {"kind": "restart", "event": "again", "t_ns": 0, "back": False}
    assert down_ns(restart, spec, []) == 0
    assert down_ns({**restart, "back": True}, spec, []) == 30 * 10**9
    assert down_ns({"kind": "crash", "event": "off", "t_ns": 0}, spec, []) == 0


def test_end_before_the_server_answers_has_no_interval():
    cut = {**AWAY, "back": False, "t_ns": 0, "down_ns": 2 * 10**9}
    assert of_event(cut, LARGE) == cut
    assert "model" in of_event({**cut, "back": True}, LARGE, 2 * 10**9)


def test_outage_includes_planned_downtime_of_all_its_events():
    spec = staged(down={"kill": SimpleNamespace(down="5 s")})
    first = {"kind": "crash", "event": "down", "t_ns": 3 * 10**9, "back": False}
    then = {"kind": "crash", "event": "cut", "t_ns": 5 * 10**9, "back": True}
    blows = [{**first, "down_ns": 2 * 10**9}, {**then, "down_ns": 3 * 10**9}]
    ends = {"first_error_ns": 3 * 10**9, "first_success_ns": 9 * 10**9}
    assert down_ns({"kind": "outage", "outage": ends}, spec, blows) == 5 * 10**9


def test_measured_and_timeless_events_stay_unchanged():
    assert of_event(AWAY, None) == AWAY
    assert of_life({"life_years": 3.0}, None) == {"life_years": 3.0}
    check = {"kind": "check", "conditions": []}
    assert of_event(check, LARGE) == check
