"""Shared memory of System V, which outlives the processes that had it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_LISTED = Path("/proc/sysvipc/shm")
_IPC_RMID = 0  # linux/ipc.h


@dataclass(frozen=True)
class Segment:
    """A segment: its key, its number, and how many processes have it."""

    key: int
    number: int
    users: int


def segments(listed: Path = _LISTED) -> Iterator[Segment]:
    """All segments of this machine."""
    head, *lines = listed.read_text().splitlines()
    columns = head.split()
    for line in lines:
        told = dict(zip(columns, map(int, line.split()), strict=False))
        yield Segment(told["key"], told["shmid"], told["nattch"])


def remove_shared_memory(key: int, number: int) -> bool:
    """Remove the segment of this key and number, if there is one that no process has any more.

    Raises `OSError` where the kernel tells of none.
    """
    # The list shows keys as signed numbers of 32 bits, PostgreSQL's file as unsigned ones.
    there = ((s.key & 0xFFFFFFFF, s.number, s.users) for s in segments())
    if (key & 0xFFFFFFFF, number, 0) not in there:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.shmctl(number, _IPC_RMID, None)) == 0
