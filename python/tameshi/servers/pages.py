"""Check of a stopped server's pages in its files: by Tameshi, and by the server's own tool."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tameshi.core import compiled

_CHECKED = "mariadb"
"""Product whose pages end with a checksum that is known here (`full_crc32`)."""
_TOOL = "innochecksum"
_BROKEN_PAGE = re.compile(r"^Fail: page::(\d+) invalid", re.MULTILINE)
_MOST = str(1 << 62)
_SECONDS = 60


@dataclass(frozen=True)
class Pages:
    """Pages with content in a server's files, and those that do not fit their checksum.

    `broken_by_tool`: as the server's own tool counts them; None without the tool.
    """

    pages: int
    broken: int
    broken_by_tool: int | None


def check_pages(product: str, data: Path) -> Pages | None:
    """Check all pages in a stopped server's files; None for a product whose pages are not known
    here."""
    if product != _CHECKED:
        return None
    tool = shutil.which(_TOOL)
    counts = [_checked(path, tool) for path in _tablespaces(data)]
    by_tool = [count for _, _, count in counts if count is not None]
    return Pages(
        sum(pages for pages, _, _ in counts),
        sum(broken for _, broken, _ in counts),
        sum(by_tool) if tool else None,
    )


def _checked(path: Path, tool: str | None) -> tuple[int, int, int | None]:
    """Check a file, and let the kernel forget it: the server's start reads it again."""
    pages, broken, left_out = compiled.check_pages(path)
    by_tool = broken_by_tool(path, tool, left_out) if tool else None
    fd = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
    return pages, broken, by_tool


def broken_by_tool(path: Path, tool: str, left_out: Sequence[range]) -> int:
    """Return the broken pages of a file, as the server's own tool counts them; at least one if the
    tool refuses the file. The tool knows no doublewrite buffer."""
    done = subprocess.run(
        [tool, "--allow-mismatches", _MOST, path],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    pages = [int(page) for page in _BROKEN_PAGE.findall(done.stderr)]
    count = sum(not any(page in part for part in left_out) for page in pages)
    return max(count, int(done.returncode != 0))


def _tablespaces(data: Path) -> Iterator[Path]:
    """Yield the files of tables, of the data dictionary and of undo logs."""
    yield from sorted(data.rglob("*.ibd"))
    yield from sorted(data.glob("ibdata[0-9]*"))
    yield from sorted(data.glob("undo[0-9]*"))
