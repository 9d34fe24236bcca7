"""Failover of real pairs under load: commits that the settings promise stay, others are found
lost."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from command import tameshi_process
from disks import unable
from making import Maker
from served import left, only_hosts

from tameshi.hosts import HostPlan, Hosts, HostsPlan, LinkPlan
from tameshi.pairs import (
    COPY,
    EVENTS,
    REPLICATIONS,
    SINGLES,
    WAYS,
    LedgerLoad,
    Pair,
    Service,
    Side,
    SingleHost,
    TrialPlan,
    TrialResult,
    replication_named,
    run_trial,
)
from tameshi.pairs.galera import MariaDBGalera, provider
from tameshi.pairs.mirror import BlockMirror
from tameshi.pairs.trial import can_have

PROGRAM = {"key_update": {"tables": 1, "rows": 500, "row_size": "200 B", "clients": 3}}
PLAN = HostsPlan(
    (HostPlan("left", "10.77.4.1"), HostPlan("right", "10.77.4.2")),
    (LinkPlan(("left", "right"), 200_000, 1_000_000_000),),
)
BEFORE_SECONDS = 0.6
SETTINGS = {"mariadb": {"commit": "1"}, "postgresql": {}}
MANY = 20
BY_SERVERS = [
    name
    for name, of in REPLICATIONS.items()
    if of.promises and not isinstance(of, BlockMirror | MariaDBGalera)
]
"""Replications that promise, and need neither a served drive nor a third host."""


def failed_over(
    make: Maker, ground: Path, name: str, event: str, trials: int = 1
) -> list[TrialResult]:
    """Fail a pair over under load; sides change their roles each time."""
    replication = replication_named(name)
    product, found = replication.product, []
    with only_hosts(), ExitStack() as stack:
        hosts = stack.enter_context(Hosts(PLAN, "test-pair"))
        left_host, right_host = hosts.host("left"), hosts.host("right")
        settings = SETTINGS[product]
        first = make.server(
            *(product, ground / "left", PROGRAM), within=left_host.running, **settings
        )
        # A made database spares MariaDB the time to make one; PostgreSQL's copy is the whole.
        empty = make.server if product == "mariadb" else make.bare
        second = empty(product, ground / "right", within=right_host.running, **settings)
        for server in (first, second):
            stack.callback(server.kill)
        sides = (
            Side(left_host, first, replication.port),
            Side(right_host, second, replication.port),
        )
        pair = Pair(hosts, sides, replication, Service(ground / "run" / "service"))
        pair.set_up()
        for number in range(trials):
            folder = ground / "run" / f"load-{number}"
            load = LedgerLoad(pair.service.address, PROGRAM, folder, seed=number)
            plan = TrialPlan(event=event, before=BEFORE_SECONDS, cut=0.3, after=0.2)
            found.append(run_trial(pair, load, plan))
            print(found[-1])
    assert left() == []
    return found


def restarted(make: Maker, ground: Path, name: str) -> TrialResult:
    """Kill a server without a standby under load, and let it recover."""
    single = SINGLES[name]
    with only_hosts(), ExitStack() as stack:
        hosts = stack.enter_context(Hosts(replace(PLAN, links=()), "test-single"))
        host = hosts.host("left")
        server = make.server(
            *(single.product, ground / "left", PROGRAM),
            within=host.running,
            **SETTINGS[single.product],
        )
        stack.callback(server.kill)
        side = Side(host, server, single.port)
        deployment = SingleHost(side, single, Service(ground / "run" / "service"))
        deployment.set_up()
        load = LedgerLoad(deployment.service.address, PROGRAM, ground / "run" / "load")
        plan = TrialPlan(event="kill", before=BEFORE_SECONDS, after=1.2)
        found = run_trial(deployment, load, plan)
    assert left() == []
    return found


def holds(found: TrialResult) -> None:
    """Assert that a failover kept what was acknowledged, and that both sides are the same."""
    assert found.ledger["acknowledged"] > 0
    assert (found.lost, found.unexplained) == (0, 0), found
    assert found.ledger == found.returned_ledger
    assert found.away_ns is not None or not found.failover


def test_kill_of_semi_synchronous_primary_loses_nothing(make: Maker, ground: Path) -> None:
    (found,) = failed_over(make, ground, "mariadb-semi-synchronous", "kill")
    holds(found)
    assert found.returned.means == "binary log", found.returned.refused
    assert found.costs.link_bytes > 100 and found.rate_after > 0
    assert found.warm_up and found.warm_up.before
    assert found.warm_up.before.hit_ratio and found.warm_up.before.hit_ratio > 0.5


def test_asynchronous_commits_after_a_link_cut_are_found_lost(make: Maker, ground: Path) -> None:
    (found,) = failed_over(make, ground, "mariadb-asynchronous", "link-cut-then-kill")
    assert found.lost > 0 and found.unexplained == 0
    assert found.returned.means == COPY
    assert "commits that the new primary does not have" in found.returned.refused
    assert found.ledger == found.returned_ledger


def test_server_alone_recovers_all_acknowledged(make: Maker, ground: Path) -> None:
    found = restarted(make, ground, "postgresql-single")
    assert found.ledger["acknowledged"] > 0
    assert (found.lost, found.unexplained, found.broken) == (0, 0, 0)
    assert found.away_ns and found.failover.spans_ns()["recovery"] < found.away_ns
    assert found.returned is None and found.returned_ledger == {}
    assert found.warm_up and found.warm_up.after


@pytest.mark.soak
def test_kill_of_synchronous_postgresql_loses_nothing(make: Maker, ground: Path) -> None:
    (found,) = failed_over(make, ground, "postgresql-on", "kill")
    holds(found)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("event", [event for event in EVENTS if event != "power-cut"])
@pytest.mark.parametrize("name", BY_SERVERS)
def test_many_failovers_lose_nothing_acknowledged(
    make: Maker, ground: Path, name: str, event: str
) -> None:
    for found in failed_over(make, ground, name, event, MANY):
        holds(found)


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "event"),
    [(name, event) for name in REPLICATIONS for event in EVENTS if can_have(WAYS[name], event)],
)
def test_failover_on_served_drives_keeps_its_promise(name: str, event: str) -> None:
    if isinstance(REPLICATIONS[name], MariaDBGalera) and not provider():
        unable("Galera's library is not installed")
    with only_hosts():
        done = tameshi_process("failover", name, "--event", event, "--before", "2s", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(done.stdout)
    print(found)
    assert found["holds"] and found["ledger"] == found["returned_ledger"]
    # The drive of a block mirror is taken away at once: only commits before that can be lost.
    lossy = ("link-cut-then-kill", "split-brain")[: 1 if "block-mirror" in name else 2]
    if not REPLICATIONS[name].promises and event in lossy:
        assert found["lost"] > 0, "a planted loss"
    assert left() == []
