"""Tables of a study's answer as data: a metric by the levels of axes, and its crossings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from tameshi.report.view.combined import ALL, mean_latencies, together
from tameshi.report.view.key_figures import MEAN, Ratio, ratio_of
from tameshi.report.view.points import (
    LATENCY,
    Axis,
    Levels,
    Point,
    View,
    number,
)

SAME = 0.05
"""Two figures whose ratio differs from 1 by at most this are the same."""


@dataclass(frozen=True)
class Grid:
    """Table in one world. Open axes show the best of their cells.

    `points`: by row level and column levels; absent cells have none.
    """

    definition: Mapping[str, Any]
    world: str
    metric: str
    rows: Axis
    columns: tuple[Levels, ...]
    points: Mapping[tuple[str, Levels], Point]
    best: Callable[[Mapping[str, str]], Point | None] = field(repr=False)

    @property
    def by_row(self) -> bool:
        """True if the base is a row: ratios compare rows, not columns."""
        return self.rows.name in self.definition["base"]

    @property
    def percent(self) -> bool:
        """True if ratios are in per cent of the base."""
        return bool(self.definition["percent"])

    @property
    def open_axes(self) -> list[str]:
        """Return the axes that a cell shows the best level of."""
        seen = {pair for point in self.points.values() for pair in point.levels}
        fixed = {self.rows.name, *self.definition["columns"], *self.definition["at"]}
        return [axis for axis in dict(sorted(seen)) if axis not in fixed]

    def levels(self, row: str, column: Levels) -> dict[str, str]:
        """Return the levels of a cell."""
        return {**self.definition["at"], self.rows.name: row, **dict(column)}

    def base(self, row: str, column: Levels) -> Point | None:
        """Return the point that a cell is compared with; None without base."""
        base = self.definition["base"]
        return self.best({**self.levels(row, column), **base}) if base else None

    def is_base(self, row: str, column: Levels) -> bool:
        """Return whether a cell is its own base."""
        levels = self.levels(row, column)
        return {**levels, **self.definition["base"]} == levels


def grids(view: View) -> Iterator[Grid]:
    """Yield each table of the study's answer in each world that has some of its cells."""
    axes = {axis.name: axis for axis in view.axes}
    for table in view.answer.get("table") or ():
        definition = _complete(table, view.answer)
        if not {definition["rows"], *definition["columns"]} <= axes.keys():
            continue
        for world in view.worlds:
            candidates = _candidates(view, world, definition)
            grid = _grid(definition, world, axes, candidates)
            if grid.points:
                yield grid


