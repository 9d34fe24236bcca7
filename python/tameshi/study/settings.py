"""Settings behind the levels of a study's axes, as numbers where they are some."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LABEL = "label"
"""Kind of a setting whose values are words."""
QUANTITY = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*(\D.*)?")
_SIZES = {f"{p}B": 1000**n for n, p in enumerate(("", "k", "M", "G", "T", "P"))}
_SIZES |= {f"{p}iB": 1024**n for n, p in enumerate(("", "K", "M", "G", "T", "P")) if p}
_TIMES_NS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10, "h": 3.6e12}
UNITS: dict[str, tuple[str, float]] = {
    "": ("number", 1),
    "%": ("share", 0.01),
    "/s": ("rate", 1),
    **{unit: ("bytes", worth) for unit, worth in _SIZES.items()},
    **{unit: ("latency", worth) for unit, worth in _TIMES_NS.items()},
}
"""Kind of each unit's values in reports, and its worth in the base unit."""


@dataclass(frozen=True)
class Setting:
    """Setting that an axis varies.

    `values`: its number at each level of the axis, in base units; of words, their places in
    `words`.
    """

    name: str
    axis: str
    kind: str
    values: Mapping[str, float]
    words: Sequence[str] = ()


def quantity(value: Any) -> tuple[str, float] | None:
    """Return kind and number of a value as a study holds it; None for words."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return "number", float(value)
    found = QUANTITY.fullmatch(str(value).strip())
    unit = UNITS.get((found[2] or "").strip()) if found else None
    if found is None or unit is None:
        return None
    return unit[0], float(found[1].replace("_", "")) * unit[1]


def settings_of(text: str, axes: Mapping[str, Sequence[str]]) -> list[Setting]:
    """Return the settings of the axes that vary, by a study's text and the levels of each axis.

    An axis whose levels all set the same places has a setting per place, as samples do.
    """
    written = tomllib.loads(text).get("axis", {})
    found = []
    for axis, levels in axes.items():
        if len(levels) > 1:
            found += _of_axis(axis, levels, written.get(axis, {}))
    names = _short([each.name for each in found])
    return [
        Setting(name, each.axis, each.kind, each.values, each.words)
        for name, each in zip(names, found, strict=True)
    ]


def _of_axis(axis: str, levels: Sequence[str], table: Mapping[str, Any]) -> list[Setting]:
    partial = {level: table[level] for level in levels if isinstance(table.get(level), Mapping)}
    if len(partial) < len(levels):
        return [_setting(axis, axis, {level: level for level in levels})]
    flat = {level: dict(_flat(of)) for level, of in partial.items()}
    places = list(flat[levels[0]])
    if not places or any(list(each) != places for each in flat.values()):
        return [_setting(axis, axis, {level: level for level in levels})]
    if len(places) == 1:
        values = {level: each[places[0]] for level, each in flat.items()}
        one = _setting(axis, axis, values)
        # Levels have words of their own.
        return [_setting(axis, axis, {level: level for level in levels}) if one.words else one]
    return [
        _setting(place, axis, {level: each[place] for level, each in flat.items()})
        for place in places
        if len({str(each[place]) for each in flat.values()}) > 1
    ]


def _setting(name: str, axis: str, values: Mapping[str, Any]) -> Setting:
    numbers = {level: quantity(value) for level, value in values.items()}
    kinds = {number[0] if number else LABEL for number in numbers.values()}
    if len(kinds) == 1 and LABEL not in kinds:
        return Setting(name, axis, kinds.pop(), {lv: n[1] for lv, n in numbers.items() if n})
    words = list(dict.fromkeys(str(value) for value in values.values()))
    places = {level: float(words.index(str(value))) for level, value in values.items()}
    return Setting(name, axis, LABEL, places, words)


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    """Return each value of nested tables with its place, sorted."""
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{key}.")
        else:
            found.append((f"{before}{key}", value))
    return sorted(found, key=lambda pair: pair[0])


def _short(names: Sequence[str]) -> list[str]:
    """Return the shortest ends of places that tell them apart."""
    shortened = []
    for name in names:
        parts = name.split(".")
        ends = (".".join(parts[-count:]) for count in range(1, len(parts) + 1))
        others = [other for other in names if other != name]
        shortened.append(
            next(
                (e for e in ends if not any(f".{o}".endswith(f".{e}") for o in others)),
                name,
            )
        )
    return shortened
