"""Links between hosts: round trip, rate, loss, cuts and slow motion as asked for."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import pytest
from link_traffic import arriving, connection, datagrams, round_trip_ns, transfer_rate, way
from served import left, only_hosts

from tameshi.hosts import HostPlan, Hosts, HostsPlan, LinkPlan

ROUND_TRIP_NS, RATE_BYTES = 2_000_000, 50_000_000
TOLERANCE = 0.1
"""Next to other work, each program of a round trip wakes up some 40 µs later."""


def plan_of(slow: float = 1.0, hosts: int = 2) -> HostsPlan:
    """Return a plan of hosts with a link from the first to each other."""
    names = ["left", "right", "third"][:hosts]
    made = [HostPlan(name, f"10.77.1.{number + 1}") for number, name in enumerate(names)]
    links = [LinkPlan(("left", name), ROUND_TRIP_NS, RATE_BYTES) for name in names[1:]]
    return HostsPlan(tuple(made), tuple(links), slow=slow)


@pytest.fixture(scope="module")
def pair() -> Iterator[Hosts]:
    """Two hosts, for all tests here: nothing is left of them afterwards."""
    with only_hosts():
        with Hosts(plan_of(), "test-links") as hosts:
            yield hosts
        assert left() == []


@pytest.fixture
def hosts(pair: Hosts) -> Iterator[Hosts]:
    """The pair, with the link as it was made, before and after a test."""
    assert pair.links
    yield pair
    both = pair.links.direction("left", "right")
    figures = (f"round_trip {ROUND_TRIP_NS}", f"rate {RATE_BYTES}", "loss 0", "slow 1")
    asked = ("cut", *figures, "heal")  # A cut forgets what is on its way.
    for change in asked:
        pair.links.change(both, change)
    pair.links.ask("reset")


def test_link_has_the_round_trip_asked_for(hosts: Hosts) -> None:
    assert round_trip_ns(hosts, "left", "right") == pytest.approx(ROUND_TRIP_NS, rel=TOLERANCE)
    assert round_trip_ns(hosts, "right", "left") == pytest.approx(ROUND_TRIP_NS, rel=TOLERANCE)
    assert hosts.links
    hosts.links.change(hosts.links.direction("left", "right"), "round_trip 10000000")
    assert round_trip_ns(hosts, "left", "right", 10) == pytest.approx(10_000_000, rel=TOLERANCE)


def test_link_has_the_rate_asked_for(hosts: Hosts) -> None:
    near, far = hosts.host("left"), hosts.host("right")
    found = transfer_rate(near, far, RATE_BYTES)
    assert found == pytest.approx(RATE_BYTES, rel=TOLERANCE)
    assert hosts.links
    hosts.links.change(hosts.links.direction("left", "right", one_way=True), "rate 10000000")
    assert transfer_rate(near, far, 10_000_000) == pytest.approx(10_000_000, rel=TOLERANCE)
    found = transfer_rate(far, near, RATE_BYTES)
    assert found == pytest.approx(RATE_BYTES, rel=TOLERANCE), "the way back is as it was"


def test_measured_figures_stand_next_to_those_asked_for(pair: Hosts) -> None:
    (link,) = pair.state.links
    assert link.measured_round_trip_ns == pytest.approx(ROUND_TRIP_NS, rel=TOLERANCE)
    assert link.measured_rate_bytes == pytest.approx(RATE_BYTES, rel=TOLERANCE)
    assert link.path_ns and link.path_ns < ROUND_TRIP_NS


def test_link_loses_the_share_asked_for(hosts: Hosts) -> None:
    assert hosts.links
    hosts.links.change(hosts.links.direction("left", "right", one_way=True), "loss 0.05")
    near, far, sent = hosts.host("left"), hosts.host("right"), 4000
    arrived = arriving(near, far, sent, quiet_seconds=0.5)
    figures = way(hosts, "left", "right")
    # A connection of another test may repeat its last packets.
    assert figures["packets"] + figures["lost"] == pytest.approx(sent, abs=5)
    # Next to other work the kernel may drop a datagram before the socket.
    assert arrived == pytest.approx(figures["packets"], abs=10)
    assert abs(figures["lost"] - 0.05 * sent) < 4 * math.sqrt(0.05 * 0.95 * sent)
    assert arriving(far, near, 500) == 500, "the way back loses nothing"


def test_cut_way_carries_nothing_and_the_other_all(hosts: Hosts) -> None:
    assert hosts.links
    near, far = hosts.host("left"), hosts.host("right")
    there = hosts.links.direction("left", "right", one_way=True)
    hosts.links.change(there, "cut")
    assert (arriving(near, far, 100), arriving(far, near, 100)) == (0, 100)
    assert way(hosts, "left", "right")["cut"] >= 100
    hosts.links.change(there, "heal")
    assert arriving(near, far, 100) == 100
    back = hosts.links.direction("right", "left", one_way=True)
    hosts.links.change(back, "cut")
    assert (arriving(near, far, 100), arriving(far, near, 100)) == (100, 0)


def test_connection_outlives_a_cut_of_its_link(hosts: Hosts) -> None:
    assert hosts.links
    both = hosts.links.direction("left", "right")
    with connection(hosts.host("left"), hosts.host("right")) as (near, far):
        hosts.links.change(both, "cut")
        near.sendall(b"before")
        far.settimeout(0.2)
        with pytest.raises(TimeoutError):
            far.recv(64)
        hosts.links.change(both, "heal")
        far.settimeout(5)
        assert far.recv(64) == b"before"


def test_slow_link_takes_the_factor(hosts: Hosts) -> None:
    assert hosts.links
    hosts.links.change(hosts.links.direction("left", "right"), "slow 5")
    found = round_trip_ns(hosts, "left", "right", 12)
    assert found == pytest.approx(5 * ROUND_TRIP_NS, rel=TOLERANCE)


@pytest.mark.usefixtures("pair")
def test_slow_motion_slows_links_on_the_wall_alone() -> None:
    with Hosts(plan_of(slow=4), "test-slow") as hosts:
        found = round_trip_ns(hosts, "left", "right", 12)
        assert found == pytest.approx(4 * ROUND_TRIP_NS, rel=TOLERANCE)
        (link,) = hosts.state.links
        assert link.measured_round_trip_ns == pytest.approx(ROUND_TRIP_NS, rel=TOLERANCE)
        assert link.measured_rate_bytes == pytest.approx(RATE_BYTES, rel=TOLERANCE)
    assert left() == []


@pytest.mark.usefixtures("pair")
def test_links_of_one_host_are_independent() -> None:
    with Hosts(plan_of(hosts=3), "test-third") as hosts:
        near, right, third = map(hosts.host, ("left", "right", "third"))
        assert hosts.links
        hosts.links.change(hosts.links.direction("left", "right"), "cut")
        assert (arriving(near, right, 50), arriving(near, third, 50)) == (0, 50)
    assert left() == []


def test_full_queue_drops_packets_and_counts_them(hosts: Hosts) -> None:
    assert hosts.links
    hosts.links.change(hosts.links.direction("left", "right", one_way=True), "rate 1000000")
    with datagrams(hosts.host("left"), hosts.host("right")) as (near, _):
        for _ in range(1500):
            near.send(bytes(1400))
    time.sleep(0.1)
    counts = way(hosts, "left", "right")
    # 1 MiB of data waits, and some has crossed meanwhile.
    assert 600 <= counts["overflowed"] <= 1500 - (1 << 20) // 1400
