"""Plot of the first table that a study asks for as its answer."""

from __future__ import annotations

from collections.abc import Iterator

from tameshi.report.sections.answer_tables import topic
from tameshi.report.view.figures import (
    BAR_RANGE,
    MOST_LINES,
    Figure,
    Panel,
    Scale,
    Series,
    of_points,
    sweep_scale,
)
from tameshi.report.view.grids import Grid, grids
from tameshi.report.view.points import View, kind_of, level_words, number
from tameshi.report.words.text import Phrase, Text


def figures(view: View, text: Text) -> list[Figure]:
    """Return the metric by the levels of the rows, with a line or a bar per column.

    Empty without a table, or if it has too many columns or only one cell.
    """
    every = list(grids(view))
    shown = [grid for grid in every if grid.definition == every[0].definition]
    points = [point for grid in shown for point in grid.points.values()]
    if not shown or len(points) < 2 or len(shown[0].columns) > MOST_LINES:
        return []
    rows, kind = shown[0].rows, kind_of(points[0].measure)
    ends = [end for p in points for end in (p.value, *(p.drawn_band or ())) if end > 0]
    wide = bool(ends) and max(ends) > BAR_RANGE * min(ends)
    if rows.numeric:
        x = sweep_scale(rows)
        style, log = "line", x.log and wide
    else:
        # The rows' own words: a level may be a code of the study.
        x = Scale(Phrase("axis.none"), "number", categories=tuple((row,) for row in rows.levels))
        style, log = ("dot" if wide else "bar"), wide
    panels = tuple(
        Panel((grid.world,) if len(shown) > 1 else (), tuple(_series(grid))) for grid in shown
    )
    return [
        Figure(
            "answer-plot",
            Phrase("figure.answer", {"metric": topic(shown[0], text)}),
            Phrase("hint.sweep" if log and x.log else "hint.dots" if log else "axis.none"),
            style,
            x,
            Scale(Phrase(f"axis.{kind}"), kind, log),
            panels,
            len(panels),
            whiskers="hint.whiskers",
        )
    ]


def _series(grid: Grid) -> Iterator[Series]:
    """Yield each column's points along the rows."""
    for style, column in enumerate(grid.columns):
        placed = [
            (number(row) or 0.0 if grid.rows.numeric else float(place), grid.points[row, column])
            for place, row in enumerate(grid.rows.levels)
            if (row, column) in grid.points
        ]
        name = level_words(column) or (grid.rows.name,)
        yield of_points(name, sorted(placed, key=lambda pair: pair[0]), style)
