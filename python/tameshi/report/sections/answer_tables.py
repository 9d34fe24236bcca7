"""Tables that a study asks for as its answer (`[answer]`), and the sentences that they make."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tameshi.analysis.published import UNITS
from tameshi.core.compiled import metrics
from tameshi.core.units import format_interval, format_value
from tameshi.report.view.grids import SAME, Compared, Crossing, Grid, compared, crossing, grids
from tameshi.report.view.key_figures import ratio_of
from tameshi.report.view.points import Levels, Point, View, freeze, kind_of
from tameshi.report.view.tables import (
    Answer,
    Clause,
    Column,
    Row,
    Table,
    estimates_table,
    level_name,
    said,
    shown,
)
from tameshi.report.words.text import Shown, Text

MOST_COLUMNS = 6
"""Columns that a sentence compares; of more the extremes."""
MOST_ROWS, MOST_ENDS = 8, 3
"""Rows of a lone column that a sentence lists, and columns that it has the extremes of."""


def answers(view: View, text: Text) -> list[Answer]:
    """Return a line for each table, with a clause for each world."""
    lines: dict[str, dict[str, list[str]]] = {}
    for grid in grids(view):
        by_world = lines.setdefault(topic(grid, text), {})
        by_world.setdefault(grid.world, []).append(_sentence(view, grid, text))
    return [
        Answer(
            topic,
            tuple(Clause(w, text.world(w), " ".join(said)) for w, said in by_world.items()),
        )
        for topic, by_world in lines.items()
    ]


def tables(view: View, text: Text) -> list[Table]:
    """Return the tables of the answer, one for each world."""
    return [_table(view, grid, text, index) for index, grid in enumerate(grids(view))]


@functools.cache
def _labels() -> Mapping[str, Mapping[str, str]]:
    """Return the labels of every metric by language."""
    return {metric["name"]: metric for metric in metrics()}


def _label(grid: Grid, text: Text) -> str:
    """Return the metric in words."""
    label = _labels().get(grid.metric, {}).get(text.lang)
    return label or text.measure(grid.metric.partition(".")[2])


def topic(grid: Grid, text: Text) -> str:
    """Return the metric in words, with its phase and the levels that all cells share."""
    label = _label(grid, text)
    label = label[:1].upper() + label[1:]
    phase, at = grid.definition["phase"], tuple(grid.definition["at"].items())
    # A phase named after its metric needs no second mention.
    places = [text.name(phase)] if phase and text.name(phase) != _label(grid, text) else []
    places += [_levels(at, text)] if at else []
    return text("table.answer_at", metric=label, place=" · ".join(places)) if places else label


def _levels(levels: Levels, text: Text) -> str:
    """Return levels in words: `flash · large`."""
    return " · ".join(level_name(text, *pair) for pair in levels)


def _sentence(view: View, grid: Grid, text: Text) -> str:
    """Return the comparison with the base and the crossing; without base the extremes."""
    if not grid.definition["base"]:
        return _ends(grid, text)
    parts = _few(compared(view, grid))
    if not parts:
        return _ends(grid, text)
    items = text("list.separator").join(_compared(view, part, text) for part in parts)
    base = _levels(tuple(grid.definition["base"].items()), text)
    sentences = [text("table.against", base=base, items=items)]
    crossed = None if grid.by_row else crossing(grid)
    return " ".join([*sentences, *([_crossing(grid, crossed, text)] if crossed else [])])


def _few(parts: Sequence[Compared]) -> list[Compared]:
    """Return all of a few comparisons; of many the least and the greatest."""
    if len(parts) <= MOST_COLUMNS:
        return list(parts)
    ranked = sorted(parts, key=lambda part: part.ends[0] * part.ends[1])
    return [ranked[0], ranked[-1]]


def _compared(view: View, part: Compared, text: Text) -> str:
    """Return a column's ratios: `flash · large 10.1 to 12.0 × (model 4–20)`."""
    low, high = part.ends
    name = _levels(part.name, text)
    models = [ratio.model for ratio in part.ratios if ratio.model]
    model = (min(low for low, _ in models), max(high for _, high in models)) if models else None
    aside = text("aside.model", interval=format_interval("ratio", high, *model)) if model else ""
    if len(part.ratios) == 1:
        ratio = part.ratios[0]
        sampled = text.shown("ratio", ratio.value, ratio.low, ratio.high, ratio.runs)
        parts = [part for part in (sampled.interval, aside) if part]
        values = [format_value(kind_of(p.measure), p.value) for p in part.pairs[0]]
        key = "table.same_one" if abs(ratio.value - 1) <= SAME else "table.one"
        fields = {"name": name, "ratio": sampled.value, "value": values[0], "base": values[1]}
        return text(key, **fields) + (f" ({'; '.join(parts)})" if parts else "")
    same = abs(low - 1) <= SAME and abs(high - 1) <= SAME
    ends = {"low": format_value("ratio", low), "high": format_value("ratio", high)}
    ends |= dict(zip(("lowest", "highest"), (_levels(at, text) for at in part.places), strict=True))
    key = "table.same" if same else "table.between"
    return text(key, name=name, **ends) + (f" ({aside})" if aside else "")


def _ends(grid: Grid, text: Text) -> str:
    """Return each column's least and greatest value with their rows.

    A lone column has all of a few rows. Many columns have their common extremes.
    """
    ranked = sorted(grid.points.items(), key=lambda item: -item[1].value)
    if len(grid.columns) == 1:
        rows = [cell for row in grid.rows.levels for cell in ranked if cell[0][0] == row]
        kept = rows if len(rows) <= MOST_ROWS else [ranked[0], ranked[-1]]
        sentence = text("list.separator").join(_end(grid, cell, text) for cell in kept)
    elif len(grid.columns) > MOST_ENDS:
        best, worst = (_extreme(grid, cell, text) for cell in (ranked[0], ranked[-1]))
        sentence = text("table.extremes", best=best, worst=worst)
    else:
        of_columns = [[cell for cell in ranked if cell[0][1] == column] for column in grid.columns]
        sentence = text("list.separator").join(_column_ends(grid, own, text) for own in of_columns)
    return sentence[:1].upper() + sentence[1:] + text("list.end")


