"""Doubts about a study's cells in plain sentences: which cells, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.core.reasons import Reason, distinct
from tameshi.report.view.points import Axis, View, freeze, number
from tameshi.report.view.tables import level_name
from tameshi.report.words.text import Text

MOST = 3
"""Groups of cells that a sentence names, and labels of an axis."""
Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Group:
    """Cells of one phase in one world with the same first cause.

    `cause`: the first reason as a clause; `reasons` holds every reason.
    """

    world: str
    phase: str
    cause: str
    reasons: tuple[Reason, ...]
    cells: tuple[Cell, ...]


def sentences(view: View, text: Text, without: Collection[str] = ()) -> list[str]:
    """Return a sentence on invalid cells, or else on cells with a warning.

    `without`: codes of reasons that are told elsewhere.
    """
    by_level = {level: _groups(view, level, without, text) for level in ("invalid", "warning")}
    level = next((level for level, groups in by_level.items() if groups), None)
    if level is None:
        return []
    causes: dict[str, list[Group]] = {}
    for group in by_level[level]:
        causes.setdefault(group.cause, []).append(group)
    told = list(causes.values())
    items = [_item(view, groups, text) for groups in told[:MOST]]
    more = sum(_count(groups) for groups in told[MOST:])
    items += [text("doubt.more", count=more)] if more else []
    count, joined = _count(by_level[level]), text("list.separator").join(items)
    key = level if count < len(view.cells) else f"all_{level}"
    said = text(f"doubt.{key}", bad=count, all=len(view.cells), items=joined)
    warned = _count(by_level["warning"]) if level == "invalid" else 0
    return [said + text("doubt.and_warnings", count=warned)] if warned else [said]


def _count(groups: Iterable[Group]) -> int:
    return sum(len(group.cells) for group in groups)


def _groups(view: View, level: str, without: Collection[str], text: Text) -> list[Group]:
    """Return the cells at this level by world, phase and first cause, the largest group first."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    reasons: dict[tuple[str, str, str], list[Reason]] = {}
    for cell in view.cells:
        verdict = cell.get("verdict") or {}
        if verdict.get("level", "valid") == level:
            own = verdict.get("reasons", ())
            kept = [reason for reason in own if reason["code"] not in without]
            if own and not kept:
                continue
            key = (cell["world"], cell["phase"], text.cause(kept[0]) if kept else "")
            found.setdefault(key, []).append(cell)
            reasons.setdefault(key, []).extend(kept)
    groups = [Group(*place, tuple(reasons[place]), tuple(cells)) for place, cells in found.items()]
    return sorted(groups, key=lambda group: -len(group.cells))


def _item(view: View, groups: Sequence[Group], text: Text) -> str:
    """Return the places of groups with their common cause, or without a place their reasons."""
    places = [place for group in groups if (place := _place(view, group, text))]
    if not places:
        reasons = distinct(reason for group in groups for reason in group.reasons)
        return text("list.short").join(text.reasons(reasons))
    place = text("list.also").join(places[:MOST])
    more = _count(groups[MOST:])
    place = text("list.also").join([place, text("doubt.more", count=more)]) if more else place
    return text("doubt.item", place=place, cause=groups[0].cause) if groups[0].cause else place


def _place(view: View, group: Group, text: Text) -> str:
    """Return the phase and the levels that set the cells apart from others."""
    alike = [c for c in view.cells if (c["world"], c["phase"]) == (group.world, group.phase)]
    words = [text.world(group.world)] if len(view.worlds) > 1 else []
    words += [text.name(group.phase)] if len(view.phases) > 1 else []
    if len(group.cells) == len(alike):
        return text("list.short").join(words)
    axes = [axis for axis in view.axes if _told(axis, group.cells, alike)]
    named, numbers = (
        [_levels(axis, group.cells, alike, text) for axis in axes if axis.numeric == numeric]
        for numeric in (False, True)
    )
    head = text("list.short").join([*words, *named])
    return text("doubt.place", head=head, numbers=text("list.short").join(numbers)).strip()


def _told(axis: Axis, cells: Iterable[Cell], alike: Iterable[Cell]) -> bool:
    """Return whether the cells have only some of an axis's levels."""
    return _labels(axis, cells) != _labels(axis, alike)


def _labels(axis: Axis, cells: Iterable[Cell]) -> list[str]:
    """Return the labels of an axis that cells have, in the axis's order."""
    seen = {dict(freeze(cell["levels"])).get(axis.name) for cell in cells}
    labels = [label for label in axis.levels if label in seen]
    return sorted(labels, key=lambda label: number(label) or 0.0) if axis.numeric else labels


def _levels(axis: Axis, cells: Sequence[Cell], alike: Sequence[Cell], text: Text) -> str:
    """Return the labels of one axis: a range at the end of an axis of numbers, or a list."""
    here, there = _labels(axis, cells), _labels(axis, alike)
    if axis.numeric and len(here) > 1 and here == there[-len(here) :]:
        last = there[-len(here) - 1]
        return text("doubt.beyond", level=level_name(text, axis.name, last))
    if len(here) > MOST:
        return text("doubt.levels", count=len(here), axis=text.name(axis.name))
    words = text("list.or").join(level_name(text, axis.name, label) for label in here)
    return text("doubt.at", levels=words) if axis.numeric else words
