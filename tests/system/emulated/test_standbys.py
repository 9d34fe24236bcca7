"""Studies with a standby that replicates by its log, on served drives in two hosts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import codes, results, tameshi_process
from emulated_studies import all_events, database, events, run
from served import left, only_hosts

LINK = '[standby]\nreplication = "{}"\nlink = "tcp-10gbe"\n'


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of hosts and drives."""
    with only_hosts():
        yield


def failed_over(tmp_path: Path, engine: str, replication: str, failover: str) -> Path:
    """Run a study whose standby takes over; return its folder."""
    text = database(engine, "sata-ssd-480gb").replace("power_cut = {}", f"failover = {failover}")
    return run(tmp_path, text + LINK.format(replication))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("engine", "replication", "cause"),
    [
        ("mariadb", "semi_synchronous", "power_cut"),
        pytest.param("mariadb", "semi_synchronous", "kill", marks=pytest.mark.soak),
        pytest.param("mariadb", "semi_synchronous", "link_cut", marks=pytest.mark.soak),
        pytest.param("postgresql", "remote_apply", "power_cut", marks=pytest.mark.soak),
        pytest.param("postgresql", "on", "link_cut", marks=pytest.mark.soak),
    ],
)
def test_standby_takes_over_and_nothing_acknowledged_is_lost(
    tmp_path: Path, engine: str, replication: str, cause: str
) -> None:
    failover = f'{{ down = "300 ms", cause = "{cause}" }}'
    out = failed_over(tmp_path, engine, replication, failover)
    (took_over,) = events(out, "took_over")
    assert took_over["cause"] == cause and took_over["spans_ns"]["promotion"] > 0
    (figures,) = events(out, "standby_figures")
    assert figures["link_bytes"] > 100_000 and figures["promises"]
    (check,) = events(out, "check")
    assert check["holds"] and check["ledger"]["acknowledged"] > 10 and not check["ledger"]["lost"]
    (outage,) = events(out, "outage")
    assert outage["outage"]["first_success_ns"] > took_over["t_ns"]
    (cell,) = results(out)["cells"]
    (found,) = cell["failovers"]
    # A server behind a cut link goes on for a while.
    assert found["away_ns"] > 300_000_000 and found["lost"] == 0


@pytest.mark.timeout(300)
def test_commits_behind_a_cut_link_are_lost_with_a_warning(tmp_path: Path) -> None:
    failover = '{ down = "500 ms", cause = "link_cut" }'
    out = failed_over(tmp_path, "mariadb", "asynchronous", failover)
    (check,) = events(out, "check")
    assert check["ledger"]["lost"] > 0 and not check["ledger"]["phantom"]
    (cell,) = results(out)["cells"]
    assert cell["failovers"][0]["lost"] == check["ledger"]["lost"]
    assert cell["verdict"]["level"] == "warning" and "commits_lost" in codes(cell["verdict"])


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_cost_of_standbys_is_found_in_both_worlds(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--quick", "--world", "emulated", "--world", "simulated", "--out", out)
    done = tameshi_process("run", "standby-cost", *words)
    assert left() == [] and "Against single" in done.stdout, done.stderr
    cells = results(out)["cells"]
    assert len(cells) == 2 * 2 * 4 * 2
    assert len(all_events(out, "took_over")) == 4
    for cell in cells:
        assert cell["runs"] == {"complete": 1, "partial": 0, "failed": 0}
        for failover in cell.get("failovers", ()):
            assert failover["lost"] == 0 or cell["levels"]["way"] == "asynchronous"
