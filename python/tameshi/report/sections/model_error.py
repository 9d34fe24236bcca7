"""Model error of simulated databases in plots of cells and time series, and notes below tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tameshi.analysis.stats import programs
from tameshi.analysis.stats.estimates import of_phase
from tameshi.report.view.figures import Figure, Panel, Scale, of_points
from tameshi.report.view.points import (
    Levels,
    Point,
    View,
    freeze,
    is_kind,
    kind_of,
    level_words,
)
from tameshi.report.view.tables import Table
from tameshi.report.view.time_figures import MODELS
from tameshi.report.words.text import BEYOND, Phrase, Text

WORLD = "simulated"
METRICS = {
    "statements": "statement.rate",
    "hit_ratio": "server.hit_ratio",
    "reads": "server.read_rate",
    "writes": "server.write_rate",
}
"""Quantity of a plot, and its estimate."""
STATES = {"dirty": "server.dirty_bytes", "checkpoint_age": "server.checkpoint_age_bytes"}
OVER_TIME = METRICS | STATES
"""Estimate whose model interval applies to a quantity over time."""
TAIL = "latency.p99"
COLUMNS = 3
MOST_LINES = 4
"""Lines per plot; with more of them the plot is split."""
MOST_BANDS = 2
"""Bands per plot; more of them would hide the lines, and tables have the model error."""
_LOG_RANGE = 8.0

Place = tuple[str, Levels]


def figures(view: View) -> list[Figure]:
    """Return plots of each simulated database cell's main figures with both intervals."""
    panels = [panel for metric, points in _plotted(view) if (panel := _panel(view, metric, points))]
    if not any(series.modelled for panel in panels for series in panel.series):
        return []
    return [
        Figure(
            "modelled",
            Phrase("figure.modelled"),
            Phrase("axis.none"),
            "dot",
            Scale(Phrase("axis.none"), "number", categories=tuple(_names(view).values())),
            Scale(Phrase("axis.none"), "number"),
            tuple(panels),
            min(COLUMNS, len(panels)),
            common=False,
            whiskers="hint.whiskers_modelled",
        )
    ]


def _names(view: View) -> dict[Place, tuple[str, ...]]:
    """Return names of the simulated database cells: levels, and phase if there are several."""
    cells = [
        cell
        for cell in view.cells
        if cell["world"] == WORLD and _estimate(cell, METRICS["statements"])
    ]
    phases = len({cell["phase"] for cell in cells}) > 1
    names = {}
    for cell in cells:
        levels = freeze(cell["levels"])
        name = (*([cell["phase"]] if phases else []), *(level for _, level in levels))
        names[cell["phase"], levels] = name or (cell["phase"],)
    return names


def _plotted(view: View) -> Iterator[tuple[Phrase, list[Point]]]:
    """Yield the plotted figures: statements, p99 of the most frequent transaction, server
    figures."""
    names = _names(view)
    by_metric: dict[str, list[Point]] = {}
    for point in view.points:
        if point.world == WORLD and (point.phase, point.levels) in names:
            by_metric.setdefault(f"{point.operation}.{point.measure}", []).append(point)
    for metric in METRICS.values():
        points = by_metric.get(metric, [])
        yield Phrase(f"measure.{metric}"), [p for p in points if "." not in p.subject] or points
        if metric == METRICS["statements"]:
            tails = by_metric.get(f"transaction.{TAIL}", [])
            chief = _chief(by_metric.get("transaction.rate", []))
            tails = [p for p in tails if p.subject == chief]
            yield Phrase("axis.p99_of", {"name": chief}), tails


def _chief(rates: Sequence[Point]) -> str:
    """Return the most frequent transaction type; the program if it has no types."""
    kinds = [p for p in rates if is_kind(p.key)] or rates
    sums: dict[str, float] = {}
    for point in kinds:
        sums[point.subject] = sums.get(point.subject, 0.0) + point.value
    return programs.chief(sums, "")


def _panel(view: View, label: Phrase, points: Sequence[Point]) -> Panel | None:
    places = {place: float(i) for i, place in enumerate(_names(view))}
    placed = [(places[p.phase, p.levels], p) for p in points]
    if not placed:
        return None
    values = [value for p in points for value in (p.value, *(p.band or ()))]
    log = min(values) > 0 and max(values) > _LOG_RANGE * min(values)
    scale = Scale(label, kind_of(points[0].measure), log)
    return Panel((), (of_points((WORLD,), placed),), y=scale)


