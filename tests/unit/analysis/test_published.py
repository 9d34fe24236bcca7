"""Published figures next to ours: units, derived figures, model error."""

import math
import tomllib
from typing import Any

import pytest

from tameshi.analysis import published
from tameshi.analysis.published import Listed, Uncertainty
from tameshi.core.data import STUDIES
from tameshi.core.spec_types import Published, Summary

JOBS = ("1", "2", "4", "8")
RATES = {"one": (10, 20, 30, 30), "two": (10, 20, 40, 60)}


def cell(drives: str, jobs: str, **metrics: float) -> dict[str, Any]:
    estimates = [
        {"metric": name, "window": "p", "value": value, "sampling": {"low": None, "high": None}}
        for name, value in metrics.items()
    ]
    levels = {"drives": drives, "jobs": jobs}
    return {"world": "simulated", "phase": "p", "levels": levels, "estimates": estimates}


CELLS = [
    cell(drives, jobs, **{"read.iops": 1e3 * rate, "read.latency.mean": 1e6, "write.iops": 1e3})
    for drives, rates in RATES.items()
    for jobs, rate in zip(JOBS, rates, strict=True)
]


def study(*figures: dict[str, Any], quick: bool = False) -> Summary:
    axes = [
        {"name": "drives", "varies": "across", "levels": list(RATES)},
        {"name": "jobs", "varies": "within", "levels": list(JOBS)},
    ]
    return Summary.model_construct(
        name="s",
        quick=quick,
        axes=[type("Axis", (), axis) for axis in axes],
        published=[Published.model_validate({"metric": "read.iops", **entry}) for entry in figures],
    )


@pytest.fixture
def ours(monkeypatch):
    listed = {
        "known": Listed("IOPS", 25_000.0),
        "asked": Listed("IOPS", None),
        "slow": Listed("ms", None),
        "threads": Listed("threads", None),
    }
    kinds = {"asked": Uncertainty(["known"], 0.1, "why")}
    monkeypatch.setattr(published, "listed", lambda: listed)
    monkeypatch.setattr(published, "uncertainties", lambda: kinds)

    def of(*figures: dict[str, Any], quick: bool = False) -> list[dict[str, Any]]:
        return published.published(study(*figures, quick=quick), CELLS)

    return of


def test_figure_has_the_unit_of_the_list(ours):
    place = {"drives": "one", "jobs": "1"}
    (row,) = ours({"id": "slow", "cell": place, "metric": "read.latency.mean"})
    assert (row["predicted"], row["unit"], row["published"]) == (1.0, "ms", None)


def test_figure_without_list_or_cell_is_missing(ours):
    place = {"drives": "one", "jobs": "1"}
    rows = ours(
        {"id": "asked", "cell": place},
        {"id": "unlisted", "cell": place},
        {"id": "asked", "cell": place, "metric": "trim.iops"},
        {"id": "asked", "cell": place, "per": "trim.iops"},
        {"id": "unlisted", "cell": place, "window": "elsewhere"},
        {"id": "asked", "cell": {"drives": "not run"}, "metric": "trim.iops"},
    )
    shown = [row["missing"] for row in rows]
    assert shown == [[], ["list"], ["value"], ["value"], ["list", "value"], []]


def test_quick_part_predicts_nothing(ours):
    figures = [{"id": i, "cell": {"drives": "two", "jobs": "2"}} for i in ("known", "asked")]
    bounded, plain = (ours(*figures, quick=quick)[1] for quick in (False, True))
    assert (bounded["because"], plain["because"]) == ("why", None)
    assert bounded["low"] < plain["predicted"] == 20_000 < bounded["high"]
    assert (plain["low"], plain["high"]) == (None, None)


def test_emulated_figures_follow_simulated_ones_without_bounds(ours, monkeypatch):
    served = [{**each, "world": "emulated"} for each in CELLS]
    for each in served:
        each["estimates"] = [{**e, "value": 2 * e["value"]} for e in each["estimates"]]
    figures = [{"id": i, "cell": {"drives": "two", "jobs": "2"}} for i in ("known", "asked")]
    monkeypatch.setitem(globals(), "CELLS", [*served, *CELLS])
    rows = ours(*figures)
    assert [(row["world"], row["id"], row["predicted"]) for row in rows] == [
        ("simulated", "known", 20_000),
        ("simulated", "asked", 20_000),
        ("emulated", "known", 40_000),
        ("emulated", "asked", 40_000),
    ]
    assert [row["because"] for row in rows] == [None, "why", None, None]
    monkeypatch.setitem(globals(), "CELLS", served)
    assert [row["world"] for row in ours(*figures)] == ["emulated"] * 2


