"""Output files that the user names: only earlier outputs are replaced."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tameshi import guard
from tameshi.core.errors import GuardRefusal

OURS = b"# Report\n"


def is_ours(beginning: bytes) -> bool:
    return beginning.startswith(OURS)


@pytest.mark.parametrize("before", [None, b"", OURS + b"an earlier one, and longer"])
def test_output_replaces_nothing_or_an_earlier_output(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "report.md"
    if before is not None:
        path.write_bytes(before)
        path.chmod(0o640)
    guard.write_output(path, OURS, is_ours)
    assert path.read_bytes() == OURS
    assert os.listdir(tmp_path) == ["report.md"]
    if before is not None:
        assert path.stat().st_mode & 0o777 == 0o640


def link(path: Path) -> None:
    path.with_name("other").write_bytes(OURS)
    path.symlink_to(path.with_name("other"))


@pytest.mark.parametrize(
    "make",
    [lambda path: path.write_bytes(b"years of work"), link, Path.mkdir, os.mkfifo],
    ids=["file", "link", "directory", "pipe"],
)
def test_output_over_anything_else_is_refused(
    tmp_path: Path, make: Callable[[Path], object]
) -> None:
    path = tmp_path / "report.md"
    make(path)
    before = {entry: entry.lstat().st_mtime_ns for entry in tmp_path.iterdir()}
    with pytest.raises(GuardRefusal, match="not overwritten"):
        guard.write_output(path, OURS, is_ours)
    assert {entry: entry.lstat().st_mtime_ns for entry in tmp_path.iterdir()} == before
