"""Which files are results rather than targets, and the JSON that stands in them."""

from __future__ import annotations

import codecs
import json
import re
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput
from tameshi.study.file import read_text

OPENING_BYTES = 1024
"""Of a file, by which it is known."""
LARGEST_BYTES = 1 << 28
"""A file of another name than `.json` that is larger is no results."""
NEXT = re.compile(r"\s*(?=\{)")
LINE = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
"""Where JSON begins behind notes of a program, whose braces stand within lines."""


def is_results(path: Path) -> bool:
    """Whether a path names results rather than a target: JSON, or a folder of `tameshi run`."""
    if path.is_dir():
        return (path / "results.json").exists() or (path / "summary.json").exists()
    return path.suffix == ".json" or _opens_as_results(path)


def _opens_as_results(path: Path) -> bool:
    """Whether a small file is text that begins as JSON does, or soon tells fio's version.

    What programs write to a target may begin with any byte, but is hardly text.
    """
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
            return False
        with path.open("rb") as file:
            opening = codecs.getincrementaldecoder("utf-8")().decode(file.read(OPENING_BYTES))
    except (OSError, UnicodeDecodeError):
        return False
    return opening.lstrip().startswith("{") or '"fio version"' in opening


def documents_of(path: Path) -> list[Any]:
    """The JSON values in a file, one at least; notes may stand before, between and after them.

    Raises `BadInput` with the place in the file where it can't be read.
    """
    text = read_text(path, "results.json of `tameshi run`, or fio's JSON")
    decoder = json.JSONDecoder()
    found, end = [], 0
    try:
        while begin := NEXT.match(text, end) or LINE.search(text, end):
            value, end = decoder.raw_decode(text, begin.end())
            found.append(value)
        return found or [json.loads(text)]
    except (ValueError, RecursionError) as error:
        raise BadInput("this is not JSON", where=str(path), found=str(error)) from None
