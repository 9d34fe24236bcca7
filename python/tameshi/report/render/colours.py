"""Colours of plots outside the page: the light ones of its style sheet, the only palette."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from tameshi.report.render.html import asset

_NAMED = re.compile(r"var\((--[a-z]+\d?)(?:_(\w\w))?\)")
_LIGHT = re.compile(r":root \{(.*?)\}", re.DOTALL)
_VARIABLE = re.compile(r"(--\w+):\s*([^;]+);")


def coloured(value: Any) -> Any:
    """Return a plot with values in place of the style sheet's names, as page.js does."""
    if isinstance(value, str):
        name = _NAMED.fullmatch(value)
        return _palette()[name[1]] + (name[2] or "") if name else value
    if isinstance(value, dict):
        return {key: coloured(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [coloured(each) for each in value]
    return value


@cache
def _palette() -> dict[str, str]:
    light = _LIGHT.search(asset("style.css"))
    return dict(_VARIABLE.findall(light[1])) if light else {}
