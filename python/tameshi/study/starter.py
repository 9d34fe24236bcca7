"""New study file: a copy of a ready study with a comment on each kind of table in it."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.core.data import STUDY_SCHEMA
from tameshi.study.reference import NAME, Key, Schema, keys, one_line, read_schema, type_of

COLUMNS = 100
WORDS_OF_A_NAME = 3
"""Most words of a meaning that only names the thing, for example "MySQL."."""
_HEADER = re.compile(r"\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?")
_PART = re.compile(r'"((?:[^"\\]|\\.)*)"|\'([^\']*)\'|([\w-]+)')


def starter(name: str, like: str, text: str) -> str:
    """Return the text of study `name`: that of the ready study `like`, with comments."""
    schema = read_schema("study")
    return "\n".join([*_head(name, like, tomllib.loads(text)), "", *_commented(text, schema), ""])


def _head(name: str, like: str, study: Mapping[str, Any]) -> Iterator[str]:
    """Yield comments on the file as a whole: schema for editors, and commands."""
    yield f"#:schema {STUDY_SCHEMA.as_uri()}"
    on = " ".join(f"--on {storage}=PATH" for storage in study.get("storage", {}))
    measured = f"{name}.toml --world measured {on}".rstrip()
    quick = f"tameshi run {name}.toml --quick" if "quick" in study else ""
    lines = {
        f"tameshi plan {name}.toml": "cells, time and bytes written, without a run",
        quick: "a short look, with the settings of [quick]",
        f"tameshi run {name}.toml": "all runs, simulated; results and report",
        f"tameshi run {measured}": "on real storage",
        "tameshi explain KEY": "meaning of a key, for example `axis`",
    }
    yield f"# {name}: begun as a copy of the ready study {like}. Change anything."
    yield "#"
    width = max(map(len, lines))
    for command, meaning in lines.items():
        if command:
            yield f"#   {command:<{width}}  {meaning}"


def _commented(text: str, schema: Schema) -> Iterator[str]:
    """Yield the lines of a study; the first table of each kind has a comment with its meaning."""
    by_place = {place: key for key in keys("study", schema) for place in key.places}
    told: set[tuple[str, ...]] = set()
    own: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("#"):
            own.append(line)
            continue
        header = _HEADER.fullmatch(line.rstrip())
        if header:
            key, place = _deepest(_parts(header[1]), by_place)
            if key and place not in told:
                told.add(place)
                yield from _wrapped(f"{'.'.join(place)}: {_meaning(key, schema)}")
        yield from own
        own = []
        yield line
    yield from own


def _wrapped(text: str) -> list[str]:
    """Return a text as lines of comments."""
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent="# ",
        subsequent_indent="# ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _parts(header: str) -> tuple[str, ...]:
    """Return the parts of a table's name."""
    return tuple(next(filter(None, part.groups()), "") for part in _PART.finditer(header))


def _deepest(
    parts: Sequence[str], by_place: Mapping[tuple[str, ...], Key]
) -> tuple[Key | None, tuple[str, ...]]:
    """Return the key that a table's name ends with, or that the names at its end belong to."""
    place: tuple[str, ...] = ()
    found: tuple[Key | None, tuple[str, ...]] = (None, ())
    for part in parts:
        if (*place, part) in by_place:
            place = (*place, part)
            found = by_place[place], place
        else:
            place = (*place, NAME)
    return found


def _meaning(key: Key, schema: Schema) -> str:
    """Return the meaning of a key, and of its type if the key has no more than a name of it."""
    meaning = one_line(key.value.get("description", ""))
    of_type = type_of(key.value)
    if of_type and len(meaning.split()) <= WORDS_OF_A_NAME:
        meaning = f"{meaning} {one_line(schema['$defs'][of_type].get('description', ''))}"
    return meaning.strip()
