"""Unknown settings of a study: by how much each moves values and ratios, and which matters most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tameshi.analysis import unknown
from tameshi.analysis.unknown import Bounds, Tried
from tameshi.core.units import format_value
from tameshi.report.view.key_figures import is_chief
from tameshi.report.view.points import View, is_kind, is_side_metric
from tameshi.report.view.tables import Column, Row, Table, estimates_table
from tameshi.report.words.text import Shown, Text

VALUES, RATIOS = "values", "ratios"
Moves = Mapping[str, Bounds]
"""Least and greatest factor by setting, or by its level."""


def summarise(view: View, text: Text, world: str) -> list[str]:
    """Return the setting that matters most and how far it moves ratios, or values without any."""
    of_ratios = _of_settings(_ratios(view, world))
    moved = of_ratios or _of_settings(_values(view, world))
    if not moved:
        return []
    what = text(f"unknown.{RATIOS if of_ratios else VALUES}")
    first, *others = sorted(moved, key=lambda name: -_size(moved[name]))
    low, high = (format_value("ratio", end) for end in moved[first])
    said = text("item.unknown", name=text.name(first), what=what, low=low, high=high)
    if not others:
        return [said]
    most = math.exp(max(_size(moved[name]) for name in others))
    others_said = text("item.unknown_others", share=format_value("share", most - 1.0))
    return [said, others_said]


def table(view: View, text: Text) -> Table:
    """Return each tried level with the factors that it moves values and ratios by."""
    columns = [Column(text("column.setting")), Column(text("column.assumed"))]
    columns += [
        Column(text(f"column.moves_{what}"), text.world(world))
        for world in view.worlds
        for what in (VALUES, RATIOS)
    ]
    found = [
        _of_levels(moved(view, world)) for world in view.worlds for moved in (_values, _ratios)
    ]
    rows = [
        Row(
            f"{text.name(each['name'])}: {level}",
            (
                Shown(each["assumed"]),
                *(_range(text, moved.get((each["name"], level))) for moved in found),
            ),
        )
        for each in view.unknown
        for level in each["levels"]
        if any((each["name"], level) in moved for moved in found)
    ]
    return estimates_table(text, "unknown", text("table.unknown"), columns, rows)


def _range(text: Text, bounds: Bounds | None) -> Shown:
    if bounds is None:
        return Shown(text("cell.none"))
    low, high = (format_value("ratio", end) for end in bounds)
    return Shown(low if low == high else text("range.ratio", low=low, high=high))


def _size(bounds: Bounds) -> float:
    """Return the greatest move of a setting, as a logarithm."""
    return max(abs(math.log(end)) for end in bounds)


Moved = tuple[float, tuple[Tried, ...]]
"""Value of a figure at the assumed levels, and at others."""


def _values(view: View, world: str) -> Iterator[Moved]:
    """Yield the chief figure of each stream and program in each cell."""
    for point in view.points:
        chief = is_chief(point) and not is_side_metric(point) and not is_kind(point.key)
        if point.world == world and point.tried and point.sound and chief:
            yield point.value, point.tried


def _ratios(view: View, world: str) -> Iterator[Moved]:
    """Yield the ratios of chief figures between levels of the axes."""
    chief = {
        (f"{p.operation}.{p.measure}", p.subject)
        for p in view.points
        if is_chief(p) and not is_side_metric(p) and not is_kind(p.key)
    }
    for entry in view.ratios:
        sides: tuple[Mapping[str, Any], ...] = (entry["numerator"], entry["denominator"])
        same = all(side["world"] == world and "phase" not in side for side in sides)
        if same and (entry["metric"], entry["subject"]) in chief and entry.get("unknown"):
            yield entry["value"], unknown.read(entry)


def _of_settings(moved: Iterable[Moved]) -> Moves:
    """Return the factors of each setting over all figures."""
    return _joined(pair for value, tried in moved for pair in unknown.moves(value, tried).items())


def _of_levels(moved: Iterable[Moved]) -> dict[Any, Bounds]:
    """Return the factors of each setting's level over all figures."""
    return _joined(
        ((each.name, each.level), (each.value / value, each.value / value))
        for value, tried in moved
        for each in tried
        if value > 0 and each.value > 0
    )


def _joined(pairs: Iterable[tuple[Any, Bounds]]) -> dict[Any, Bounds]:
    found: dict[Any, Bounds] = {}
    for key, (low, high) in pairs:
        least, greatest = found.get(key, (low, high))
        found[key] = (min(least, low), max(greatest, high))
    return found
