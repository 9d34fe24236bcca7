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