def banded(view: View, series: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return lines over time with model bounds, split if there are many."""
    return [part for entry in series for part in _banded(view, entry)]


def _banded(view: View, entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    quantity = entry.get("quantity")
    if quantity is None:
        yield {**entry, MODELS: _models_of_kinds(view, entry)}
        return
    phase = str(entry["name"]).removesuffix(f", {quantity}")
    cells = {
        " ".join(level for _, level in freeze(cell["levels"])) or phase: cell
        for cell in view.cells
        if cell["world"] == entry["world"] and cell["phase"] == phase
    }
    banded = len(entry["values"]) <= MOST_BANDS
    models = {
        name: [_bounds(value, estimate, share=quantity == "hit_ratio") for value in values]
        for name, values in entry["values"].items()
        if banded and (estimate := _estimate(cells.get(name), OVER_TIME[quantity]))
    }
    yield from _parts({**entry, MODELS: models}, cells, _rows_of_answer(view))


def _rows_of_answer(view: View) -> str:
    """Return the axis along the rows of the study's answer: each of its levels has a plot."""
    table = next(iter(view.answer.get("table") or ()), None)
    return str(table["rows"]) if table and table.get("columns") else ""


def _models_of_kinds(view: View, entry: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the model bounds of one run's lines, each a program's or type's transaction rate."""
    place = entry["world"], entry["name"], freeze(entry.get("cell", {}))
    cells = (c for c in view.cells if (c["world"], c["phase"], freeze(c["levels"])) == place)
    estimates = {
        f"{estimate['subject']} transaction": estimate
        for cell in cells
        for estimate in of_phase(cell)
        if estimate["metric"] == "transaction.rate" and estimate.get("model")
    }
    return {
        name: [_bounds(value, estimates[name], share=False) for value in values]
        for name, values in entry["values"].items()
        if name in estimates
    }


def _parts(
    entry: Mapping[str, Any], cells: Mapping[str, Mapping[str, Any]], first: str
) -> Iterator[Mapping[str, Any]]:
    """Yield parts of the lines, split by the axis `first` and then by as few levels as possible."""
    levels = {
        name: tuple(sorted(freeze(cells[name]["levels"]), key=lambda pair: pair[0] != first))
        if name in cells
        else ()
        for name in entry["values"]
    }
    for depth in range(max(map(len, levels.values()), default=0) + 1):
        groups: dict[Levels, list[str]] = {}
        for name, names_levels in levels.items():
            groups.setdefault(names_levels[:depth], []).append(name)
        if max(map(len, groups.values()), default=0) <= MOST_LINES:
            break
    parts = list(groups.items())
    if len(parts) > MOST_LINES and len(parts) == len(levels):
        # The names share no level.
        names_all, depth = list(levels), 0
        parts = [((), names_all[i : i + MOST_LINES]) for i in range(0, len(names_all), MOST_LINES)]
    styles: dict[tuple[str, ...], int] = {}
    for part, (names_levels, names) in enumerate(parts):
        kept = {
            key: {name: entry[key][name] for name in names if name in entry[key]}
            for key in ("values", "low", "high", MODELS)
            if key in entry
        }
        names_left = {name: level_words(levels[name][depth:]) or (name,) for name in names}
        numbers = {name: styles.setdefault(names_left[name], len(styles)) for name in names}
        yield {
            **entry,
            **kept,
            "names": names_left,
            "styles": numbers,
            "levels": level_words(names_levels),
            "part": part,
        }


def _estimate(cell: Mapping[str, Any] | None, metric: str) -> Mapping[str, Any] | None:
    """Return a cell's estimate with a model interval, of the whole program."""
    if cell is None or cell["world"] != WORLD:
        return None
    modelled = [e for e in of_phase(cell) if e["metric"] == metric and e.get("model")]
    of_program = [e for e in modelled if "." not in e["subject"]]
    return next(iter(of_program or modelled), None)


def _bounds(
    value: float | None, estimate: Mapping[str, Any], *, share: bool
) -> tuple[float, float] | None:
    """Return bounds at the estimate's relative model error; for shares, by the odds."""
    if value is None:
        return None
    middle, model = estimate["value"], estimate["model"]
    if not share:
        return value * model["low"] / middle, value * model["high"] / middle
    if not 0 < value < 1:
        return float(value), float(value)
    low, high = (
        1 / (1 + math.exp(-(_odds(value) + _odds(model[end]) - _odds(middle))))
        for end in ("low", "high")
    )
    return low, high


def _odds(share: float) -> float:
    kept = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(kept / (1 - kept))


def with_models(tables: Iterable[Table], text: Text) -> list[Table]:
    """Return tables with notes that explain their model intervals."""
    return [_with_models(table, text) for table in tables]


def _with_models(table: Table, text: Text) -> Table:
    cells = [cell for row in table.rows for cell in row.cells if cell.model]
    if not cells:
        return table
    notes = [text.sentence(table.note), text("note.modelled")]
    notes += [text("note.beyond", sign=BEYOND)] if any(cell.beyond for cell in cells) else []
    return replace(table, note=" ".join(part for part in notes if part))
