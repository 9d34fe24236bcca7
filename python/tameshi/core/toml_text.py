"""Values as TOML on one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def inline(value: Any) -> str:
    """Return a value of TOML on one line; strings and numbers are written alike in JSON."""
    if isinstance(value, Mapping):
        items = (f"{inline(key)} = {inline(each)}" for key, each in value.items())
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
