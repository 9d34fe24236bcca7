"""Hosts and links to make: settings, and checks before anything is made."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tameshi.core.errors import BadInput
from tameshi.hosts.namespaces import ENTERING, TUN, within
from tameshi.serve.tools import require_tool

NETWORK = ipaddress.ip_network("10.77.0.0/24")
"""Addresses of hosts that name none; they exist in the hosts' namespaces only."""
NAME = re.compile(r"[a-z][a-z0-9-]{0,11}")
NAMES = "a lower-case letter, then up to 11 letters, digits and -"
MOST_HOSTS = 8

MTU, JUMBO_MTU = 1500, 9000
JUMBO_RATE = 1_000_000_000
"""Rate in bytes per second from which links carry jumbo frames, as fast networks do."""
QUEUE_BYTES = 1 << 20
"""Bytes of data that wait in a link, each way: about the buffer of a switch's port."""

MOST_ROUND_TRIP_NS = 1_000_000_000
LEAST_RATE_BYTES, MOST_RATE_BYTES = 1_000_000, 90_000_000_000
LEAST_QUOTA = 0.1
"""Least processor time per time, in processors: the kernel grants a millisecond at least."""


@dataclass(frozen=True)
class HostPlan:
    """Host: its address, and its share of this machine's processors.

    `processors`: numbers of those that it may use, empty for all; `quota`: processor time per time,
    in processors, None without limit.
    """

    name: str
    address: str
    processors: tuple[int, ...] = ()
    quota: float | None = None


@dataclass(frozen=True)
class LinkPlan:
    """Link between two hosts with the figures of the model; `loss` is a share of packets."""

    hosts: tuple[str, str]
    round_trip_ns: int
    rate_bytes: int
    loss: float = 0.0
    profile: str = ""

    @property
    def mtu(self) -> int:
        """Return the longest packet in bytes."""
        return JUMBO_MTU if self.rate_bytes >= JUMBO_RATE else MTU


@dataclass(frozen=True)
class HostsPlan:
    """Hosts with their links; `private`: only this process and its descendants see the mounts.

    `keeps_shares`: a host whose share of the processors this machine cannot keep is refused.
    """

    hosts: tuple[HostPlan, ...]
    links: tuple[LinkPlan, ...]
    seed: int = 1
    slow: float = 1.0
    private: bool = False
    keeps_shares: bool = False


def address_of(number: int) -> str:
    """Return the address of the host of a number, from 0."""
    return str(NETWORK[number + 1])


def check_plan(plan: HostsPlan) -> None:
    """Raise `BadInput` for hosts or links that cannot be made, or not on this machine."""
    for error in (*_hosts_errors(plan.hosts), *_links_errors(plan)):
        raise error
    require_rights()
    require_tool(ENTERING, "util-linux")


def _hosts_errors(hosts: Sequence[HostPlan]) -> Iterator[BadInput]:
    """Yield the errors of hosts by themselves."""
    if not 1 <= len(hosts) <= MOST_HOSTS:
        accepted = [f"1 to {MOST_HOSTS} hosts"]
        message = "a group has too many hosts, or none"
        yield BadInput(message, where="hosts", found=f"{len(hosts)} hosts", accepted=accepted)
    known: dict[str, str] = {}
    for host in hosts:
        where = f"host.{host.name}"
        if not NAME.fullmatch(host.name):
            yield BadInput(
                "this is no name of a host", where="host", found=host.name, accepted=[NAMES]
            )
        if [each.name for each in hosts].count(host.name) > 1:
            yield BadInput("two hosts have this name", where="host", found=host.name)
        yield from _address_errors(host, known)
        known[host.address] = host.name
        yield from _processor_errors(host, where)


