"""Model error of drives: nine tenths of the evidence, each experiment with the same weight."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from tameshi.analysis import drive_error, model_ratio
from tameshi.analysis.drive_error import DRIVE, LOAD, RATE, TABLE, Known
from tameshi.analysis.stats.estimates import Estimate
from tameshi.analysis.stats.intervals import Interval


def row(experiment: str, ours: float, drive: str = "flash", **more: str) -> Known:
    given = {"storage": "a", "load": "one", "metric": "read.iops", **more}
    return Known(experiment, drive, given["storage"], given["load"], given["metric"], 100.0, ours)


@pytest.fixture
def evidence(monkeypatch: pytest.MonkeyPatch) -> list[Known]:
    rows: list[Known] = []
    monkeypatch.setattr(drive_error, "known", lambda: rows)
    drive_error.ratio_width.cache_clear()
    return rows


@pytest.fixture(autouse=True)
def fresh_widths() -> None:
    drive_error.ratio_width.cache_clear()


def estimate(metric: str, value: float = 100.0, at_most: float | None = None) -> Estimate:
    sampling = Interval(None, None, 1, "m")
    return Estimate(metric, "s", value, "1/s", sampling, at_most=at_most)


@pytest.mark.parametrize(
    ("metric", "family"),
    [
        ("read.iops", "rate"),
        ("write.bandwidth", "rate"),
        ("commit.rate", "rate"),
        ("read.latency.mean", "latency"),
        ("read.latency.p50", "latency"),
        ("read.latency.p99", "tail"),
        ("sync.latency.max", "tail"),
        ("read.latency.sd", None),
        ("write.failed", None),
    ],
)
def test_metric_belongs_to_a_family(metric: str, family: str | None) -> None:
    assert drive_error.family_of(metric) == family


def test_width_weighs_each_experiment_the_same(evidence: list[Known]) -> None:
    # Nine figures of one experiment weigh as much as the one of another.
    evidence += [row("a", 100.0 + i) for i in range(9)]
    evidence += [row("b", 200.0), row("c", 150.0)]
    width, inside = drive_error.width(RATE, "flash")
    assert inside and width == pytest.approx(math.log(2))
    assert drive_error.width(RATE, "flash", without="b")[0] == pytest.approx(math.log(1.5))


def test_rare_kind_of_drive_has_the_evidence_of_all(evidence: list[Known]) -> None:
    evidence += [row(name, 300.0) for name in "abc"]
    evidence.append(row("d", 100.0, drive="xpoint"))
    assert drive_error.width(RATE, "xpoint") == (pytest.approx(math.log(3)), False)
    model = drive_error.interval(estimate("read.iops"), "x", "xpoint")
    assert model and model.validated_on == "a; b; c; d" and not model.inside_range


def test_interval_ends_at_the_arrival_rate(evidence: list[Known]) -> None:
    evidence += [row(name, 200.0) for name in "abc"]
    model = drive_error.interval(estimate("read.iops", at_most=120.0), "x", "flash")
    assert model and (model.low, model.high) == (pytest.approx(50.0), 120.0)
    assert drive_error.interval(estimate("write.failed"), "x", "flash") is None


def test_pairs_differ_in_one_thing_alone(evidence: list[Known]) -> None:
    evidence += [
        row("a", 200.0),
        row("a", 400.0, load="two"),
        row("a", 100.0, storage="b"),
        row("a", 100.0, storage="b", load="three"),
        row("b", 100.0),
    ]
    factors = {
        change: [(name, pytest.approx(off)) for name, off in drive_error.pairs(RATE, change)]
        for change in (DRIVE, LOAD)
    }
    assert factors == {
        DRIVE: [("a", math.log(2))],
        LOAD: [("a", math.log(2)), ("a", 0.0)],
    }


def test_ratio_of_two_drives_figures_has_the_error_of_pairs(evidence: list[Known]) -> None:
    for name in "abc":
        evidence += [row(name, 200.0), row(name, 300.0, load="two"), row(name, 200.0, storage="b")]
    wide = {"low": 1.0, "high": 10_000.0, "drive": "flash"}
    one, two = wide | {"storage": "a"}, wide | {"storage": "b"}
    same_drive = model_ratio.of("read.iops", (200.0, one), (100.0, one))
    assert same_drive == pytest.approx((2 / 1.5, 3.0))
    assert model_ratio.of("read.iops", (200.0, one), (100.0, two)) == pytest.approx((2.0, 2.0))
    # A measured figure has no model: the other side's error remains.
    assert model_ratio.of("read.iops", (200.0, one), (100.0, {})) == pytest.approx((0.01, 100.0))


def test_evidence_is_of_known_figures_that_nothing_was_fitted_on() -> None:
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    root = Path(__file__).resolve().parents[3]
    with (root / "docs/validation/known-round2.csv").open(newline="", encoding="utf-8") as file:
        known = {each["id"]: each for each in csv.DictReader(file)}
    for each in rows:
        figure = known[each["id"]]
        assert (each["reference"], each["ours"]) == (figure["published"], figure["ours"])
    assert len(rows) > 100


def test_coverage_without_the_own_experiment_is_near_nine_tenths() -> None:
    # Tails are known of three experiments only, and of two without one.
    for drive in ("flash", "hdd"):
        own = [k for k in drive_error.known() if drive_error.family_of(k.metric) == RATE]
        own = [each for each in own if each.drive == drive]
        by_experiment: dict[str, list[bool]] = {}
        for each in own:
            width, _ = drive_error.width(RATE, drive, each.experiment)
            by_experiment.setdefault(each.experiment, []).append(abs(each.off) <= width)
        shares = [sum(inside) / len(inside) for inside in by_experiment.values()]
        assert 0.8 <= sum(shares) / len(shares) <= 0.97, drive
