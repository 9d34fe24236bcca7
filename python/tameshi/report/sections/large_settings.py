"""Settings of a large study: parallel coordinates of its cells, and sensitivity to each setting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tameshi.core.units import format_value
from tameshi.report.sections.large_frontier import described
from tameshi.report.view.cell_table import LABEL, CellTable, Load
from tameshi.report.view.figures import Figure, Panel, Scale, Series
from tameshi.report.view.section import Page
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Phrase, Shown, Text

LINES = 240
"""Cells that parallel coordinates draw, evenly chosen by latency."""
QUARTERS = 4
LOG_SPAN = 20.0
"""Ratio of a setting's ends from which on its axis is logarithmic."""


def parallel(page: Page) -> list[Figure]:
    """Return parallel coordinates of each phase's first load, a line per cell."""
    drawn = (_parallel(table, page.text) for table in page.inputs.tables if table.loads)
    return [figure for figure in drawn if figure]


def _parallel(table: CellTable, text: Text) -> Figure | None:
    load = table.loads[0]
    rows = np.flatnonzero(np.isfinite(load.latency) & (load.latency > 0) & (load.rate > 0))
    if len(rows) < 2 or not table.settings:
        return None
    order = rows[np.argsort(load.latency[rows], kind="stable")]
    places = np.unique(np.linspace(0, len(order) - 1, LINES).astype(int))
    columns = [_share(each.values, each.kind == LABEL) for each in table.settings]
    columns += [_share(load.rate, False), _share(load.latency, False)]
    series = []
    for place in places:
        row, quarter = int(order[place]), int(place) * QUARTERS // len(order)
        heights = tuple(float(column[row]) for column in columns)
        words = (described(table, load, row, text),) * len(columns)
        x = tuple(map(float, range(len(columns))))
        name = (text(f"quarter.{quarter + 1}"),)
        series.append(Series(name, x, heights, ramp=quarter / (QUARTERS - 1), words=words))
    fields = {"load": load.subject, "operation": load.operation, "phase": table.phase}
    return Figure(
        f"parallel-{table.phase}",
        Phrase("figure.parallel", fields),
        Phrase("hint.parallel", {"shown": f"{len(places):,}", "all": f"{table.rows:,}"}),
        "line",
        Scale(Phrase("axis.none"), "number", categories=tuple(_categories(table, load, text))),
        Scale(Phrase("axis.of_range"), "share"),
        (Panel((), tuple(series)),),
    )


def _share(values: Any, is_words: bool) -> Any:
    """Return the place of each value in the range of all, logarithmic if that is wide."""
    column = np.asarray(values, float)
    low, high = np.nanmin(column), np.nanmax(column)
    if low == high:
        return np.full(len(column), 0.5)
    if not is_words and low > 0 and high / low >= LOG_SPAN:
        return np.log(column / low) / np.log(high / low)
    return (column - low) / (high - low)


def _categories(table: CellTable, load: Load, text: Text) -> Iterator[tuple[str, ...]]:
    """Yield the name of each axis with its ends."""
    for each in table.settings:
        low, high = float(np.nanmin(each.values)), float(np.nanmax(each.values))
        yield (each.name, f"{text.name(each.shown(low))} … {text.name(each.shown(high))}")
    for kind, label, values in (
        ("rate", text("axis.rate"), load.rate),
        ("latency", text.measure(load.measure), load.latency),
    ):
        ends = (format_value(kind, float(end(values))) for end in (np.nanmin, np.nanmax))
        yield (label, " … ".join(ends))


def sensitivity_figures(page: Page) -> list[Figure]:
    """Return a plot per phase: share of variance that each setting explains, per figure."""
    drawn = (_sensitivity(table, page.text) for table in page.inputs.tables)
    return [figure for figure in drawn if figure]


def _sensitivity(table: CellTable, text: Text) -> Figure | None:
    found = table.effects
    if not found:
        return None
    order = _ranked(table)
    series = []
    for style, ((subject, operation, measure), effects) in enumerate(found.items()):
        chosen = [effects[place] for place in order]
        series.append(
            Series(
                _figure_name(table, subject, operation, measure, text),
                tuple(map(float, range(len(chosen)))),
                tuple(each.share for each in chosen),
                tuple(each.low for each in chosen),
                tuple(each.high for each in chosen),
                style,
            )
        )
    return Figure(
        f"sensitivity-{table.phase}",
        Phrase("figure.main_effects", {"phase": table.phase}),
        Phrase("hint.main_effects"),
        "bar",
        Scale(
            Phrase("axis.none"),
            "number",
            categories=tuple((table.settings[place].name,) for place in order),
        ),
        Scale(Phrase("axis.variance"), "share"),
        (Panel((), tuple(series)),),
        whiskers="hint.whiskers",
    )


def _figure_name(
    table: CellTable, subject: str, operation: str, measure: str, text: Text
) -> tuple[str, ...]:
    label = text("axis.rate") if measure == "rate" else text.measure(measure)
    names = [each.subject for each in table.loads]
    return (*((subject,) if len(set(names)) > 1 else ()), operation, label)


def _ranked(table: CellTable) -> list[int]:
    """Return the settings by their largest share, the largest first."""
    found = table.effects.values()
    most = [max(each[place].share for each in found) for place in range(len(table.settings))]
    return sorted(range(len(most)), key=lambda place: -most[place])


def sensitivity_tables(page: Page) -> Iterator[Table]:
    """Yield share of variance and ratio between the ends of each setting, per phase."""
    text = page.text
    for table in page.inputs.tables:
        found = table.effects
        if not found:
            continue
        columns = [Column(text("column.setting")), Column(text("column.range"))]
        for key in found:
            group = text("list.short").join(_figure_name(table, *key, text))
            columns += [Column(text(f"column.{each}"), group) for each in ("share_of", "ratio_of")]
        rows = [
            Row(text.name(table.settings[place].name), tuple(_row(table, place, text)))
            for place in _ranked(table)
        ]
        caption = text("table.main_effects", phase=text.name(table.phase))
        note = text("note.main_effects")
        yield Table(
            *(f"sensitivity-{table.phase}", caption, tuple(columns), tuple(rows), note),
            numeric=True,
        )


def _row(table: CellTable, place: int, text: Text) -> Iterator[Shown]:
    setting = table.settings[place]
    if setting.kind == LABEL:
        yield Shown(text("cell.levels", count=len(setting.words)))
    else:
        ends = (float(end(setting.values)) for end in (np.nanmin, np.nanmax))
        yield Shown(" … ".join(map(setting.shown, ends)))
    for effects in table.effects.values():
        each = effects[place]
        interval = f"{each.low * 100:.0f}–{each.high * 100:.0f} %"
        yield Shown(f"{each.share * 100:.0f} %", interval=interval)
        yield Shown(text("cell.none") if setting.kind == LABEL else f"× {each.ratio:.3g}")