def _address_errors(host: HostPlan, known: dict[str, str]) -> Iterator[BadInput]:
    where = f"host.{host.name}.address"
    accepted = ["a private IPv4 address, such as 10.77.0.1"]
    try:
        address = ipaddress.IPv4Address(host.address)
    except ValueError:
        message = "this is no address of a host"
        yield BadInput(message, where=where, found=host.address, accepted=accepted)
        return
    if not address.is_private or address.is_loopback or address.is_link_local:
        message = "hosts have private addresses, so that no program takes them for others"
        yield BadInput(message, where=where, found=host.address, accepted=accepted)
    if host.address in known:
        yield BadInput(
            "this address is in use by another host",
            where=where,
            found=f"{host.address}, the address of {known[host.address]}",
            accepted=["an address of its own", "no address: Tameshi chooses one"],
        )


def _processor_errors(host: HostPlan, where: str) -> Iterator[BadInput]:
    here = sorted(os.sched_getaffinity(0))
    if not set(host.processors) <= set(here):
        yield BadInput(
            "this machine has no such processor, or Tameshi may not use it",
            where=f"{where}.processors",
            found=", ".join(map(str, host.processors)),
            accepted=[f"numbers of {', '.join(map(str, here))}"],
        )
    if host.quota is not None and not LEAST_QUOTA <= host.quota <= len(here):
        yield BadInput(
            "this machine cannot grant that much processor time, or so little",
            where=f"{where}.quota",
            found=f"{host.quota * 100:g} %",
            accepted=[f"{LEAST_QUOTA:.0%} to {len(here):.0%} of a processor"],
        )


def _links_errors(plan: HostsPlan) -> Iterator[BadInput]:
    names = [host.name for host in plan.hosts]
    pairs: set[frozenset[str]] = set()
    for link in plan.links:
        where = f"link {link.hosts[0]} {link.hosts[1]}"
        for name in link.hosts:
            if name not in names:
                yield BadInput("no host has this name", where=where, found=name, accepted=names)
        pair = frozenset(link.hosts)
        if len(pair) == 1 or pair in pairs:
            message = "a link joins two hosts, and two hosts have one link"
            yield BadInput(message, where=where, found=" and ".join(link.hosts))
        pairs.add(pair)
        yield from figure_errors(link, where)


def figure_errors(link: LinkPlan, where: str) -> Iterator[BadInput]:
    """Yield the errors of a link's figures."""
    if not 0 <= link.round_trip_ns <= MOST_ROUND_TRIP_NS:
        accepted = ["0 to 1 s"]
        found = f"{link.round_trip_ns / 1e9:g} s"
        yield BadInput("no link has this round trip", where=where, found=found, accepted=accepted)
    if not LEAST_RATE_BYTES <= link.rate_bytes <= MOST_RATE_BYTES:
        accepted = ["1 MB to 90 GB per second"]
        found = f"{link.rate_bytes / 1e6:g} MB per second"
        yield BadInput("no link has this rate", where=where, found=found, accepted=accepted)
    if not 0 <= link.loss < 1:
        accepted = ["0 % and more, below 100 %; `cut` carries nothing"]
        found = f"{link.loss:.3%}"
        yield BadInput("no link loses this share", where=where, found=found, accepted=accepted)


WITHOUT = "Simulated studies, and studies on one host, work without."


def require_root() -> None:
    """Raise `BadInput` unless this process is root's."""
    if os.geteuid() != 0:
        raise BadInput(
            "hosts need root, to make network namespaces and to enter them",
            where="hosts",
            found=f"user {os.geteuid()}",
            accepted=["root"],
            hint=f"Run it with sudo. {WITHOUT}",
        )


def require_rights() -> None:
    """Raise `BadInput` unless this process may make network namespaces and TUN devices."""
    require_root()
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except OSError as error:
        raise BadInput(
            "the links of hosts need TUN devices, and this one does not open",
            where=str(TUN),
            found=error.strerror or "",
            accepted=["the character device 10:200"],
            hint=f"Load the module (modprobe tun); in a container: --device {TUN}. {WITHOUT}",
        ) from None
    try:
        within(None, lambda: None)
    except OSError as error:
        raise BadInput(
            "this kernel or container makes no network namespaces",
            where="hosts",
            found=error.strerror or "",
            accepted=["a kernel with network namespaces, and the right SYS_ADMIN"],
            hint=f"In a container: --cap-add SYS_ADMIN --cap-add NET_ADMIN. {WITHOUT}",
        ) from None
