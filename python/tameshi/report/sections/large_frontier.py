"""Frontier of a large study: cells that no other one beats in cost, or rate, and latency."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tameshi.analysis.stats.sensitivity import frontier, thinned
from tameshi.core.units import format_value
from tameshi.report.view.cell_table import CellTable, Load
from tameshi.report.view.figures import LOG_RANGE, Figure, Panel, Scale, Series
from tameshi.report.view.section import Page
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Phrase, Shown, Text, modelled

FIELDS = (60, 40)
"""Grid of the plot: one cell is drawn per field, so that 100,000 cells stay readable."""
MOST_ROWS = 20
"""Cells of the frontier that its table lists."""


def figures(page: Page) -> list[Figure]:
    """Return a plot per load: cost or rate across, latency up."""
    return [_figure(table, load, page.text) for table in page.inputs.tables for load in table.loads]


def best(table: CellTable, load: Load) -> list[int]:
    """Return the cells of the frontier: ascending cost, else ascending rate."""
    if table.cost is not None:
        return frontier(table.cost, load.latency, most=False)
    return frontier(load.rate, load.latency, most=True)


def _figure(table: CellTable, load: Load, text: Text) -> Figure:
    across = load.rate if table.cost is None else table.cost
    kind = "rate" if table.cost is None else "cost"
    front = best(table, load)
    cloud = sorted(set(thinned(across, load.latency, FIELDS)) - set(front))
    panel = Panel(
        (),
        tuple(
            _series(table, load, across, rows, (text(key),), style, text)
            for style, (key, rows) in enumerate((("frontier.other", cloud), ("frontier.on", front)))
            if rows
        ),
    )
    values = [float(across[row]) for row in (*cloud, *front)]
    wide = min(values, default=0.0) > 0 and max(values) / min(values) >= LOG_RANGE
    fields = {"load": load.subject, "operation": load.operation, "phase": table.phase}
    counts = {"shown": f"{len(values):,}", "all": f"{table.rows:,}"}
    return Figure(
        f"frontier-{table.phase}-{load.subject}-{load.operation}",
        Phrase(f"figure.frontier_{kind}", fields),
        Phrase("hint.frontier", counts),
        "scatter",
        Scale(Phrase(f"axis.{kind}"), "number", wide),
        Scale(Phrase("axis.latency"), "latency", log=True),
        (panel,),
    )


def _series(
    table: CellTable,
    load: Load,
    across: Any,
    rows: list[int],
    name: tuple[str, ...],
    style: int,
    text: Text,
) -> Series:
    return Series(
        name,
        tuple(float(across[row]) for row in rows),
        tuple(float(load.latency[row]) for row in rows),
        style=style,
        words=tuple(described(table, load, row, text) for row in rows),
    )


def described(
    table: CellTable, load: Load, row: int, text: Text, *, with_model: bool = False
) -> str:
    """Return figures and settings of a cell in one line; `with_model`: with the model's error."""
    rate, latency = float(load.rate[row]), float(load.latency[row])
    asides = ["", ""]
    if with_model:
        for place, (kind, value) in enumerate((("rate", rate), ("latency", latency))):
            bare = modelled(Shown(""), kind, value, load.model(row, kind))
            asides[place] = text.aside(bare, bare=True)
    parts = [
        text("frontier.rate", rate=format_value("rate", rate)) + asides[0],
        f"{text.measure(load.measure)} {format_value('latency', latency)}{asides[1]}",
    ]
    if table.cost is not None:
        parts.insert(0, text("frontier.cost", cost=f"{table.cost[row]:,.6g}"))
    parts += [f"{text.name(name)} {text.name(value)}" for name, value in table.named(row)]
    return text("list.short").join(parts)


def tables(page: Page) -> Iterator[Table]:
    """Yield the cells of each frontier with their settings."""
    text = page.text
    for table in page.inputs.tables:
        for load in table.loads:
            front = best(table, load)
            shown = front[:: max(1, -(-len(front) // MOST_ROWS))]
            priced = table.cost is not None
            heads = [*(["frontier.cost_head"] if priced else []), "axis.rate"]
            columns = [Column(text("column.number")), *(Column(text(key)) for key in heads)]
            columns += [Column(text.measure(load.measure))]
            columns += [Column(text.name(each.name)) for each in table.settings]
            rows = (
                Row(str(place), tuple(map(Shown, _cells(table, load, row, text))))
                for place, row in enumerate(shown, 1)
            )
            fields = {"load": text.name(load.subject), "operation": text.name(load.operation)}
            caption = text("table.frontier", phase=text.name(table.phase), **fields)
            note = text("note.frontier", shown=len(shown), all=len(front))
            yield Table(
                f"frontier-{table.phase}-{load.subject}-{load.operation}",
                caption,
                tuple(columns),
                tuple(rows),
                note if len(shown) < len(front) else "",
                numeric=True,
            )


def _cells(table: CellTable, load: Load, row: int, text: Text) -> list[str]:
    cost = [] if table.cost is None else [f"{table.cost[row]:,.6g}"]
    return [
        *cost,
        format_value("rate", float(load.rate[row])),
        format_value("latency", float(load.latency[row])),
        *(text.name(value) for _, value in table.named(row)),
    ]
