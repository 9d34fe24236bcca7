"""Shared memory of System V and of POSIX, which outlives its processes."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LISTED = Path("/proc/sysvipc/shm")
_IPC_RMID = 0  # linux/ipc.h


@dataclass(frozen=True)
class Segment:
    """Shared memory segment: key, number, and number of attached processes."""

    key: int
    number: int
    users: int


def segments(listed: Path = _LISTED) -> Iterator[Segment]:
    """Return all segments of this machine."""
    head, *lines = listed.read_text(encoding="utf-8").splitlines()
    columns = head.split()
    for line in lines:
        row = dict(zip(columns, map(int, line.split()), strict=False))
        yield Segment(row["key"], row["shmid"], row["nattch"])


def remove_shared_memory(key: int, number: int, patience_seconds: float = 5.0) -> bool:
    """Remove the segment of this key and number once no process is attached; return whether it is
    gone.

    Killed processes take a while to detach. Raises `OSError` if the kernel does not list segments.
    """
    deadline = time.monotonic() + patience_seconds
    while True:
        # The list shows keys as signed 32-bit numbers, PostgreSQL's file as unsigned ones.
        matching = [s for s in segments() if s.number == number]
        if not matching or matching[0].key & 0xFFFFFFFF != key & 0xFFFFFFFF:
            return False
        if not matching[0].users:
            libc = ctypes.CDLL(None, use_errno=True)
            return int(libc.shmctl(number, _IPC_RMID, None)) == 0
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)


def unlink_named(*, memory: str, semaphore: str) -> None:
    """Remove POSIX shared memory and a POSIX semaphore by their names, unless they are gone."""
    libc = ctypes.CDLL(None)
    libc.shm_unlink(memory.encode())
    libc.sem_unlink(semaphore.encode())
