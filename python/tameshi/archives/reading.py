"""Detection of the tool that wrote a file, and its results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tameshi.archives import fio_results, pgbench, sysbench, tpcc_mysql
from tameshi.archives.model import Archive
from tameshi.archives.text_results import TextResults
from tameshi.core.errors import BadInput
from tameshi.fio.documents import documents_of
from tameshi.fio.json import is_fio, last_state
from tameshi.study.file import read_text

TOOLS = (
    "fio's results as JSON (--output-format=json or json+)",
    "the text of sysbench 1.0 (oltp and fileio)",
    "the text of pgbench",
    "the text of tpcc-mysql",
)
"""Accepted results."""
LARGEST_BYTES = 1 << 28
FIO_TEXT = ("Run status group", "fio-", "3;fio-")
READERS: tuple[tuple[str, str, Callable[[TextResults], Archive]], ...] = (
    (sysbench.TOOL, sysbench.SIGN, sysbench.read),
    (pgbench.TOOL, pgbench.SIGN, pgbench.read),
    (tpcc_mysql.TOOL, tpcc_mysql.SIGN, tpcc_mysql.read),
)
"""Tools that print text: name, pattern of a line that only they print, reader."""


def read_archive(path: Path) -> Archive:
    """Read the results of another tool; raise `BadInput` for anything else."""
    if path.is_dir():
        message = "this is a folder, and an archive is a file"
        hint = (
            f"`{path}/*` names its files; `tameshi compare` takes folders of Tameshi as they are."
        )
        raise BadInput(message, where=str(path), accepted=TOOLS, hint=hint)
    try:
        if path.stat().st_size > LARGEST_BYTES:
            found = f"{path.stat().st_size} B"
            raise BadInput("too large for results", where=str(path), found=found, accepted=TOOLS)
        opening = path.read_bytes()[:1]
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise BadInput(message, where=str(path), accepted=TOOLS) from None
    if not opening:
        raise BadInput("this file is empty", where=str(path), accepted=TOOLS)
    text = read_text(path, TOOLS[0])
    if text.lstrip().startswith("{") or '"fio version"' in text:
        return _of_json(path)
    lines = tuple(text.splitlines())
    for tool, sign, read in READERS:
        results = TextResults(path, lines, tool)
        if results.find(sign):
            return read(results)
    if any(line.startswith(FIO_TEXT) for line in lines):
        message = "this is fio's text, which rounds its figures"
        hint = "Repeat the run with --output-format=json."
        raise BadInput(message, where=str(path), accepted=[TOOLS[0]], hint=hint)
    raise BadInput("this is not the result of a known tool", where=str(path), accepted=TOOLS)


def _of_json(path: Path) -> Archive:
    documents = documents_of(path)
    if all(is_fio(document) for document in documents):
        return fio_results.read(path, last_state(path, documents))
    document = documents[0]
    if isinstance(document, dict) and "schema_version" in document and "cells" in document:
        message = "these are results of Tameshi itself"
        hint = "`tameshi compare` and `tameshi report` take their folder as it is."
        raise BadInput(message, where=str(path), accepted=TOOLS, hint=hint)
    raise BadInput("this JSON is not fio's", where=str(path), accepted=TOOLS)
