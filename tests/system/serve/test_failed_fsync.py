"""A published fault of Linux's page cache, on a served drive: a second fsync says that all is well.

PostgreSQL's developers found it in 2018, and stop the server at a failed fsync since then.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import on_drive, only_served_drives

SIZED = ("--size", "1GiB", "--memory", "64MiB", "--fs", "ext4")
PROGRAM = """
import mmap

FULL, SIZE = 48 << 20, 32 << 20
path = MOUNT / "data"
fd = put(path, bytes(SIZE))  # Zeros take no memory of the drive.
os.fsync(fd)
filler = put(MOUNT / "filler", os.urandom(FULL))
os.fsync(filler)
os.pwrite(fd, b"x" * SIZE, 0)
found["errors"] = []
for _ in range(2):
    try:
        os.fdatasync(fd)
        found["errors"].append(0)
    except OSError as error:
        found["errors"].append(error.errno)
cached = os.pread(os.open(path, os.O_RDONLY), 4096, SIZE - 4096)
found["cached"] = cached == b"x" * 4096
direct = os.open(path, os.O_RDONLY | os.O_DIRECT)
memory = mmap.mmap(-1, 4096)
os.preadv(direct, [memory], SIZE - 4096)
found["stored"] = memory[:] == b"x" * 4096
"""


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


def test_second_fsync_succeeds_though_data_are_lost(tmp_path: Path) -> None:
    found = on_drive(tmp_path, PROGRAM, "null", sized=SIZED)
    assert found["errors"][0] in (errno.EIO, errno.ENOSPC)
    assert found["errors"][1] == 0 and found["cached"] and not found["stored"], found
