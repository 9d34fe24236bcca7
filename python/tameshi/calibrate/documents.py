"""Detection of result files."""

from __future__ import annotations

import codecs
from pathlib import Path

OPENING_BYTES = 1024
"""Bytes at the start of a file that identify it."""
LARGEST_BYTES = 1 << 28
"""Size limit for results in a file without the suffix `.json`."""


def is_results(path: Path) -> bool:
    """Return whether a path holds results rather than a target: JSON, or a folder of `tameshi
    run`."""
    if path.is_dir():
        return (path / "results.json").exists() or (path / "summary.json").exists()
    return path.suffix == ".json" or _opens_as_results(path)


def _opens_as_results(path: Path) -> bool:
    """Return whether a small file is text that starts as JSON or contains fio's version.

    A target's content may start with any byte, but is hardly text.
    """
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
            return False
        with path.open("rb") as file:
            opening = codecs.getincrementaldecoder("utf-8")().decode(file.read(OPENING_BYTES))
    except (OSError, UnicodeDecodeError):
        return False
    return opening.lstrip().startswith("{") or '"fio version"' in opening
