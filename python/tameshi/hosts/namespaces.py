"""Network namespaces of hosts: made, pinned to a file, with TUN devices and addresses.

A namespace belongs to a thread. Each action within one therefore runs in a thread of its own, and
the rest of this process stays where it is.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from os.path import samestat
from pathlib import Path
from typing import TypeVar

from tameshi import guard
from tameshi.core.environment import PROC
from tameshi.core.errors import RunFailed
from tameshi.serve.kernel import enter_network, make_network, pin_network
from tameshi.serve.users import kill_all, processes

TUN = Path("/dev/net/tun")
ENTERING = "nsenter"
"""Program that runs commands in a host."""
EMPTY_SECONDS = 10.0
IPV6_SWITCH = PROC / "sys/net/ipv6/conf/default/disable_ipv6"
"""Setting of the namespace of the thread that opens it."""

_TUNSETIFF = 0x400454CA
_IFF_TUN_WITHOUT_HEADER = 0x1001
_SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x8913, 0x8914
_SIOCSIFADDR, _SIOCSIFDSTADDR, _SIOCSIFNETMASK = 0x8916, 0x8918, 0x891C
_SIOCSIFMTU, _SIOCSIFTXQLEN = 0x8922, 0x8943
_IFF_UP = 1
_QUEUE_PACKETS = 4096
"""Packets that a device holds until the links' thread reads them: a burst while it sleeps."""

T = TypeVar("T")


def within(network: int | None, action: Callable[[], T]) -> T:
    """Return the result of an action in a network namespace; None: in a new one."""

    def moved() -> T:
        if network is None:
            make_network()
        else:
            enter_network(network)
        return action()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(moved).result()


def new_network(pin: Path, address: str) -> int:
    """Make a network namespace with an address, pin it to a file, and return a descriptor."""

    def set_up() -> None:
        # Without it each device sends packets of IPv6, which would count as a host's.
        with suppress(OSError):
            IPV6_SWITCH.write_text("1", encoding="utf-8")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            _raise_device(any_socket, "lo")
            _set_address(any_socket, _SIOCSIFADDR, "lo:0", address)
            _set_address(any_socket, _SIOCSIFNETMASK, "lo:0", "255.255.255.255")
        pin_network(pin)

    guard.write_file(pin, b"")
    try:
        within(None, set_up)
    except OSError as error:
        raise RunFailed(f"a host with the address {address}: {error.strerror}") from None
    return os.open(pin, os.O_RDONLY | os.O_CLOEXEC)


def new_link_end(network: int, name: str, addresses: tuple[str, str], mtu: int) -> int:
    """Make a TUN device in a network namespace, up, and return a descriptor that never waits.

    `addresses`: the host's own and that of the host at the other end. The device ends with its
    descriptors.
    """

    def set_up() -> int:
        end = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.ioctl(end, _TUNSETIFF, _request(name, "H", _IFF_TUN_WITHOUT_HEADER))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
                fcntl.ioctl(any_socket, _SIOCSIFMTU, _request(name, "i", mtu))
                fcntl.ioctl(any_socket, _SIOCSIFTXQLEN, _request(name, "i", _QUEUE_PACKETS))
                _set_address(any_socket, _SIOCSIFADDR, name, addresses[0])
                _set_address(any_socket, _SIOCSIFDSTADDR, name, addresses[1])
                _raise_device(any_socket, name)
        except OSError:
            os.close(end)
            raise
        return end

    try:
        return within(network, set_up)
    except OSError as error:
        raise RunFailed(f"device {name} of a link: {error.strerror}") from None


def _request(device: str, kind: str, *values: int | bytes) -> bytes:
    """Return a request about a device as the kernel reads it."""
    return struct.pack("16s24s", device.encode(), struct.pack(f"={kind}", *values))


def _raise_device(any_socket: socket.socket, device: str) -> None:
    answer = fcntl.ioctl(any_socket, _SIOCGIFFLAGS, _request(device, "H", 0))
    (flags,) = struct.unpack("=H", answer[16:18])
    fcntl.ioctl(any_socket, _SIOCSIFFLAGS, _request(device, "H", flags | _IFF_UP))


def _set_address(any_socket: socket.socket, call: int, device: str, address: str) -> None:
    packed = socket.inet_aton(address)
    request = _request(device, "HH4s8s", socket.AF_INET, 0, packed, b"")
    fcntl.ioctl(any_socket, call, request)


def is_pinned(pin: Path) -> bool:
    """Return whether a file is a namespace's pin, and not the plain file that it was before."""
    try:
        return os.stat(pin).st_dev != os.stat(pin.parent).st_dev
    except OSError:
        return False


def processes_in(network: Path | int) -> list[int]:
    """Return the processes in the network namespace of a pin, or of a descriptor."""
    if isinstance(network, Path) and not is_pinned(network):
        return []
    wanted = os.stat(network)
    found = []
    for pid in processes():
        with suppress(OSError):
            if samestat(os.stat(PROC / str(pid) / "ns/net"), wanted):
                found.append(pid)
    return found


def empty(network: int) -> None:
    """Kill all processes in a network namespace, which no path leads to any more."""
    end = time.monotonic() + EMPTY_SECONDS
    while time.monotonic() < end:
        found = processes_in(network)
        kill_all(found)
        if not found and not _is_entered(network):
            return
        time.sleep(0.005)


def _is_entered(network: int) -> bool:
    """Return whether a program has opened the namespace, and is about to enter it."""
    wanted = os.stat(network)
    for pid in processes():
        folder = PROC / str(pid)
        with suppress(OSError):
            if (folder / "comm").read_text("utf-8").strip() != ENTERING:
                continue
            if any(samestat(os.stat(held), wanted) for held in (folder / "fd").iterdir()):
                return True
    return False
