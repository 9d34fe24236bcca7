"""JSON documents in a file of results, with the place of a syntax error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput
from tameshi.study.file import read_text

NEXT = re.compile(r"\s*(?=\{)")
LINE = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
"""Start of JSON after notes of a program, whose braces are inside lines."""

UNFINISHED = re.compile(r'(?:"(?:[^"\\]|\\.)*\\?|[\w.+-]*)\s*', re.DOTALL)
"""Rest of a cut-off file from its syntax error on: an open string, or part of a word or number."""


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
