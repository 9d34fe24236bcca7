"""Answers and tables of a report, for HTML, Markdown and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis.stats.served import CODES as SERVED_CODES
from tameshi.core import reasons as of_reasons
from tameshi.core.reasons import Reason
from tameshi.core.units import format_value
from tameshi.report.view.points import Point, freeze, kind_of, number
from tameshi.report.words.text import CROSS, Shown, Text, modelled

_MARKS = "†‡§¶"
SERVED = "served"
"""Common kind of the reasons of served drives."""


@dataclass(frozen=True)
class Clause:
    """Part of an answer for one world; without a world for all."""

    world: str
    label: str
    sentence: str


@dataclass(frozen=True)
class Answer:
    """Line of the answer: its topic, and a sentence per world."""

    topic: str
    clauses: tuple[Clause, ...]


@dataclass(frozen=True)
class Column:
    """Header of a column; neighbours of one `group` share a common header."""

    label: str
    group: str = ""


@dataclass(frozen=True)
class Row:
    """Row: header, cells, group, and a verdict's mark."""

    head: str
    cells: tuple[Shown, ...]
    group: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Table:
    """Table ready to print; the first column holds the rows' headers."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    numeric: bool = False

    @property
    def bare(self) -> bool:
        """True if no value has an interval."""
        return not any(cell.interval for row in self.rows for cell in row.cells)


def shown(text: Text, point: Point) -> Shown:
    """Return a point's value as tables and sentences print it."""
    kind = kind_of(point.measure)
    value_shown = text.shown(kind, point.value, point.low, point.high, point.runs)
    faults = () if point.sound else point.faults
    value_shown = replace(value_shown, faults=faults, crossed=not point.sound)
    return modelled(value_shown, kind, point.value, point.band, beyond=point.outside_model)


def said(text: Text, point: Point) -> Shown:
    """Return a point's value as sentences print it: tables give the model error of drives."""
    value_shown = shown(text, point)
    return replace(value_shown, model="") if point.drive and not point.tried else value_shown


def value_cell(text: Text, point: Point | None) -> Shown:
    """Return a point as a table cell, marked if it holds only for a reduced drive."""
    if point is None:
        return Shown(text("cell.none"))
    value_shown = shown(text, point)
    if point.operations is None:
        return value_shown
    value_shown = replace(
        value_shown, at=text("cell.of", count=format_value("number", point.operations))
    )
    if point.of_a_part:
        return replace(value_shown, interval="", note=text("note.of_a_part"))
    return value_shown


def estimates_table(
    text: Text,
    table_id: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
) -> Table:
    """Return a table of estimates; reasons of invalid ones follow in its note."""
    marked, note = with_marks(rows)
    if note in (text("note.one_run"), text("note.no_interval")):
        note = ""  # No value has an interval, as the caveats say.
    joined = " ".join(filter(None, [note, *_faults(rows, text)]))
    return Table(table_id, caption, tuple(columns), marked, joined, numeric=True)


def _faults(rows: Sequence[Row], text: Text) -> Iterator[str]:
    """Yield the reasons of invalid values: a sentence for those with the same kinds of reasons."""
    by_kinds: dict[tuple[str, ...], list[Reason]] = {}
    for cell in (cell for row in rows for cell in row.cells if cell.faults):
        by_kinds.setdefault(kinds_of(cell.faults), []).extend(cell.faults)
    for faults in by_kinds.values():
        joined = text("list.short").join(text.reasons(faults))
        yield text("note.crossed", sign=CROSS, reasons=joined)


def kinds_of(reasons: Sequence[Reason]) -> tuple[str, ...]:
    """Return the kinds of a cell's reasons.

    Those of served drives are of one kind: there are too many combinations of them.
    """
    kinds = (
        SERVED if each["code"] in SERVED_CODES else of_reasons.kind_of(each) for each in reasons
    )
    return tuple(dict.fromkeys(kinds))


def with_marks(rows: Sequence[Row]) -> tuple[tuple[Row, ...], str]:
    """Return the rows with marks for missing intervals, and the note that explains them.

    Without any interval in the table there are no marks.
    """
    cells = [cell for row in rows for cell in row.cells]
    notes = list(dict.fromkeys(cell.note for cell in cells if cell.note))
    bare = len(notes) == 1 and not any(cell.interval for cell in cells)
    marks = {note: "" if bare else _MARKS[i % len(_MARKS)] for i, note in enumerate(notes)}
    marked = tuple(
        replace(
            row, cells=tuple(replace(c, mark=marks.get(c.note, ""), note="") for c in row.cells)
        )
        for row in rows
    )
    return marked, " ".join(f"{mark} {note}".strip() for note, mark in marks.items())


def cell_name(text: Text, cell: Mapping[str, Any]) -> str:
    """Return a cell in words: `simulated, sweep: random read, depth 64`."""
    levels = text("list.short").join(level_name(text, *pair) for pair in freeze(cell["levels"]))
    where = f"{text.world(cell['world'])} · {text.name(cell['phase'])}"
    return f"{where} · {levels}" if levels else where


def levels_name(text: Text, cell: Mapping[str, Any]) -> str:
    """Return the levels of a cell, each after its axis; without any, its phase."""
    levels = freeze(cell["levels"])
    named = (f"{text.name(axis)} {text.name(label)}" for axis, label in levels)
    return text("list.short").join(named) or text.name(cell["phase"])


def level_name(text: Text, axis: str, label: str) -> str:
    """Return a level in words; a number follows its axis."""
    return f"{text.name(axis)} {label}" if number(label) is not None else text.name(label)
