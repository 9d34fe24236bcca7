"""System calls of Linux without a function in Python."""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWNET = 0x20000, 0x40000000
_MS_BIND, _MS_REC, _MS_SLAVE = 0x1000, 0x4000, 0x80000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_GOING_DOWN = 0x8004587D
"""Request of XFS, which ext4 has too: shut a file system down."""
_NO_LOG_FLUSH = 2


def _check(result: int) -> None:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def enter_private_namespace() -> None:
    """Give this process a mount namespace of its own: no other process sees its mounts, and what
    others unmount it lets go of."""
    _check(_LIBC.unshare(_CLONE_NEWNS))
    _check(_LIBC.mount(b"none", b"/", None, _MS_REC | _MS_SLAVE, None))


def make_network() -> None:
    """Give this thread a network namespace of its own, with a loopback device that is down."""
    _check(_LIBC.unshare(_CLONE_NEWNET))


def enter_network(network: int) -> None:
    """Move this thread into the network namespace of a descriptor."""
    _check(_LIBC.setns(network, _CLONE_NEWNET))


def pin_network(path: Path) -> None:
    """Mount this thread's network namespace on a file, which keeps it without any process."""
    _check(_LIBC.mount(b"/proc/thread-self/ns/net", bytes(path), None, _MS_BIND, None))


def become_subreaper() -> None:
    """Adopt orphaned descendants of this process."""
    _check(_LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def die_with_parent(parent: int, signal: int) -> None:
    """Let the kernel send `signal` to this process when its parent ends."""
    _check(_LIBC.prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0))
    if os.getppid() != parent:  # It has ended already.
        os.kill(os.getpid(), signal)


def shut_down(mount_point: Path) -> None:
    """Stop a file system without writing its log, as at a power cut."""
    fd = os.open(mount_point, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(fd, _GOING_DOWN, struct.pack("I", _NO_LOG_FLUSH))
    finally:
        os.close(fd)