Cell = tuple[tuple[str, Levels], Point]


def _column_ends(grid: Grid, ranked: Sequence[Cell], text: Text) -> str:
    """Return a column's greatest and least value, or its only one."""
    best, worst = (_end(grid, cell, text) for cell in (ranked[0], ranked[-1]))
    ends = text("table.ends", best=best, worst=worst) if len(ranked) > 1 else best
    return text("table.column_ends", name=_levels(ranked[0][0][1], text), ends=ends)


def _end(grid: Grid, cell: Cell, text: Text) -> str:
    """Return a value and its row."""
    (row, _), point = cell
    row_name = level_name(text, grid.rows.name, row)
    return text("table.end", value=_plain(point, text), row=row_name)


def _extreme(grid: Grid, cell: Cell, text: Text) -> str:
    """Return a value with its row and its column."""
    (row, column), point = cell
    place = (level_name(text, grid.rows.name, row), _levels(column, text))
    return text("table.extreme", value=_plain(point, text), place=text("list.short").join(place))


def _plain(point: Point, text: Text) -> str:
    """Return a point with its interval and its model error, as sentences print it."""
    value = said(text, point)
    return value.marked + text.aside(value)


_ORDERS = {-1: "less", 0: "same", 1: "more"}


def _crossing(grid: Grid, crossed: Crossing, text: Text) -> str:
    """Return the order of two columns along the rows."""
    one = _levels(crossed.one, text)
    fields = {"one": one[:1].upper() + one[1:], "other": _levels(crossed.other, text)}
    axis = text.name(grid.rows.name)
    if len(crossed.order) == 1:
        order = _ORDERS[crossed.order[0][0]]
        return text(f"table.always_{order}", axis=axis, **fields)
    parts = [
        text(f"table.{_ORDERS[order]}_at", axis=axis, levels=_span(rows, text))
        for order, rows in crossed.order
    ]
    return text("table.crossing", items=text("list.separator").join(parts), **fields)


def _span(rows: Sequence[str], text: Text) -> str:
    if len(rows) == 1:
        return rows[0]
    return text("table.span", first=rows[0], last=rows[-1])


def _table(view: View, grid: Grid, text: Text, index: int) -> Table:
    """Return a row for each level, a column for each combination; ratios follow values."""
    columns = [Column(text.name(grid.rows.name))]
    columns += (
        [_head(column, text) for column in grid.columns]
        if grid.columns != ((),)
        else [Column(_label(grid, text))]
    )
    rows = [
        Row(
            text.name(row),
            tuple(_cell(view, grid, row, column, text) for column in grid.columns),
        )
        for row in grid.rows.levels
        if any((row, column) in grid.points for column in grid.columns)
    ]
    caption = _caption(view, grid, text)
    return estimates_table(text, f"answer-{index}", caption, columns, rows)


def _head(column: Levels, text: Text) -> Column:
    """Return a header; the first axis of several is its group."""
    *groups, last = (level_name(text, *pair) for pair in column)
    return Column(last, " · ".join(groups))


def _caption(view: View, grid: Grid, text: Text) -> str:
    world = f" · {text.world(grid.world)}" if len(view.worlds) > 1 else ""
    metric, base = topic(grid, text) + world, grid.definition["base"]
    if base:
        key = "table.answer_percent" if grid.percent else "table.answer_ratio"
        metric = text(key, metric=metric, base=_levels(tuple(base.items()), text))
    axes = text("list.short").join(map(text.name, grid.open_axes))
    return text("table.best_of", caption=metric, axes=axes) if axes else metric


def _cell(view: View, grid: Grid, row: str, column: Levels, text: Text) -> Shown:
    point = grid.points.get((row, column))
    if point is None:
        return Shown(text("cell.none"))
    value, notes = shown(text, point), []
    base = grid.base(row, column)
    ratio = ratio_of(view, point, base) if base else None
    if ratio:
        notes.append(_ratio(grid, ratio.value))
    return replace(value, at=" · ".join([*notes, *_of_published(view, grid, point, base, text)]))


def _ratio(grid: Grid, ratio: float) -> str:
    return f"{100 * ratio:.0f} %" if grid.percent else format_value("ratio", ratio)


def _of_published(
    view: View, grid: Grid, point: Point, base: Point | None, text: Text
) -> Iterator[str]:
    """Yield the published value and ours as its multiple; of a quick study the published ratio to
    the base, if the cell is another."""
    known = _published(view, grid, point)
    if not known:
        return
    if not view.quick:
        off = format_value("ratio", point.value / known)
        value = format_value(kind_of(point.measure), known)
        yield text("table.published_cell", value=value, ratio=off)
    elif base and base != point and (of_base := _published(view, grid, base)):
        yield text("table.published_ratio", ratio=_ratio(grid, known / of_base))


def _published(view: View, grid: Grid, point: Point) -> float | None:
    """Return the published value of a cell in the metric's unit."""
    for entry in view.published:
        same = (entry["metric"], entry.get("derived")) == (grid.metric, None)
        here = set(freeze(entry["cell"])) == set(point.levels)
        if same and here and entry.get("phase") in (None, point.phase) and entry.get("published"):
            return float(entry["published"]) * UNITS.get(str(entry["unit"]), 1.0)
    return None
