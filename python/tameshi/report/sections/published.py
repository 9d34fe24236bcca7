"""Published figures next to ours: levels, or in a reduced study ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis.published import EMULATED, REPEATED, UNITS
from tameshi.core.units import format_value
from tameshi.report.view.points import View, freeze, kind_of
from tameshi.report.view.tables import Column, Row, Table, level_name
from tameshi.report.words.text import Shown, Text

MOVING = ("read", "write", "trim", "sync", "commit", "all")
COMPARED = {"%": "share", "ratio": "ratio", "x": "ratio"}
"""Formats of figures that compare values."""
KIND = ("world", "metric", "subject", "window", "derived", "unit")
"""Keys that figures share whose ratio has a meaning."""


@dataclass(frozen=True)
class Known:
    """Published value and ours, both known and not zero."""

    published: float
    ours: float


def table(view: View, text: Text) -> Table | None:
    """Return published figures next to ours, or None without any.

    A quick study has other sizes: its levels are not compared. Its ratios are, each to the first
    figure of the same kind.
    """
    if not view.published:
        return None
    worlds, phases = ({entry.get(key) for entry in view.published} for key in ("world", "phase"))
    firsts = dict(_firsts(view))
    rows = [
        Row(
            str(entry["id"]),
            (
                *_place(entry, text, with_phase=len(phases) > 1),
                *([Shown(text.world(str(entry["world"])))] if len(worlds) > 1 else []),
                *_values(entry, text),
                *(_ratios(firsts, entry, text) if view.quick else [_compared(view, entry, text)]),
            ),
        )
        for entry in view.published
    ]
    keys = ["id", "cell", "metric", *(["world"] if len(worlds) > 1 else []), "published", "ours"]
    keys += ["published_to_first", "ours_to_first"] if view.quick else ["ours_to_published"]
    columns = tuple(Column(text(f"column.{key}")) for key in keys)
    bounded = any(cell.interval for row in rows for cell in row.cells)
    notes = [text("note.published.quick")] if view.quick else []
    notes += [text("note.published")] if bounded and not view.quick else []
    notes += [text("note.published.emulated")] if EMULATED in worlds else []
    caption = text("table.published.quick" if view.quick else "table.published")
    return Table("published", caption, columns, tuple(rows), " ".join(notes))


def unmatched(view: View, text: Text) -> list[str]:
    """Return published figures without a match, with reasons."""
    lines = []
    for what in ("list", "value"):
        figures = dict.fromkeys(
            text("published.of", figure=entry["id"], metric=entry["metric"])
            for entry in view.published
            if what in entry.get("missing", ())
        )
        if figures:
            listed = text("list.separator").join(figures)
            lines.append(text(f"caveat.published.{what}", figures=listed))
    return lines


def _place(entry: Mapping[str, Any], text: Text, *, with_phase: bool) -> tuple[Shown, Shown]:
    """Return place and metric of a figure.

    The place is its window, or its phase if figures have several, and its cell.
    """
    metric = str(entry["metric"])
    where = entry.get("cell") or {}
    levels = (
        [level_name(text, *pair) for pair in freeze(dict(where))]
        if isinstance(where, Mapping)
        else [str(where)]
    )
    when = entry.get("window") or (entry.get("phase") if with_phase else None)
    place = text("list.short").join([*([text.name(str(when))] if when else []), *levels])
    operation = metric.partition(".")[0]
    moved = f"{text.name(operation)} " if operation in MOVING else ""
    measured = f"{moved}{text.measure(_measure(metric))}"
    if entry.get("subject"):
        measured = text.names((str(entry["subject"]), measured))
    return Shown(place or text("cell.none")), Shown(_of_cells(text, entry.get("derived"), measured))


def _measure(metric: str) -> str:
    return metric.partition(".")[2] or metric


def _values(entry: Mapping[str, Any], text: Text) -> tuple[Shown, Shown]:
    """Return the published value and ours, with our interval."""
    factor = UNITS.get(str(entry.get("unit")), 1.0)
    known, ours, low, high = (
        None if (value := entry.get(key)) is None else value * factor
        for key in ("published", "predicted", "low", "high")
    )
    kind = COMPARED.get(str(entry.get("unit")), kind_of(_measure(str(entry["metric"]))))
    unknown = Shown(text("cell.unknown"))
    return (
        Shown(format_value(kind, known)) if known is not None else unknown,
        replace(text.shown(kind, ours, low, high, 0), note="") if ours is not None else unknown,
    )


def _compared(view: View, entry: Mapping[str, Any], text: Text) -> Shown:
    """Return ours ÷ published; inside a published range only that."""
    ours, known = entry.get("predicted"), entry.get("published")
    if ours is None or not known:
        return Shown(text("cell.unknown"))
    same = ("cell", "phase", "metric", "window", "derived", "unit")
    alike = [
        each["published"]
        for each in view.published
        if each.get("published") and all(each.get(key) == entry.get(key) for key in same)
    ]
    low, high = min(alike), max(alike)
    if high > REPEATED * low and low <= ours <= high:
        return Shown(text("cell.within"))
    return Shown(format_value("ratio", ours / known))


def _kind(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry.get(key)) for key in KIND)


def _known(entry: Mapping[str, Any]) -> Known | None:
    published, ours = entry.get("published"), entry.get("predicted")
    return Known(float(published), float(ours)) if published and ours else None


def _firsts(view: View) -> Iterator[tuple[tuple[str, ...], tuple[str, Known]]]:
    """Yield the first figure of each kind with both values, by kind."""
    seen = set()
    for entry in view.published:
        kind, known = _kind(entry), _known(entry)
        if known and kind not in seen and str(entry.get("unit")) not in COMPARED:
            seen.add(kind)
            yield kind, (str(entry["id"]), known)


def _ratios(
    firsts: Mapping[tuple[str, ...], tuple[str, Known]], entry: Mapping[str, Any], text: Text
) -> list[Shown]:
    """Return the published ratio to the first figure of this kind, and ours."""
    first, known = firsts.get(_kind(entry)), _known(entry)
    if first is None or known is None or first[0] == entry["id"]:
        return [Shown(text("cell.none"))] * 2
    ratios = known.published / first[1].published, known.ours / first[1].ours
    return [Shown(format_value("ratio", ratio)) for ratio in ratios]


def _of_cells(text: Text, derived: object, metric: str) -> str:
    """Return a published figure's metric, with its derivation from several cells."""
    return text(f"published.{derived}", metric=metric) if derived else metric
