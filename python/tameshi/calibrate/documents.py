"""Detection of result files, and their JSON documents."""

from __future__ import annotations

import codecs
import json
import re
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput
from tameshi.study.file import read_text

OPENING_BYTES = 1024
"""Bytes at the start of a file that identify it."""
LARGEST_BYTES = 1 << 28
"""Size limit for results in a file without the suffix `.json`."""
NEXT = re.compile(r"\s*(?=\{)")
LINE = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
"""Start of JSON after notes of a program, whose braces are inside lines."""

UNFINISHED = re.compile(r'(?:"(?:[^"\\]|\\.)*\\?|[\w.+-]*)\s*', re.DOTALL)
"""Rest of a cut-off file from its syntax error on: an open string, or part of a word or number."""


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


def documents_of(path: Path) -> list[Any]:
    """Return the JSON values in a file, at least one; notes may precede, separate or follow them.

    Raises `BadInput` with the place of the syntax error.
    """
    text = read_text(path, "results.json of `tameshi run`, or fio's JSON")
    decoder = json.JSONDecoder()
    documents, end = [], 0
    try:
        while begin := NEXT.match(text, end) or LINE.search(text, end):
            value, end = decoder.raw_decode(text, begin.end())
            documents.append(value)
        return documents or [json.loads(text)]
    except json.JSONDecodeError as error:
        if error.pos and UNFINISHED.fullmatch(text, error.pos):
            raise BadInput(
                "the file ends in the middle: it was cut off at byte "
                f"{len(text.encode())}, in line {text.count(chr(10)) + 1}",
                where=str(path),
                hint="Copy it again, or repeat the run that wrote it.",
            ) from None
        raise BadInput("this is not JSON", where=str(path), found=str(error)) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("this is not JSON", where=str(path), found=str(error)) from None