def _complete(table: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table's definition with the answer's metric and subject, labels as strings."""
    labels = {
        key: {axis: str(level) for axis, level in (table.get(key) or {}).items()}
        for key in ("at", "base")
    }
    return {
        "columns": table.get("columns") or [],
        "percent": table.get("percent", False),
        "phase": table.get("phase"),
        "rows": table["rows"],
        "metric": table.get("metric") or answer["metric"],
        "subject": table.get("subject") or answer.get("subject"),
        **labels,
    }


def _grid(
    definition: dict[str, Any], world: str, axes: Mapping[str, Axis], candidates: Sequence[Point]
) -> Grid:
    rows = axes[definition["rows"]]
    names = definition["columns"]
    columns = tuple(
        tuple(zip(names, labels, strict=True))
        for labels in product(*(axes[name].levels for name in names))
    )

    def best(levels: Mapping[str, str]) -> Point | None:
        return _best([p for p in candidates if levels.items() <= dict(p.levels).items()])

    empty = Grid(definition, world, definition["metric"], rows, columns, {}, best)
    found = {
        (row, column): point
        for row in rows.levels
        for column in columns
        if (point := best(empty.levels(row, column)))
    }
    shown = tuple(column for column in columns if any(at == column for _, at in found))
    return replace(empty, columns=shown, points=found)


def _best(points: Sequence[Point]) -> Point | None:
    """Return the greatest rate or the least latency; sound points come first."""
    sound = [point for point in points if point.sound] or points
    if not sound:
        return None
    low = sound[0].measure.startswith(LATENCY)
    return (min if low else max)(sound, key=lambda point: point.value)


def _candidates(view: View, world: str, definition: Mapping[str, Any]) -> list[Point]:
    """Return a world's points of the metric, of the subject, or of the first that has it."""
    operation, _, measure = definition["metric"].partition(".")
    phases = [definition["phase"]] if definition["phase"] else view.phases
    if (operation, measure) == (ALL, MEAN):
        return [p for phase in phases for p in mean_latencies(view, world, phase).values()]
    here = [
        p
        for p in view.points
        if p.world == world
        and p.measure == measure
        and p.phase in phases
        and (p.operation == operation or (operation == ALL and p.operation in ("read", "write")))
        and definition["subject"] in (None, p.subject)
    ]
    by_cell: dict[tuple[str, Levels], list[Point]] = {}
    for point in here:
        by_cell.setdefault((point.phase, point.levels), []).append(point)
    if operation == ALL:
        return [together(points) for points in by_cell.values()]
    return [_whole(points) for points in by_cell.values()]


def _whole(points: Sequence[Point]) -> Point:
    """Return the point of a whole program or stream, or the first."""
    return next((p for p in points if "." not in p.subject), points[0])


@dataclass(frozen=True)
class Compared:
    """A column against its base over the rows, or a row against its base over the columns.

    `at`: the row or the column of each ratio.
    """

    name: Levels
    at: tuple[Levels, ...]
    ratios: tuple[Ratio, ...]
    pairs: tuple[tuple[Point, Point], ...]

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the greatest ratio."""
        values = [ratio.value for ratio in self.ratios]
        return min(values), max(values)

    @property
    def places(self) -> tuple[Levels, Levels]:
        """Return where these two are."""
        ranked = sorted(zip(self.ratios, self.at, strict=True), key=lambda pair: pair[0].value)
        return ranked[0][1], ranked[-1][1]


def compared(view: View, grid: Grid) -> list[Compared]:
    """Return each column's ratios to its base; with a base among the rows, each row's."""
    places: dict[Levels, list[tuple[str, Levels]]] = {}
    for row, column in grid.points:
        if not grid.is_base(row, column):
            name = ((grid.rows.name, row),) if grid.by_row else column
            places.setdefault(name, []).append((row, column))
    found = []
    for name, cells in places.items():
        sides = [
            (column if grid.by_row else ((grid.rows.name, row),), grid.points[row, column], base)
            for row, column in cells
            if (base := grid.base(row, column))
        ]
        known = [
            (at, ratio, (top, bottom))
            for at, top, bottom in sides
            if (ratio := ratio_of(view, top, bottom))
        ]
        if known:
            at, ratios, pairs = zip(*known, strict=True)
            found.append(Compared(name, at, ratios, pairs))
    return found


@dataclass(frozen=True)
class Crossing:
    """Two columns that each have another advantage, along numeric rows.

    `order`: runs of rows with the same order: -1 one is less, 0 the same, 1 more.
    """

    one: Levels
    other: Levels
    order: tuple[tuple[int, tuple[str, ...]], ...]


def crossing(grid: Grid) -> Crossing | None:
    """Return the comparison of a small B with a good A and a large B with a poor A.

    Only of two axes of two levels each, along numeric rows.
    """
    levels = [list(dict.fromkeys(pair[i] for pair in grid.columns)) for i in _two(grid)]
    if len(levels) != 2 or any(len(each) != 2 for each in levels) or not grid.rows.numeric:
        return None
    (first, second), (third, fourth) = levels
    one, other = (second, third), (first, fourth)
    runs: list[tuple[int, list[str]]] = []
    for row in sorted(grid.rows.levels, key=lambda level: number(level) or 0.0):
        pair = grid.points.get((row, one)), grid.points.get((row, other))
        if not pair[0] or not pair[1] or not pair[1].value:
            return None
        ratio = pair[0].value / pair[1].value
        order = 0 if abs(ratio - 1) <= SAME else 1 if ratio > 1 else -1
        if not runs or runs[-1][0] != order:
            runs.append((order, []))
        runs[-1][1].append(row)
    return Crossing(one, other, tuple((order, tuple(rows)) for order, rows in runs))


def _two(grid: Grid) -> range:
    return range(len(grid.definition["columns"]))
