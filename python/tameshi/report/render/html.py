"""HTML pages of reports: templates, their filters, and the style."""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup, escape

from tameshi.report.view.tables import Column, Row


def template(name: str) -> jinja2.Template:
    """Return a page template of this package with its filters."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"spans": spans, "grouped": grouped, "sentence": sentence}
    return environment.get_template(name)


def spans(columns: tuple[Column, ...]) -> list[tuple[str, int]]:
    """Return neighbouring columns of one group as (group, count), without the row header."""
    groups: list[tuple[str, int]] = []
    for column in columns[1:]:
        if groups and groups[-1][0] == column.group:
            groups[-1] = (column.group, groups[-1][1] + 1)
        else:
            groups.append((column.group, 1))
    return groups


def sentence(words: str) -> Markup:
    """Return a sentence as HTML: values do not break across lines, intervals are subdued."""
    safe = re.sub(r"(?<=\d) (?=([kMG]|[kMG]?B/s|[nµm]?s|×)(?!\w))", "\u00a0", str(escape(words)))
    safe = re.sub(r"(?<=\d)–(?=\d)", "\u2060–\u2060", safe)
    aside = r"\((?=\d|model |モデル|他の)[^()]*\)"
    return Markup(re.sub(aside, r'<span class="interval">\g<0></span>', safe))


def grouped(rows: tuple[Row, ...]) -> list[dict[str, Any]]:
    """Return neighbouring rows of one group, in their order."""
    return [
        {"name": name, "rows": list(members)}
        for name, members in itertools.groupby(rows, key=lambda row: row.group)
    ]


@dataclass(frozen=True)
class Bundle:
    """plotly.js, packed for the page: its text, its notice, and the hash of its source."""

    text: str
    notice: str
    hash: str


@cache
def bundle() -> Bundle:
    """Return plotly.js's basic bundle, which draws lines and bars, as `draw` makes them."""
    data = resources.files(__package__).joinpath("plotly-basic.min.js.gz").read_bytes()
    source = gzip.decompress(data).decode()
    notice = source[: source.index("*/")].strip("/* \n").replace("\n* ", "; ")
    return Bundle(base64.b64encode(data).decode(), notice, script_hash(source))


def packed(text: str) -> str:
    """Return a text compressed, in signs that are safe inside a script element."""
    return base64.b64encode(gzip.compress(text.encode(errors="replace"), mtime=0)).decode()


def script_hash(script: str) -> str:
    """Return the script's hash for the content security policy, which allows nothing else."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def asset(name: str) -> str:
    """Return a file of this package as text."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