def test_study_without_modelled_cells_knows_no_figure(ours, monkeypatch):
    monkeypatch.setitem(globals(), "CELLS", [{**each, "world": "measured"} for each in CELLS])
    (row,) = ours({"id": "known", "cell": {"drives": "two", "jobs": "2"}})
    assert (row["world"], row["predicted"]) == ("simulated", None)


def test_reads_and_writes_are_combined(ours):
    (row,) = ours({"id": "slow", "cell": {"drives": "one", "jobs": "4"}, "metric": "all.iops"})
    assert row["predicted"] * 1e6 == 31_000


def test_streams_are_weighted_by_their_rates(ours, monkeypatch):
    shown = cell("one", "1", **{"read.iops": 3e3, "read.latency.mean": 1e6})
    other = cell("one", "1", **{"write.iops": 1e3, "write.latency.mean": 5e6})["estimates"]
    shown["estimates"] = [{**e, "subject": "a"} for e in shown["estimates"]]
    shown["estimates"] += [{**e, "subject": "b"} for e in other]
    monkeypatch.setitem(globals(), "CELLS", [shown])
    (row,) = ours({"id": "slow", "cell": {}, "metric": "all.latency.mean"})
    assert row["predicted"] == pytest.approx(2.0)


def test_metric_per_another_is_their_quotient(ours):
    (row,) = ours({"id": "known", "cell": {"drives": "one", "jobs": "2"}, "per": "write.iops"})
    assert row["predicted"] == 20


def test_named_subject_is_chosen_among_several(ours, monkeypatch):
    shown = cell("one", "1", **{"transaction.rate": 1.0})
    shown["estimates"] += [
        {**shown["estimates"][0], "subject": name, "value": value}
        for name, value in (("tpcc.payment", 7.0), ("tpcc.delivery", 3.0))
    ]
    monkeypatch.setitem(globals(), "CELLS", [shown])
    place = {"drives": "one", "jobs": "1"}
    entry = {"id": "known", "cell": place, "metric": "transaction.rate"}
    assert [row["predicted"] for row in ours({**entry, "subject": "tpcc.payment"})] == [7]
    assert [row["predicted"] for row in ours({**entry, "subject": "tpcc.ordering"})] == [None]


def test_ramp_included_mean_is_weighted_by_counts(ours, monkeypatch):
    mean, rate = "transaction.latency.mean", "transaction.rate"
    shown = cell("one", "1", **{mean: 2e6, rate: 100.0})
    ramped = cell("one", "1", **{mean: 3e6, rate: 90.0})["estimates"]
    shown["windows"] = {"p": 300.0, "all": 310.0}
    shown["estimates"] += [{**estimate, "window": "all"} for estimate in ramped]
    monkeypatch.setitem(globals(), "CELLS", [shown])
    entry = {"id": "slow", "cell": {"drives": "one"}, "metric": mean, "derived": "ramp_included"}
    assert [row["predicted"] for row in ours(entry)] == [pytest.approx(3 * 90 * 310 / (100 * 300))]
    shown["estimates"] = [e for e in shown["estimates"] if e["window"] == "p"]
    assert [row["predicted"] for row in ours(entry)] == [None]


def test_derived_figures_follow_their_definitions(ours):
    apart = {"axis": "jobs", "whatever": "drives"}
    rows = ours(
        {"id": "known", "cell": {"drives": "two"}, "derived": "most"},
        {
            "id": "asked",
            "cell": {"drives": "two", "jobs": "8"},
            "derived": {"more_than": {"cell": {"drives": "one"}}},
        },
        {
            "id": "asked",
            "cell": {"drives": "two", "jobs": "8"},
            "derived": {"ratio_to": {"cell": {"drives": "one"}}},
        },
        {
            "id": "asked",
            "cell": {"drives": "two", "jobs": "4"},
            "derived": {"gain_over": {"cell": {"drives": "one"}}},
        },
        {"id": "threads", "cell": {}, "derived": {"same_up_to": {**apart, "within": "10 %"}}},
        {"id": "threads", "cell": {}, "derived": {"apart_from": {**apart, "beyond": "10 %"}}},
    )
    assert [row["predicted"] for row in rows] == [60_000, 30_000, 2, 40 / 30 - 1, 2, 4]


