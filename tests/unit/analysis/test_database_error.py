"""Evidence of databases: whose figures bound an interval, and pairs that bound a ratio."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tameshi.analysis import database_error, drive_error, model_ratio
from tameshi.analysis.database_error import KEY, RATE, TAIL, Known
from tameshi.analysis.database_facts import Facts, changes
from tameshi.analysis.evidence import quantile

GB = 10**9
CELL = Facts("mysql-5.7", "tpcc", "flash", 20, 8 * GB, GB, "a", "s")
TPS = "transaction.rate"


def row(experiment: str, ours: float, metric: str = TPS, **other: object) -> Known:
    return Known(experiment, replace(CELL, **other), metric, 100.0, ours)


@pytest.fixture
def evidence(monkeypatch: pytest.MonkeyPatch) -> list[Known]:
    rows: list[Known] = []
    monkeypatch.setattr(database_error, "known", lambda: rows)
    return rows


@pytest.fixture(autouse=True)
def fresh_pairs() -> None:
    database_error.pairs.cache_clear()
    database_error.ratio_width.cache_clear()


def factor(family: str, workload: str = "tpcc", without: str = "") -> float:
    return math.exp(quantile(database_error.evidence(family, workload, without)[1]))


def test_width_is_of_the_same_program_if_three_experiments_have_it(evidence: list[Known]) -> None:
    evidence += [row("a", 110.0), row("b", 120.0), row("c", 80.0), row("d", 300.0, workload="oltp")]
    assert factor(RATE) == pytest.approx(1.25)
    assert factor(RATE, "oltp") == pytest.approx(3)
    assert factor(RATE, without="c") == pytest.approx(3), "two are not enough"


def test_mysql_without_capacitor_has_evidence_of_its_own(evidence: list[Known]) -> None:
    evidence += [row("a", 110.0), row("b", 120.0), row("c", 80.0)]
    evidence.append(row("d", 800.0, storage="flash without capacitor"))
    assert factor(RATE) == pytest.approx(1.25)
    _, offs = database_error.evidence(RATE, "tpcc", slow_syncs=True)
    assert math.exp(quantile(offs)) == pytest.approx(8)
    evidence.append(row("e", 130.0, storage="flash without capacitor", profile="mariadb-10.11"))
    assert factor(RATE) == pytest.approx(1.3), "MariaDB syncs by fdatasync"


def test_rare_family_has_the_evidence_of_rates_besides(evidence: list[Known]) -> None:
    evidence += [row("a", 110.0), row("b", 120.0), row("c", 150.0)]
    evidence.append(row("a", 200.0, metric="server.page_write_rate"))
    assert factor("writes") == pytest.approx(2)
    assert factor("share") == pytest.approx(1.5)


def test_rare_tails_have_the_evidence_of_drives(evidence: list[Known]) -> None:
    evidence.append(row("a", 100.0, metric="transaction.latency.p99"))
    of_drives = [k for k in drive_error.known() if drive_error.family_of(k.metric) == TAIL]
    assert len(database_error.evidence(TAIL, "tpcc")[1]) == len(of_drives) + 1
    assert factor(TAIL) > 2


def test_hit_ratio_is_off_by_its_odds() -> None:
    known = replace(row("a", 0.0), metric="server.hit_ratio", reference=0.9, ours=0.95)
    assert known.off == pytest.approx(math.log(19 / 9))


def test_changes_name_what_differs() -> None:
    def changed(**other: object) -> list[str] | None:
        return changes(CELL.key, replace(CELL, **other).key)

    assert changed() == []
    assert changed(node="b") == ["storage"]
    assert changed(pool_bytes=2 * GB, clients=40) == ["pool", "clients"]
    assert changed(data_bytes=GB) == ["data"]
    assert changed(settings="t") == ["settings"]
    assert changed(profile="mysql-8.0") is None and changed(workload="oltp") is None


def test_pairs_of_databases_differ_in_one_thing_alone(evidence: list[Known]) -> None:
    evidence += [
        row("a", 200.0),
        row("a", 100.0, node="b"),
        row("a", 400.0, pool_bytes=2 * GB),
        row("b", 100.0, pool_bytes=2 * GB),
    ]
    found = {change: list(database_error.pairs(RATE, change)) for change in ("storage", "pool")}
    assert found == {
        "storage": [("a", pytest.approx(math.log(2)))],
        "pool": [("a", pytest.approx(math.log(2)))],
    }


def test_ratio_of_two_cells_has_the_error_of_pairs(evidence: list[Known]) -> None:
    for name in "abc":
        evidence += [row(name, 200.0), row(name, 220.0, node="b")]
        evidence.append(row(name, 300.0, pool_bytes=2 * GB))

    def of(**other: object) -> tuple[float, float] | None:
        wide = {"low": 1.0, "high": 10_000.0}
        models = [wide | {KEY: facts.key} for facts in (CELL, replace(CELL, **other))]
        return model_ratio.of(TPS, (200.0, models[0]), (100.0, models[1]))

    assert of(node="c") == pytest.approx((2 / 1.1, 2.2))
    assert of(pool_bytes=4 * GB) == pytest.approx((2 / 1.5, 3))
    both = math.exp(math.hypot(math.log(1.1), math.log(1.5)))
    assert of(node="c", pool_bytes=4 * GB) == pytest.approx((2 / both, 2 * both))
    assert of(profile="mysql-8.0") == pytest.approx((0.01, 200)), "the less certain side's"


def test_bounded_rate_makes_no_ratio_larger(evidence: list[Known]) -> None:
    for name in "abc":
        evidence += [row(name, 100.0), row(name, 200.0, node="b")]
    top = {"low": 100.0, "high": 210.0, KEY: CELL.key}
    bottom = {"low": 90.0, "high": 200.0, KEY: replace(CELL, node="b").key}
    found = model_ratio.of(TPS, (200.0, top), (100.0, bottom))
    assert found == pytest.approx((1.0, 210 / 90))


def test_evidence_of_databases_is_complete() -> None:
    rows = database_error.known()
    assert len({each.experiment for each in rows}) >= 5
    for each in rows:
        assert math.isfinite(each.off) and each.facts.data_bytes > 0 and each.experiment
    assert all(each.family not in database_error.ALONE for each in rows)
