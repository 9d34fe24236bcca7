"""Failover of servers on a block mirror: the standby starts on the far side of the drive."""

from __future__ import annotations

import json
from typing import Any

import pytest
from command import tameshi_process
from served import left, only_hosts


def failed_over(name: str, event: str, *options: str) -> dict[str, Any]:
    """Fail a pair over once; return its result."""
    words = (name, "--event", event, "--before", "1s", "--rows", "500", *options, "--json")
    with only_hosts():
        done = tameshi_process("failover", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left() == []
    (found,) = json.loads(done.stdout)
    print(found)
    return dict(found)


@pytest.mark.timeout(120)
def test_kill_on_a_block_mirror_loses_nothing() -> None:
    found = failed_over("mariadb-block-mirror", "kill")
    assert found["holds"] and found["ledger"]["acknowledged"] > 50
    assert found["ledger"] == found["returned_ledger"]
    assert found["returned"]["means"] == "resync" and found["returned"]["link_bytes"] > 0
    assert found["costs"]["link_bytes"] > 500, "whole pages and blocks of the log cross the link"


@pytest.mark.soak
@pytest.mark.timeout(120)
def test_asynchronous_mirror_behind_a_cut_link_loses_commits() -> None:
    found = failed_over("postgresql-block-mirror-asynchronous", "link-cut-then-kill")
    assert found["lost"] > 0 and found["unexplained"] == 0


@pytest.mark.soak
@pytest.mark.timeout(120)
@pytest.mark.parametrize("event", ["kill", "power-cut", "link-cut-then-kill", "split-brain"])
def test_sqlite_on_a_block_mirror_loses_nothing(event: str) -> None:
    found = failed_over("sqlite-block-mirror", event)
    assert found["holds"] and found["ledger"]["acknowledged"] > 50
    assert found["ledger"] == found["returned_ledger"]
    assert found["returned"]["means"] == "resync" and found["away_ns"]