def test_interval_adds_comparable_errors_and_parameter_uncertainty(ours):
    known, asked = ours(
        {"id": "known", "cell": {"drives": "one", "jobs": "2"}},
        {"id": "asked", "cell": {"drives": "two", "jobs": "4"}},
    )
    assert known["low"] is None
    error = math.log(20 / 25)
    width = 1.645 * math.hypot(error, 0.1)
    assert asked["low"] == pytest.approx(40_000 * math.exp(-width))
    assert asked["high"] == pytest.approx(40_000 * math.exp(width))
    assert asked["because"] == "why"


@pytest.mark.parametrize(
    ("limit", "low", "high"),
    [
        ({"at_most": {"asked": "known"}}, None, 40_000),
        ({"at_most": {"asked": 42_000}}, None, 42_000 * published.REPEATED),
        ({"at_least": {"asked": 39_000}}, 39_000 / published.REPEATED, None),
        ({"at_most": {"other": 42_000}}, None, None),
    ],
)
def test_interval_respects_the_upper_bound_of_its_figure(ours, monkeypatch, limit, low, high):
    kinds = {"asked": Uncertainty([], 0.1, "why", **limit)}
    monkeypatch.setattr(published, "uncertainties", lambda: kinds)
    _, row = ours(
        {"id": "known", "cell": {"drives": "one", "jobs": "2"}},
        {"id": "asked", "cell": {"drives": "two", "jobs": "4"}},
    )
    assert row["low"] == pytest.approx(low or 40_000 * math.exp(-0.1645))
    assert row["high"] == pytest.approx(high or 40_000 * math.exp(0.1645))


def test_relative_figure_scales_a_known_one(ours, monkeypatch):
    kinds = {"asked": Uncertainty([], 0.1, "why", {"asked": "known"})}
    monkeypatch.setattr(published, "uncertainties", lambda: kinds)
    asked = {"id": "asked", "cell": {"drives": "two", "jobs": "4"}}
    _, row = ours({"id": "known", "cell": {"drives": "one", "jobs": "2"}}, asked)
    assert row["predicted"] == pytest.approx(25_000 * 40 / 20)
    assert row["low"] == pytest.approx(50_000 * math.exp(-1.645 * 0.1))
    (alone,) = ours(asked)
    assert alone["predicted"] is None and alone["low"] is None


def test_predicted_figures_have_one_class_and_known_comparisons():
    lists = published.listed()
    seen = published.uncertainties()
    assert seen
    for figure, entry in seen.items():
        assert lists[figure].value is None, figure
        assert all(lists[other].value is not None for other in entry.comparable), figure
        for limits in (entry.at_least, entry.at_most):
            assert limits.keys() <= {f for f in seen if seen[f] is entry}
            known = [lists[limit] for limit in limits.values() if isinstance(limit, str)]
            assert all(limit.value is not None for limit in known), figure
        assert 0 < entry.parameters <= 1


def test_equal_predictions_of_one_band_have_a_reason() -> None:
    known = published.uncertainties()
    ends = [known[figure] for figure in ("S1-0145", "S1-0146")]
    assert all("predicted alike" in entry.because for entry in ends)
    # The mean of the same cell is another figure.
    assert "predicted alike" not in known["S1-0174"].because
    assert known["S1-0174"].parameters == ends[0].parameters == ends[1].parameters


@pytest.mark.parametrize("pair", [("S1-0220", "S1-0238"), ("S1-0223", "S1-0241")])
def test_equal_predictions_of_one_cell_have_a_reason(pair) -> None:
    study = tomllib.loads((STUDIES / "flash-card-review.toml").read_text())
    asked = [figure for figure in study["published"] if figure["id"] in pair]
    one, other = ({**figure, "id": ""} for figure in asked)
    assert one == other
    assert all("predicted alike" in published.uncertainties()[figure].because for figure in pair)
