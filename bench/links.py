"""Links between hosts on this machine: round trip, rate and lateness next to the figures asked for.

    python -m bench.links [--seconds 1] [--repeat 3] [--link PROFILE …] [--write]

Two hosts per link profile. Round trip and rate are those that Tameshi measures at the start, by
datagrams; the rate of TCP is that of one connection. Lateness is the time from a packet's due time
to its arrival, while the connection is busy. A figure is the median of the repetitions. `--write`
writes docs/validation/links.md. Needs root and a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from tameshi import devices
from tameshi.core import compiled
from tameshi.core.units import format_value
from tameshi.hosts import HostPlan, Hosts, HostsPlan, LinkPlan

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/links.md"
NEAR, FAR = "left", "right"
ADDRESSES = {NEAR: "10.77.9.1", FAR: "10.77.9.2"}
PIECE = bytes(1 << 18)
CAPTIONS = (
    *("link", "path", "round trip", "measured", "off by"),
    *("rate", "measured", "by TCP", "lateness p50", "p99"),
)


@dataclass(frozen=True)
class Figures:
    """Figures of one link: times in ns, rates in bytes per second."""

    asked_round_trip: int
    asked_rate: int
    path: float
    round_trip: float
    rate: float
    tcp_rate: float
    late_p50: float
    late_p99: float


def measured(name: str, seconds: float) -> Figures:
    """Make two hosts with a link of a profile, and measure the link."""
    profile = devices.find_plain(name)
    assert profile
    values = {value.key: value.value for value in profile.values}
    link = LinkPlan(
        hosts=(NEAR, FAR),
        round_trip_ns=compiled.nanoseconds(values["round_trip"]),
        rate_bytes=compiled.size_bytes(values["rate"]),
        profile=name,
    )
    made = tuple(HostPlan(host, address) for host, address in ADDRESSES.items())
    with Hosts(HostsPlan(made, (link,)), f"bench-{os.getpid()}") as hosts:
        (state,) = hosts.state.links
        tcp_rate = transfer(hosts, seconds)
        late = hosts.status()["links"][0]["ways"][0]["late_ns"]
    return Figures(
        asked_round_trip=link.round_trip_ns,
        asked_rate=link.rate_bytes,
        path=state.path_ns or 0,
        round_trip=state.measured_round_trip_ns or 0,
        rate=state.measured_rate_bytes or 0,
        tcp_rate=tcp_rate,
        late_p50=late["p50"],
        late_p99=late["p99"],
    )


def transfer(hosts: Hosts, seconds: float) -> float:
    """Send over one connection for a time; return bytes per second of their arrival."""
    near, far = hosts.host(NEAR), hosts.host(FAR)
    with far.within(lambda: socket.create_server((far.address, 0))) as listener:
        place = listener.getsockname()
        with near.within(lambda: socket.create_connection(place)) as sender:
            receiver, _ = listener.accept()
            ended = threading.Event()

            def send() -> None:
                while not ended.is_set():
                    sender.sendall(PIECE)
                sender.shutdown(socket.SHUT_WR)

            sending = threading.Thread(target=send)
            sending.start()
            with receiver:
                total = 0
                # The connection finds its rate before it counts.
                warm = time.monotonic() + seconds / 2
                while time.monotonic() < warm:
                    receiver.recv(len(PIECE))
                begin = time.monotonic()
                while time.monotonic() - begin < seconds:
                    total += len(receiver.recv(len(PIECE)))
                taken = time.monotonic() - begin
                ended.set()
                while receiver.recv(len(PIECE)):
                    pass
            sending.join()
    return total / taken


def middle(of: list[Figures]) -> Figures:
    """Return the median of each figure."""
    names = Figures.__dataclass_fields__
    return Figures(**{name: median(getattr(each, name) for each in of) for name in names})


def rows(found: dict[str, Figures]) -> list[list[str]]:
    """Return a row per link."""

    def span(value: float) -> str:
        return format_value("latency", value)

    def rate(value: float) -> str:
        return format_value("bandwidth", value)

    return [
        [
            name,
            span(of.path),
            span(of.asked_round_trip),
            span(of.round_trip),
            f"{of.round_trip / of.asked_round_trip - 1:+.1%}",
            rate(of.asked_rate),
            rate(of.rate),
            rate(of.tcp_rate),
            span(of.late_p50),
            span(of.late_p99),
        ]
        for name, of in found.items()
    ]


def page(found: dict[str, Figures], arguments: argparse.Namespace, load: float) -> str:
    """Return the page of the documentation."""
    lines = [
        "# Links between hosts: asked for and measured",
        "",
        "<!-- written by `python -m bench.links --write` -->",
        "",
        "Two [hosts](../hosts.md) on one machine, joined by each link profile. *Path*: round trip",
        "of a message through both devices and the thread between them. It is taken off the delay.",
        "*By TCP*: one connection. *Lateness*: from a packet's due time to its arrival, while the",
        f"connection is busy. Median of {arguments.repeat}; {os.cpu_count()} processors, Linux",
        f"{platform.release()}, load average {load:.1f} at the begin.",
        "",
        f"| {' | '.join(CAPTIONS)} |",
        f"|{'---|' * len(CAPTIONS)}",
        *(f"| {' | '.join(row)} |" for row in rows(found)),
        "",
        "Where the round trip asked for is below the path's, the path decides. Where this machine",
        "carries less than the rate asked for, its processors decide. Tameshi warns of both when",
        "it makes the hosts.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--link", action="append")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and arguments.link:
        parser.error("the page has all links: --write without --link")
    load = os.getloadavg()[0]
    names = arguments.link or [each.name for each in devices.plain("link")]
    found = {
        name: middle([measured(name, arguments.seconds) for _ in range(arguments.repeat)])
        for name in names
    }
    table = Table(*CAPTIONS)
    for row in rows(found):
        table.add_row(*row)
    Console(width=160).print(table)
    if arguments.write:
        PAGE.write_text(page(found, arguments, load), encoding="utf-8")


if __name__ == "__main__":
    main()
