"""Values and files of TOML from Python's values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def quoted(name: str) -> str:
    """Return a key in quotation marks."""
    return json.dumps(name, ensure_ascii=False)


def bare(name: str) -> str:
    """Return a key without quotation marks where TOML accepts it."""
    return name if _BARE.fullmatch(name) else quoted(name)


def inline(value: Any, key: Callable[[str], str] = quoted) -> str:
    """Return a value of TOML on one line; strings and numbers are written alike in JSON."""
    if isinstance(value, Mapping):
        items = (f"{key(name)} = {inline(each, key)}" for name, each in value.items())
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(inline(each, key) for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def document(settings: Mapping[str, Any]) -> str:
    """Return settings as a TOML file: plain keys first, then a table per key of the root."""
    plain = {name: value for name, value in settings.items() if not isinstance(value, Mapping)}
    lines = _assigned(plain)
    for name, table in settings.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{bare(name)}]", *_assigned(table)]
    return "\n".join([*lines, ""])


def _assigned(table: Mapping[str, Any]) -> list[str]:
    return [f"{bare(name)} = {inline(value, bare)}" for name, value in table.items()]
