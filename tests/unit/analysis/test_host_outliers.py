"""Hosts of a fleet: one that differs from all others is flagged."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.hosts import flag_hosts


def cell(host: str, rate: float, world: str = "measured", depth: str = "1") -> dict[str, Any]:
    estimates = [
        {"metric": "read.iops", "subject": "s", "window": "p", "value": rate},
        {"metric": "read.latency.max", "subject": "s", "window": "p", "value": 1e9 / rate},
    ]
    return {
        "world": world,
        "phase": "p",
        "levels": {"depth": depth, "host": host},
        "flags": [],
        "verdict": {"level": "valid", "reasons": []},
        "estimates": estimates,
    }


def test_host_that_differs_from_all_others_is_flagged() -> None:
    cells = [cell(f"db{n}", rate) for n, rate in enumerate((1000, 1010, 990, 1005, 700))]
    flag_hosts(cells)
    assert [len(each["flags"]) for each in cells] == [0, 0, 0, 0, 1]
    (flag,) = cells[-1]["flags"]
    assert (flag["code"], flag["metric"]) == ("outlier_host", "read.iops")
    assert flag["change"] == pytest.approx(-0.3, abs=0.01)
    assert cells[-1]["verdict"]["level"] == "warning"
    assert cells[-1]["verdict"]["reasons"][0]["values"]["host"] == "db4"


@pytest.mark.parametrize(
    "cells",
    [
        [cell(f"db{n}", rate) for n, rate in enumerate((1000, 1010, 990, 1005))],
        [cell(f"db{n}", rate) for n, rate in enumerate((1000, 1010, 700))],
        [cell(f"p{n}", rate, "simulated") for n, rate in enumerate((1000, 1010, 990, 1005, 700))],
        [cell(f"db{n}", 1000 + n, depth=str(n)) for n in range(5)],
    ],
)
def test_alike_few_or_simulated_hosts_are_not_flagged(cells: list[dict[str, Any]]) -> None:
    flag_hosts(cells)
    assert all(not each["flags"] and each["verdict"]["level"] == "valid" for each in cells)
