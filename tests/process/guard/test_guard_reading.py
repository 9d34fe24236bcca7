"""Read-only opening of targets; docs/guard.md names these tests."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from disks import blank

from tameshi import guard
from tameshi.core.errors import GuardRefusal

SIZE = 2 << 20
Attach = Callable[..., Path]


def make(path: Path) -> Path:
    """Make a target of Tameshi's at `path` and close it."""
    with guard.open_target(guard.check_target(path, SIZE, "disk"), direct=False) as target:
        return target.path


def test_a_target_can_be_read_and_not_written(tmp_path: Path) -> None:
    path = make(tmp_path)
    before = path.read_bytes()
    for place in (path, tmp_path):
        with guard.open_to_read(place, "disk") as target:
            assert (target.data_offset, target.data_bytes) == (guard.DATA_OFFSET, SIZE)
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.pwrite(target.fd, b"x", 0)
    assert path.read_bytes() == before


def test_foreign_file_is_not_read_as_target(tmp_path: Path) -> None:
    foreign = tmp_path / "thesis"
    foreign.write_bytes(b"someone's thesis\n" * 1000)
    os.mkfifo(tmp_path / "pipe")
    for place in (foreign, tmp_path / "pipe", Path("/dev/null"), tmp_path / "nothing", tmp_path):
        with pytest.raises(GuardRefusal) as refused, guard.open_to_read(place, "disk"):
            pass
        assert str(place) in str(refused.value)


def test_a_block_device_can_be_read_without_its_name(tmp_path: Path, attach: Attach) -> None:
    node = attach(blank(tmp_path / "disk.img", SIZE))
    with guard.open_to_read(node, "disk") as target:
        assert (target.data_offset, target.data_bytes) == (0, SIZE)
        with mmap.mmap(-1, 4096) as page:  # page-aligned, for O_DIRECT
            assert os.preadv(target.fd, [page], 0) == len(page)
            assert page[:] == bytes(4096)
