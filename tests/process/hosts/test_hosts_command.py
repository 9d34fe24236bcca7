"""Refusals of `tameshi hosts`, before anything is made, and its words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import tameshi

from tameshi.commands.hosts import link_of
from tameshi.core.errors import BadInput
from tameshi.hosts import plans, state
from tameshi.hosts.messages import parse_change
from tameshi.hosts.plans import HostPlan, HostsPlan, LinkPlan, check_plan
from tameshi.hosts.processors import share_of
from tameshi.hosts.show import group_lines, hosts_text, link_change_text
from tameshi.hosts.state import HostsState, HostState, LinkState, hosts_states

REFUSED = [
    ("unknown link", ["up", "a,b", "--link", "no-such"], "no such link profile"),
    ("host profile as link", ["up", "a,b", "--link", "2x-xeon-e5620-rhel5"], "tcp-10gbe"),
    ("name", ["up", "Left,b"], "a lower-case letter, then up to 11"),
    ("no name", ["up", "a,,b"], "a lower-case letter, then up to 11"),
    ("same name", ["up", "a,a"], "two hosts have this name"),
    ("too many", ["up", ",".join("abcdefghi")], "1 to 8 hosts"),
    ("no address", ["up", "a=10.1.1,b"], "a private IPv4 address"),
    ("public address", ["up", "a=8.8.8.8,b"], "hosts have private addresses"),
    ("loopback address", ["up", "a=127.0.0.2,b"], "hosts have private addresses"),
    ("address in use", ["up", "a=10.1.1.1,b=10.1.1.1"], "10.1.1.1, the address of a"),
    ("no processor", ["up", "a,b", "--processors", "a=4095"], "Accepted: numbers of"),
    ("processors of no host", ["up", "a,b", "--processors", "c=0"], "Accepted: a or b"),
    ("no pair", ["up", "a,b", "--quota", "50%"], "NAME=VALUE"),
    ("no number", ["up", "a,b", "--processors", "a=first"], "numbers such as 0,1"),
    ("no quota", ["up", "a,b", "--quota", "a=half"], "such as 150%"),
    ("little quota", ["up", "a,b", "--quota", "a=1%"], "10% to"),
    ("round trip", ["up", "a,b", "--round-trip", "2s"], "0 to 1s"),
    ("rate", ["up", "a,b", "--rate", "1KB"], "1MB to 90GB"),
    ("no rate", ["up", "a,b", "--rate", "8 apples"], "1MB to 90GB"),
    ("all lost", ["up", "a,b", "--loss", "100%"], "below 100 %"),
    ("slow by a word", ["up", "a,b", "--slow", "auto"], "a factor"),
    ("unknown change", ["link", "a", "b", "melt"], "cut, heal, loss SHARE"),
    ("loss of a word", ["link", "a", "b", "loss", "much"], "a share such as 1%"),
    ("speed-up", ["link", "a", "b", "slow", "0.5"], "a factor from 1 to 1000; 1 ends it"),
    ("no group", ["link", "a", "b", "cut", "--group", "nowhere"], "nowhere"),
    ("no hosts", ["enter", "a", "--group", "nowhere", "--", "true"], "nowhere"),
]


@pytest.mark.parametrize(
    ("words", "expected"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_bad_input_of_hosts_is_refused(
    monkeypatch: pytest.MonkeyPatch, words: list[str], expected: str
) -> None:
    monkeypatch.setattr(plans, "require_rights", lambda: None)
    monkeypatch.setattr(plans, "require_root", lambda: None)
    done = tameshi("hosts", *words)
    assert done.returncode == 2 and expected in " ".join(done.stderr.split()), done.stderr


OWN = """[link.far]
profile = "metro-1gbit"
round_trip = "5 ms"
[link.wrong]
rate = "1 GB"
[storage.pair]
replica = { of = { device = "null" }, link = "far" }
"""


def test_link_of_a_file_has_the_files_figures(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    assert link_of(f"{file}:far") == (5_000_000, 118_000_000)
    assert link_of(f"{file}:tcp-1gbe") == link_of("tcp-1gbe") == (200_000, 118_000_000)
    for name, expected in [("wrong", "own.toml:4:"), ("near", "accepted: far, wrong")]:
        with pytest.raises(BadInput) as refused:
            link_of(f"{file}:{name}")
        assert expected in " ".join(str(refused.value).split())


def _as_user(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "geteuid", lambda: 1000)


def _without_tun(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "geteuid", lambda: 0)
    patch.setattr(plans, "TUN", Path("/nowhere/tun"))


def _without_namespaces(patch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    patch.setattr(os, "geteuid", lambda: 0)
    patch.setattr(plans, "TUN", Path("/dev/null"))
    patch.setattr(plans, "within", refused)


@pytest.mark.parametrize(
    ("lack", "expected"),
    [
        (_as_user, ["need root", "user 1000", "sudo"]),
        (_without_tun, ["/nowhere/tun", "No such file", "modprobe tun"]),
        (_without_namespaces, ["no network namespaces", "Operation not permitted", "SYS_ADMIN"]),
    ],
    ids=["user", "tun", "namespaces"],
)
def test_machine_without_means_says_what_works_without(
    monkeypatch: pytest.MonkeyPatch,
    lack: Callable[[pytest.MonkeyPatch], None],
    expected: list[str],
) -> None:
    lack(monkeypatch)
    done = tameshi("hosts", "up", "left,right")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and all(part in said for part in expected), said
    assert "Simulated studies, and studies on one host, work without." in said


LINK: dict[str, Any] = {"round_trip_ns": 100_000, "rate_bytes": 118_000_000}
HOSTS = (HostPlan("a", "10.77.0.1"), HostPlan("b", "10.77.0.2"))


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([LinkPlan(("a", "c"), **LINK)], "no host has this name. Found: c. Accepted: a or b"),
        ([LinkPlan(("a", "a"), **LINK)], "a link joins two hosts"),
        ([LinkPlan(("a", "b"), **LINK), LinkPlan(("b", "a"), **LINK)], "have one link"),
        ([LinkPlan(("a", "b"), 2_000_000_000, 1 << 30)], "0 to 1 s"),
        ([LinkPlan(("a", "b"), 0, 1000)], "1 MB to 90 GB"),
        ([LinkPlan(("a", "b"), **LINK, loss=1.0)], "below 100 %"),
    ],
)
def test_links_that_cannot_be_are_refused(links: list[LinkPlan], expected: str) -> None:
    with pytest.raises(BadInput) as refused:
        check_plan(HostsPlan(HOSTS, tuple(links)))
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cut"], "cut"),
        (["heal"], "heal"),
        (["loss", "1%"], "loss 0.01"),
        (["loss", "0.5 %"], "loss 0.005"),
        (["loss", "0.25"], "loss 0.25"),
        (["rate", "118 MB"], "rate 118000000"),
        (["round-trip", "2ms"], "round_trip 2000000"),
        (["round-trip", "0"], "round_trip 0"),
        (["slow", "2.5"], "slow 2.5"),
    ],
)
def test_change_of_a_link_has_numbers_without_units(words: list[str], message: str) -> None:
    assert parse_change(words) == message


def test_change_of_a_link_is_described_for_both_ways() -> None:
    way = {"half_round_trip_ns": 50_000, "rate_bytes": 118_000_000, "loss": 0, "slow": 1}
    cut, lossy = {**way, "is_cut": True}, {**way, "is_cut": False, "loss": 0.01, "slow": 3}
    assert link_change_text({"hosts": ["a", "b"], "ways": [cut, lossy]}) == (
        "a to b: cut; b to a: 50.0 µs, 118 MB/s, loss 0.01, 3 times as slow"
    )


def test_record_of_hosts_survives_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "ROOT", tmp_path)
    (tmp_path / ".tameshi-owned").write_bytes(
        b"Tameshi made this folder and may delete it with everything in it.\n"
    )
    hosts = (HostState("a", "10.77.0.1", (0,), 0.5, "cgroup v1", (), ("/sys/x",)),)
    links = (LinkState(("a", "b"), "tcp-1gbe", 200_000, 118_000_000, 0.01, 1500, 90_000),)
    written = HostsState("group", (1, 2), private=True, forwarder=(3, 4), hosts=hosts, links=links)
    written.write()
    (tmp_path / "drive").mkdir()
    (tmp_path / "drive" / "state.json").write_text("{}")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "hosts.json").write_text('{"name": "broken"}')
    assert list(hosts_states()) == [written]


def test_warnings_name_what_is_not_as_asked_for() -> None:
    hosts = (HostState("a", "10.77.0.1", (), 1.5, "", ("quota",)),)
    fast = LinkState(("a", "b"), "rdma-100gbe", 12_000, 12_000_000_000, 0, 9000, 60_000)
    fast = LinkState(
        **{**fast.__dict__, "measured_round_trip_ns": 61_000, "measured_rate_bytes": 9**9}
    )
    lines = group_lines(HostsState("group", (1, 2), private=False, hosts=hosts, links=(fast,)))
    assert lines == [
        "host a 10.77.0.1, quota 150% of a processor, not kept",
        "link a - b (rdma-100gbe): round trip 12.0 µs (61.0 µs measured), rate 12.0 GB/s "
        "(387 MB/s measured)",
        "warning: host a has no limit of its processor time: this machine's control groups cannot "
        "keep it",
        "warning: the link a - b is too fast for the path: a round trip of 12.0 µs takes 61.0 µs "
        "here",
        "warning: this machine carries 387 MB/s over the link a - b, less than its 12.0 GB/s",
    ]


def test_no_hosts_are_shown_in_a_sentence() -> None:
    assert hosts_text([]) == ["no hosts: nothing is up, and nothing is left"]


def test_drive_of_a_killed_session_is_shown_next_to_hosts() -> None:
    assert hosts_text([], ["pair-7-left"]) == [
        "drive pair-7-left: left by a killed session; remove it: tameshi hosts remove"
    ]


def test_host_without_a_share_needs_no_groups() -> None:
    share = share_of(HostPlan("a", "10.77.0.1"), "test")
    assert (share.groups, share.means, share.running(["true"])) == ((), "", ["true"])
