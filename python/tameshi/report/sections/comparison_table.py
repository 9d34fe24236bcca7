"""Comparison table of a study's storages: capacity, performance and power."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.published import UNITS
from tameshi.core.units import format_value
from tameshi.report.sections.power import capacity, each
from tameshi.report.view.points import (
    Levels,
    Point,
    View,
    freeze,
    kind_of,
    level_words,
    moves_large_blocks,
    storage_name,
)
from tameshi.report.view.tables import Column, Row, Table, shown
from tameshi.report.words.text import Shown, Text

MOVING = ("read", "write", "trim")
MOST_ROWS = 16
"""Rows beyond which the table is no summary."""
ALONE = 1.05
"""Outstanding requests up to which each waits for the one before it."""

Place = tuple[str, Levels]
"""World and levels of a row."""


@dataclass(frozen=True)
class Quantity:
    """Figure of a phase for each storage."""

    phase: str
    metric: str
    by_place: Mapping[Place, Point]

    @property
    def measure(self) -> str:
        """The metric without its operation."""
        return self.metric.partition(".")[2]


def table(view: View, text: Text) -> Table | None:
    """Return a row per cell if cells stand for several storages; else None."""
    drawn = _drawn(view)
    names = {
        storage_name(quantity) for by_phase in drawn.values() for quantity in by_phase.values()
    }
    quantities = [
        quantity for phase in view.phases if (quantity := _quantity(view, phase, list(drawn)))
    ]
    if (
        len(names) < 2
        or len({quantity.measure for quantity in quantities}) < 2
        or len(drawn) > MOST_ROWS
    ):
        return None
    columns = [Column(text("column.cell")), Column(text("column.capacity"))]
    looked_up = {
        quantity.phase: {row: _known(view, quantity, row[1]) for row in drawn}
        for quantity in quantities
        if not view.quick  # Levels of other sizes are not compared.
    }
    known = {phase: published for phase, published in looked_up.items() if any(published.values())}
    for quantity in quantities:
        labels = [text.measure(quantity.measure)]
        labels += [text("column.published")] if quantity.phase in known else []
        labels += [text(f"column.{key}") for key in _watts(quantity)]
        columns += [Column(label, text.name(quantity.phase)) for label in labels]
    rows = []
    for row, by_phase in drawn.items():
        cells = [capacity(next(iter(by_phase.values())), text)]
        for quantity in quantities:
            cells.append(_value(quantity.by_place[row], text))
            if quantity.phase in known:
                cells.append(_published(known[quantity.phase][row], quantity, text))
            cells += _power(quantity, by_phase[quantity.phase], text)
        group = text.world(row[0]) if len({world for world, _ in drawn}) > 1 else ""
        rows.append(Row(text.names(level_words(row[1])), tuple(cells), group))
    note = text("note.comparison") if known else text("note.comparison.power")
    return Table(
        "comparison", text("table.comparison"), tuple(columns), tuple(rows), note, numeric=True
    )


def _drawn(view: View) -> dict[Place, dict[str, Mapping[str, Any]]]:
    """Return the power of each cell's storage by phase; empty if a cell has none or several."""
    drawn: dict[Place, dict[str, Mapping[str, Any]]] = {}
    for cell in view.cells:
        entries = list(cell.get("power", ()))
        if len(entries) != 1:
            return {}
        drawn.setdefault((cell["world"], freeze(cell["levels"])), {})[cell["phase"]] = entries[0]
    is_complete = all(set(by_phase) == set(view.phases) for by_phase in drawn.values())
    return drawn if is_complete else {}


def _quantity(view: View, phase: str, rows: Sequence[Place]) -> Quantity | None:
    """Return the most telling figure of a phase with one stream and one operation."""
    points = view.in_phase(phase)
    subjects, operations = (
        {getattr(p, field) for p in points} for field in ("subject", "operation")
    )
    operation = next(iter(operations), "")
    if len(subjects) != 1 or len(operations) != 1 or operation not in MOVING:
        return None
    by_measure: dict[str, dict[Place, Point]] = {}
    for point in points:
        by_measure.setdefault(point.measure, {})[point.world, point.levels] = point
    rates, means = by_measure.get("iops", {}), by_measure.get("latency.mean", {})
    measure = "iops"
    if any(moves_large_blocks(view, point) for point in rates.values()):
        measure = "bandwidth"
    elif all(row in means and rates[row].value * means[row].value / 1e9 <= ALONE for row in rates):
        measure = "latency.mean"
    by_place = by_measure.get(measure, {})
    metric = f"{operation}.{measure}"
    return Quantity(phase, metric, by_place) if all(row in by_place for row in rows) else None


def _watts(quantity: Quantity) -> tuple[str, ...]:
    return ("power", "iops_per_watt") if quantity.measure == "iops" else ()


def _power(quantity: Quantity, drawn: Mapping[str, Any], text: Text) -> Iterator[Shown]:
    if _watts(quantity):
        yield Shown(format_value("power", drawn["watts"]))
        yield each(drawn["iops_per_watt"], "rate", text)


def _value(point: Point, text: Text) -> Shown:
    value_shown = shown(text, point)
    return Shown(
        value_shown.value, value_shown.interval, model=value_shown.model, beyond=value_shown.beyond
    )


def _known(view: View, quantity: Quantity, levels: Levels) -> list[float]:
    """Return the published values of a cell's quantity, in ascending order."""
    published = {
        entry["published"] * UNITS.get(str(entry.get("unit")), 1.0)
        for entry in view.published
        if entry.get("published") is not None
        and (entry["metric"], entry.get("phase")) == (quantity.metric, quantity.phase)
        and not entry.get("derived")
        and dict(entry["cell"]).items() <= dict(levels).items()
    }
    return sorted(published)


def _published(known: Sequence[float], quantity: Quantity, text: Text) -> Shown:
    ends = (format_value(kind_of(quantity.measure), value) for value in (*known[:1], *known[-1:]))
    return Shown(" – ".join(dict.fromkeys(ends)) or text("cell.none"))
