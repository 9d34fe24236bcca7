"""Tables of all figures: a phase over two axes, swept, or at one combination of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tameshi.report.view.points import (
    Axis,
    Levels,
    Point,
    View,
    family_of,
    kind_of,
    level_on,
    series_names,
    unique,
    without,
)
from tameshi.report.view.tables import Column, Row, Table, estimates_table, value_cell
from tameshi.report.words.text import Shown, Text

MOST_COLUMNS = 8


def matrices(view: View, text: Text) -> list[Table]:
    """Return a table per measure for swept phases, and one table with all measures for others."""
    tables = []
    for phase in view.phases:
        axis = view.table_axis(phase)
        families = unique(family_of(p.measure) for p in view.in_phase(phase))
        if axis:
            for family in families:
                tables += _totals(view, text, phase, axis, family)
                tables.append(_matrix(view, text, phase, axis, family))
        elif families:
            tables.append(_plain_table(view, text, phase))
    return tables


def _matrix(view: View, text: Text, phase: str, axis: Axis, family: str) -> Table:
    """Return levels of the axis down, series across, worlds side by side."""
    points = [p for p in view.in_phase(phase) if family_of(p.measure) == family]
    names = series_names(view.in_phase(phase), axis)
    cells = {
        (p.world, (without(p.levels, axis), *p.key[1:]), level_on(p.levels, axis)): p
        for p in points
    }
    present = {place[:2] for place in cells}
    levels = {level for _, _, level in cells}
    series = [(world, key) for world in view.worlds for key in names if (world, key) in present]
    columns = [Column(text.names(names[key]), text.world(world)) for world, key in series]
    rows = [
        Row(level, tuple(value_cell(text, cells.get((*place, level))) for place in series))
        for level in axis.levels
        if level in levels
    ]
    label = text.measure(points[0].measure)
    caption = text("table.matrix", phase=text.name(phase), measure=label)
    corner = Column(text.name(axis.name))
    return _grid(text, f"matrix-{phase}-{family}", caption, corner, columns, rows)


def _totals(view: View, text: Text, phase: str, axis: Axis, family: str) -> list[Table]:
    """Return sums over reads and writes, by the levels of other axes."""
    if family not in ("rate", "bandwidth"):
        return []
    cells: dict[tuple[str, Levels, str, str], list[Point]] = {}
    for p in view.in_phase(phase):
        if family_of(p.measure) == family and p.operation in ("read", "write"):
            others = without(p.levels, axis)
            place = (p.world, others, p.subject, level_on(p.levels, axis))
            cells.setdefault(place, []).append(p)
    if not any(len(points) > 1 for points in cells.values()):
        return []
    subjects = {subject for _, _, subject, _ in cells}
    places = list(dict.fromkeys(place[:3] for place in cells))
    order = {world: number for number, world in enumerate(view.worlds)}
    places.sort(key=lambda place: order[place[0]])

    def cell(points: list[Point] | None) -> Shown:
        if not points:
            return Shown(text("cell.none"))
        total = sum(p.value for p in points)
        return text.shown(kind_of(points[0].measure), total, None, None, 0)

    def name(others: Levels, subject: str) -> str:
        labels = tuple(label for _, label in others) + ((subject,) if len(subjects) > 1 else ())
        return text.names(labels or (subject,))

    rows = [
        Row(level, tuple(replace(cell(cells.get((*place, level))), note="") for place in places))
        for level in axis.levels
        if any(place[3] == level for place in cells)
    ]
    columns = [Column(name(others, subject), text.world(w)) for w, others, subject in places]
    measure = text.measure(next(iter(cells.values()))[0].measure)
    caption = text("table.total", phase=text.name(phase), measure=measure)
    corner = Column(text.name(axis.name))
    return [_grid(text, f"total-{phase}-{family}", caption, corner, columns, rows)]


def _grid(
    text: Text,
    table_id: str,
    caption: str,
    corner: Column,
    columns: Sequence[Column],
    rows: Sequence[Row],
) -> Table:
    """Return levels down and series across, transposed for many series and few levels."""
    if len(columns) <= MOST_COLUMNS or len(rows) > MOST_COLUMNS:
        return estimates_table(text, table_id, caption, [corner, *columns], rows)
    across = [Column(f"{corner.label} {row.head}") for row in rows]
    down = [
        Row(column.label, tuple(row.cells[i] for row in rows), group=column.group)
        for i, column in enumerate(columns)
    ]
    return estimates_table(text, table_id, caption, [Column(""), *across], down)


def _plain_table(view: View, text: Text, phase: str) -> Table:
    """Return measures down, grouped by series; worlds across."""
    points = {(p.world, p.key, p.measure): p for p in view.in_phase(phase)}
    rows = [
        Row(
            text.measure(measure),
            tuple(value_cell(text, points.get((world, key, measure))) for world in view.worlds),
            group=text.names(name),
        )
        for key, name in series_names(view.in_phase(phase), None).items()
        for measure in unique(m for _, k, m in points if k == key)
    ]
    columns = [Column(text("column.quantity")), *(Column(text.world(w)) for w in view.worlds)]
    return estimates_table(
        text, f"matrix-{phase}", text("table.plain", phase=text.name(phase)), columns, rows
    )
