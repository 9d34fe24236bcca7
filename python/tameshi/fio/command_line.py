"""Arguments as fio takes them: one or two dashes, `=` or a blank before a value."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.fio.jobfile import JobText, LineReader, Section, Setting, jobs_of
from tameshi.fio.keys import ALIASES, BARE

_ONE_DASH = re.compile(r"^-(?=[A-Za-z][\w-])")
FORMATS = ("normal", "terse", "json", "json+")


def with_two_dashes(arguments: Sequence[str]) -> list[str]:
    """Return arguments whose long options begin with two dashes; `-name=a` becomes `--name=a`."""
    return [_ONE_DASH.sub("--", argument) for argument in arguments]


def with_values(arguments: Sequence[str]) -> list[str]:
    """Return arguments with each key's value behind `=`; `--bs 4k` becomes `--bs=4k`.

    As in fio, keys that may be bare take no value from the next argument.
    """
    joined: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        key, equals, _ = argument.removeprefix("--").partition("=")
        bare = equals or not argument.startswith("--") or ALIASES.get(key, key) in BARE
        if not bare and rest and not rest[0].startswith("-"):
            argument = f"{argument}={rest.pop(0)}"
        joined.append(argument)
    return joined


def parse_arguments(
    arguments: Sequence[str], environment: Mapping[str, str] = os.environ
) -> tuple[list[Setting], list[JobText], list[Path]]:
    """Parse options in fio's syntax: settings before any `--name`, named jobs, and job files.

    `--name=global` starts defaults for later jobs, like `[global]`.
    """
    reader = LineReader(environment)
    first: list[Setting] = []
    sections: list[Section] = []
    files: list[Path] = []
    for argument in with_values(with_two_dashes(arguments)):
        if not argument.startswith("--"):
            files.append(Path(argument))
            continue
        key, equals, value = argument[2:].partition("=")
        if key == "name":
            sections.append(Section(value, argument))
            continue
        setting = reader.setting(key.strip(), value if equals else None, argument)
        (sections[-1].settings if sections else first).append(setting)
    return first, jobs_of(sections), files


def formats_of(words: Sequence[str]) -> list[str]:
    """Return output formats in fio's order of printing; `words` are lists with commas."""
    named = [name for word in words for name in word.split(",")] or ["normal"]
    for name in named:
        if name not in FORMATS:
            where = "--output-format"
            raise BadInput("unknown output format", where=where, found=name, accepted=FORMATS)
    json = "json+" if "json+" in named else "json"
    order = {"terse": "terse", "json": json, "json+": json, "normal": "normal"}
    return list(dict.fromkeys(form for name, form in order.items() if name in named))
