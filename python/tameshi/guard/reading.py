"""Read-only access to targets, for checks after a run."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tameshi.guard.handles import closing, described, foreign, resolved, translated
from tameshi.guard.header import DATA_OFFSET, header_of
from tameshi.guard.targets import set_direct


@dataclass(frozen=True)
class ReadableTarget:
    """Open read-only target with the bounds of its payload in bytes."""

    fd: int
    path: Path
    data_offset: int
    data_bytes: int
    direct: bool


@contextmanager
def open_to_read(path: Path, role: str) -> Iterator[ReadableTarget]:
    """Open the target at `path`, or the one of `role` in a directory: a file of Tameshi's or a
    device.

    Uses direct I/O if possible. Raises `GuardRefusal` for anything else.
    """
    real = resolved(path)
    if real.is_dir():
        real = resolved(real / f"tameshi-{role}.dat")
    with translated(real), closing(os.open(real, os.O_RDONLY | os.O_NONBLOCK)) as fd:
        status = os.fstat(fd)
        header = header_of(fd) if stat.S_ISREG(status.st_mode) else None
        if stat.S_ISBLK(status.st_mode):
            offset, length = 0, os.lseek(fd, 0, os.SEEK_END)
        elif header is None:
            raise foreign(path, f"{described(status)} without Tameshi's marker")
        else:
            offset, length = DATA_OFFSET, header.size_bytes
        yield ReadableTarget(fd, real, offset, length, set_direct(fd))
