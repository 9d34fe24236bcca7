"""Galera on two nodes and an arbiter: the majority serves, and nothing acknowledged is lost."""

from __future__ import annotations

import json

import pytest
from command import tameshi_process
from disks import unable
from served import left, only_hosts

from tameshi.pairs.galera import provider

EVENTS = ("kill", "power-cut", "link-cut", "link-cut-one-way", "split-brain")


@pytest.mark.soak
@pytest.mark.timeout(200)
@pytest.mark.parametrize("event", EVENTS)
def test_cluster_without_its_primary_loses_nothing(event: str) -> None:
    if not provider():
        unable("Galera's library is not installed")
    words = ("mariadb-galera", "--event", event, "--before", "2s", "--rows", "1000", "--json")
    with only_hosts():
        done = tameshi_process("failover", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left() == []
    (found,) = json.loads(done.stdout)
    print(found)
    assert found["holds"] and found["ledger"]["acknowledged"] > 100
    assert found["ledger"] == found["returned_ledger"]
    assert found["returned"]["means"] == "incremental transfer", found["returned"]


@pytest.mark.soak
@pytest.mark.timeout(200)
def test_node_without_majority_leaves_commits_unknown() -> None:
    if not provider():
        unable("Galera's library is not installed")
    words = ("mariadb-galera", "--event", "split-brain", "--rows", "1000", "--json")
    with only_hosts():
        done = tameshi_process("failover", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = json.loads(done.stdout)
    print(found["errors"], found["ledger"])
    # Each client has a commit under way, of which the majority has some or none.
    ledger = found["ledger"]
    assert found["errors"]["mysql 1180"] >= 1 and ledger["ambiguous"] >= 1
    assert (ledger["lost"], ledger["twice"], ledger["phantom"]) == (0, 0, 0)
    # A client that is refused connects again every 20 ms, not all the time.
    assert found["errors"]["mysql 1047"] < 5_000
