"""Check of a stopped server's pages: intact ones, and a torn one that a test plants."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from making import Maker

from tameshi.core.errors import TameshiError
from tameshi.servers.pages import check_pages

PAGE, UNIT = 16 << 10, 4 << 10


def test_planted_tear_is_found_by_both_checks(make: Maker) -> None:
    data = make.server("mariadb").home.data
    intact = check_pages("mariadb", data)
    assert intact and intact.pages > 100 and intact.broken == 0
    assert intact.broken_by_tool == (0 if shutil.which("innochecksum") else None)
    table = next(path for path in sorted(data.rglob("*.ibd")) if path.stat().st_size > 3 * PAGE)
    tear(table, 3)
    torn = check_pages("mariadb", data)
    assert torn and (torn.pages, torn.broken) == (intact.pages, 1)
    assert torn.broken_by_tool in (1, None)
    tear(data / "ibdata1", 100)  # In the doublewrite buffer: it does no harm.
    assert check_pages("mariadb", data) == torn
    assert check_pages("postgresql", data) is None


def tear(path: Path, page: int) -> None:
    """Let one of a page's four units hold other data, as of an older write."""
    with path.open("r+b") as file:
        file.seek(page * PAGE + UNIT)
        old = file.read(UNIT)
        file.seek(page * PAGE + UNIT)
        file.write(bytes(byte ^ 0x5A for byte in old))


def test_file_of_another_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "old.ibd").write_bytes(bytes([1]) * PAGE)
    with pytest.raises(TameshiError, match=r"old\.ibd.*full_crc32"):
        check_pages("mariadb", tmp_path)
