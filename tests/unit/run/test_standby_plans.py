"""Standby of a run: the replication of its product, and commits that a failover may lose."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tameshi.core.errors import BadInput
from tameshi.core.spec_types import DatabaseSpec, Event, RunSpec
from tameshi.run.database_work import may_lose
from tameshi.run.standby_plan import replication_of

LINK = {"round_trip": "100 us", "rate": "1 GB"}


def database(replication: str | None) -> DatabaseSpec:
    standby = {"replication": replication, "link": LINK} if replication else None
    fields: dict[str, Any] = {"engine": "mariadb", "storage": "disk", "seed": 1}
    return DatabaseSpec.model_validate(fields | ({"standby": standby} if standby else {}))


def run(replication: str | None, kind: str, protocol: str = "") -> RunSpec:
    """Return a run with one event, on a replica if it has a protocol."""
    replica = {"replica": {"protocol": protocol}} if protocol else {}
    model = SimpleNamespace(model_dump=lambda **_: replica)
    event = Event.model_validate({"at": "1 s", kind: {}})
    storage = {"disk": SimpleNamespace(model=model)}
    made = SimpleNamespace(database=database(replication), events={"e": event}, storage=storage)
    return cast(RunSpec, made)


@pytest.mark.parametrize(
    ("product", "replication"),
    [
        ("mariadb", "asynchronous"),
        ("mariadb", "semi_synchronous"),
        *(("postgresql", each) for each in ("asynchronous", "remote_write", "on", "remote_apply")),
    ],
)
def test_replication_is_that_of_the_product(product: str, replication: str) -> None:
    found = replication_of(database(replication), product)
    assert found.product == product
    assert found.promises == (replication != "asynchronous")


def test_product_without_a_standby_is_refused_with_a_remedy() -> None:
    with pytest.raises(BadInput) as refused:
        replication_of(database("semi_synchronous"), "mysql")
    message = str(refused.value)
    assert "standby.replication" in message and "--server mysql=mariadb" in message
    assert "mariadb-semi-synchronous" in message and "galera" not in message


def test_only_a_failover_without_a_promise_may_lose_commits() -> None:
    assert may_lose(run("asynchronous", "failover"))
    assert not may_lose(run("semi_synchronous", "failover"))
    assert not may_lose(run("asynchronous", "kill"))
    assert may_lose(run(None, "failover", "asynchronous"))
    assert not may_lose(run(None, "failover", "far_memory"))
    assert not may_lose(run(None, "failover"))
