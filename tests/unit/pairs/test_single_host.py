"""Server without a standby: its events, and the steps of its restart."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tameshi.core.errors import BadInput
from tameshi.pairs import SINGLES, WAYS, Service, Side, SingleHost, check_event, way_named
from tameshi.pairs.deployment import Failover
from tameshi.servers.product import Address, Home


def host_with(done: list[str], tmp_path: Path) -> SingleHost:
    """Return a host without a real server; `done` lists what happens to it."""
    host = SimpleNamespace(
        name="left",
        address="10.77.0.1",
        kill=lambda: done.append("host killed"),
        processes=lambda: [],
    )
    socket = tmp_path / "own" / "sock"
    server = SimpleNamespace(
        home=Home(tmp_path, tmp_path),
        address=Address("mariadb", "tameshi", user="root", socket=socket),
        options={},
        kill=lambda: done.append("server killed"),
        start=lambda: done.append("server started"),
    )
    side = Side(host, server, 3306)  # type: ignore[arg-type]
    side.restore_power = lambda: done.append("drive mounted")  # type: ignore[method-assign]
    return SingleHost(side, SINGLES["mariadb-single"], Service(tmp_path / "service"))


def test_restart_ends_mounts_starts_and_leads_to_the_server(tmp_path: Path) -> None:
    done: list[str] = []
    single = host_with(done, tmp_path)
    spans = single.fail_over().spans_ns()
    assert done == ["server killed", "host killed", "drive mounted", "server started"]
    assert [*spans] == ["fence", "mount", "recovery", "repointing", "failover"]
    assert (tmp_path / "service" / "sock").readlink() == tmp_path / "own" / "sock"
    assert single.take_back() is None and single.lag_ns() is None
    assert single.link_bytes() == 0 and len(single.sides) == 1


@pytest.mark.parametrize("event", ["link-cut", "split-brain", "link-cut-then-kill"])
@pytest.mark.parametrize("name", SINGLES)
def test_link_event_without_a_standby_is_refused(name: str, event: str) -> None:
    with pytest.raises(BadInput, match=f"has no link.*{event} of {name}.*power-cut"):
        check_event(WAYS[name], event)
    check_event(WAYS[name], "power-cut")


def test_link_cut_of_a_single_host_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no link"):
        host_with([], tmp_path).cut_link()


def test_unknown_way_is_refused_with_those_that_are() -> None:
    assert way_named("postgresql-single").standbys == 0
    with pytest.raises(BadInput, match=r"mariadb-single.*postgresql-remote-apply"):
        way_named("single")


def test_steps_of_a_failover_have_names_of_their_own() -> None:
    restart = Failover(0, 1, 3, 6, 10, ("fence", "mount", "recovery", "repointing"))
    assert restart.spans_ns() == {
        "fence": 1,
        "mount": 2,
        "recovery": 3,
        "repointing": 4,
        "failover": 10,
    }
