"""Links of a group of hosts: their process, their measurement at the start, changes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tameshi.core import compiled
from tameshi.core.clock import Clock
from tameshi.core.errors import BadInput, RunFailed
from tameshi.hosts.namespaces import new_link_end
from tameshi.hosts.plans import QUEUE_BYTES, HostsPlan, LinkPlan
from tameshi.hosts.state import LinkState
from tameshi.serve.server_process import ServerProcess

MODULE, NOUN = "tameshi.hosts.forwarder", "the process that forwards packets between hosts"

PATH_MESSAGES = 200
"""Messages that measure the path without the link's delay."""
FEWEST_MESSAGES = 8
ROUND_TRIPS_NS = 100_000_000
"""Time for messages that measure the round trip."""
PATIENCE_NS = 5_000_000_000
"""Longest wait for one message; a busy machine may take seconds."""
MOST_WAKING_NS = 100_000
"""Most time of a round trip for programs that wake up later than in a short one."""
HEADER_BYTES = 28
"""Headers of a datagram: IP and UDP."""
RATE_WINDOW_NS, MOST_WINDOW_NS = 60_000_000, 1_000_000_000
RATE_DATAGRAMS = 100
"""Datagrams of a measurement of the rate at least."""
TRIES, MET = (1, 4, 8), 0.98
"""Longer and longer measurements of the rate until one finds this share of it: the kernel takes a
while to give the forwarding thread and the programs processors of their own."""


@dataclass(frozen=True)
class Direction:
    """Link by its number in the process, with `there`, `back` or `both`."""

    number: int
    ways: str


class Links:
    """Links under way, between network namespaces by the names of their hosts."""

    def __init__(self, plan: HostsPlan, networks: Mapping[str, int], folder: Path) -> None:
        self._plan = plan
        self._clock = Clock(plan.slow)
        addresses = {host.name: host.address for host in plan.hosts}
        self._addresses = addresses
        ends: list[int] = []
        try:
            specs = []
            for link in plan.links:
                made = []
                for here, there in (link.hosts, link.hosts[::-1]):
                    place = (addresses[here], addresses[there])
                    end = new_link_end(networks[here], f"to-{there}", place, link.mtu)
                    made.append(end)
                    ends.append(end)
                specs.append(_spec_of(link, made))
            spec = {"group": folder.name, "links": specs, "seed": plan.seed, "slow": plan.slow}
            log = folder / "links.log"
            self.server = ServerProcess(spec, log, module=MODULE, noun=NOUN, passed=ends)
        finally:
            for end in ends:
                os.close(end)

    def ask(self, message: str) -> dict[str, Any]:
        """Send a message to the process; return the answer."""
        answer = self.server.ask(message)
        if "error" in answer:
            raise RunFailed(str(answer["error"]))
        return answer

    def direction(self, here: str, there: str, *, one_way: bool = False) -> Direction:
        """Return the link of two hosts, or its direction from the first to the second."""
        for number, link in enumerate(self._plan.links):
            if {here, there} == set(link.hosts):
                way = "there" if link.hosts[0] == here else "back"
                return Direction(number, way if one_way else "both")
        pairs = [" and ".join(link.hosts) for link in self._plan.links]
        message = "no link joins these hosts"
        raise BadInput(message, where="link", found=f"{here} and {there}", accepted=pairs)

    def change(self, direction: Direction, change: str) -> dict[str, Any]:
        """Change a link; return its state. `change` is a message such as `cut` or `loss 0.01`."""
        return self.ask(f"{direction.number} {direction.ways} {change}")

    def switch_on(self, networks: Mapping[str, int]) -> list[LinkState]:
        """Measure the path of each link, switch the link on, and measure it."""
        found = []
        for number, link in enumerate(self._plan.links):
            first, second = (networks[host] for host in link.hosts)
            found.append(self._measured(number, link, (first, second)))
        self.ask("reset")
        return found

    def _measured(self, number: int, link: LinkPlan, networks: tuple[int, int]) -> LinkState:
        """Switch one link on; losses begin after the measurement."""
        address = self._addresses[link.hosts[1]]
        both = Direction(number, "both")
        wall = self._plan.slow
        path_ns = compiled.link_round_trip(networks, address, PATH_MESSAGES, PATIENCE_NS)
        asked_ns = int(link.round_trip_ns * wall)
        longer_ns = max(asked_ns, path_ns)
        messages = min(max(ROUND_TRIPS_NS // longer_ns, FEWEST_MESSAGES), PATH_MESSAGES)
        patience_ns = PATIENCE_NS + 4 * longer_ns

        def switched_on() -> int:
            self.change(both, f"on {path_ns}")
            return compiled.link_round_trip(networks, address, messages, patience_ns)

        round_trip_ns = switched_on()
        if path_ns < asked_ns < round_trip_ns:
            # Programs that have slept longer take longer to wake up.
            path_ns += min(round_trip_ns - asked_ns, MOST_WAKING_NS)
            round_trip_ns = switched_on()
        rate = self._rate(link, networks, patience_ns)
        if link.loss:
            self.change(both, f"loss {link.loss!r}")
        return replace(
            state_of(link),
            path_ns=self._clock.slowed_ns(path_ns),
            measured_round_trip_ns=self._clock.slowed_ns(round_trip_ns),
            measured_rate_bytes=rate,
        )

    def _rate(self, link: LinkPlan, networks: tuple[int, int], patience_ns: int) -> int | None:
        """Return the measured rate of a link in its time; None if that takes too long."""
        rate_bytes = int(link.rate_bytes / self._plan.slow)
        datagram_bytes = link.mtu - HEADER_BYTES
        window_ns = max(RATE_WINDOW_NS, RATE_DATAGRAMS * datagram_bytes * 10**9 // rate_bytes)
        if window_ns > MOST_WINDOW_NS:
            return None
        address = self._addresses[link.hosts[1]]
        load = (rate_bytes, datagram_bytes)
        rate = 0
        for longer in TRIES:
            found = compiled.link_rate(networks, address, load, longer * window_ns, patience_ns)
            rate = max(rate, found)
            if rate >= rate_bytes * MET:
                break
        return int(rate * self._plan.slow)


def _spec_of(link: LinkPlan, ends: Sequence[int]) -> dict[str, Any]:
    return {
        "hosts": link.hosts,
        "ends": ends,
        "round_trip_ns": link.round_trip_ns,
        "rate_bytes": link.rate_bytes,
        "queue_bytes": QUEUE_BYTES,
    }


def state_of(link: LinkPlan) -> LinkState:
    """Return a link that is not measured yet."""
    return LinkState(
        hosts=link.hosts,
        profile=link.profile,
        round_trip_ns=link.round_trip_ns,
        rate_bytes=link.rate_bytes,
        loss=link.loss,
        mtu=link.mtu,
    )
