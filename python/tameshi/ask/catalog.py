"""Catalog of a question: TOML file of storages, prices and watts, with places for errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput
from tameshi.study.file import read_text

SECTIONS = ("storage", "price", "power")
PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_PART = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[+\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_BROKEN = re.compile(r" \(at line (\d+), column (\d+)\)$")


@dataclass(frozen=True)
class Catalog:
    """Content of a catalog: `[storage.NAME]` as in a study, `[price]` and `[power]`; possibly
    empty."""

    path: Path | None = None
    text: str = ""
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def storages(self) -> Mapping[str, Any]:
        """Return the storages by name."""
        return self.tables.get("storage", {})

    def place(self, key: str) -> str:
        """Return file and line of a dotted key, or of its nearest enclosing table."""
        line = line_of(self.text, key.split("."))
        return f"{self.path}:{line}" if line else str(self.path)


NONE = Catalog()


def catalog_of(path: Path | None) -> Catalog:
    """Read a catalog file and check it, except the storages' contents; raise `BadInput`."""
    if path is None:
        return NONE
    text = read_text(path, "a TOML file of [storage.NAME], [price] and [power]")
    try:
        catalog = Catalog(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        said, at = str(error), _BROKEN.search(str(error))
        where = ":".join([str(path), *(at.groups() if at else ())])
        raise BadInput("invalid TOML", where=where, found=_BROKEN.sub("", said)) from None
    for key, table in catalog.tables.items():
        if key not in SECTIONS:
            message = "a catalog has no such section"
            raise BadInput(message, where=catalog.place(key), key=key, accepted=SECTIONS)
        if not isinstance(table, dict):
            what, accepted = repr(table), [f"[{key}]"]
            message = "not a table"
            raise BadInput(
                message, where=catalog.place(key), key=key, found=what, accepted=accepted
            )
    for name, stack in catalog.storages.items():
        _check_storage(catalog, name, stack)
    return catalog


def _check_storage(catalog: Catalog, name: str, stack: Any) -> None:
    if not isinstance(stack, dict) or not PLAIN.fullmatch(name):
        accepted = ["[storage.NAME] as in a study, NAME of letters, digits, - and _"]
        where = catalog.place(f"storage.{name}")
        raise BadInput("not a storage", where=where, key=name, accepted=accepted)
    given = [key for key in ("size", "scale") if key in stack]
    if given:
        message = "the question decides the simulated size of a storage"
        key = f"storage.{name}.{given[0]}"
        raise BadInput(message, where=catalog.place(key), key=key, hint="Remove this key.")


def line_of(text: str, key: Sequence[str]) -> int:
    """Return the first line, from 1, of the longest known prefix of a key; 0 without any."""
    best, line = 0, 0
    for number, parts in _key_lines(text):
        same = 0
        while same < min(len(parts), len(key)) and parts[same] == key[same]:
            same += 1
        if same > best:
            best, line = same, number
    return line


def _key_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield lines with the complete key of the table or value that starts there."""
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            yield number, table
        elif value := _KEY.match(line):
            yield number, [*table, *_parts(value[1])]


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_PART, dotted)]
