"""Interference matrix: tail latencies of loads alone, in pairs and together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tameshi.report.view.key_figures import ratio_of
from tameshi.report.view.points import Point, View, without_parts
from tameshi.report.view.tables import Column, Row, Table, shown
from tameshi.report.words.text import Shown, Text

TAIL = "latency.p999"
FEWEST_PAIRS = 3
"""Least pairs of a matrix."""

Subjects = frozenset[str]


@dataclass(frozen=True)
class Matrix:
    """Phases by their loads: each load alone, each pair, and all together."""

    alone: dict[str, Subjects]
    pairs: dict[frozenset[str], str]
    together: str | None

    def beside(self, load: str, other: str) -> str | None:
        """Return the phase with exactly these two loads."""
        return self.pairs.get(frozenset((load, other)))


def matrix_of(view: View) -> Matrix | None:
    """Return the matrix that a study's phases form, if any.

    A load is a phase whose streams are no union of smaller phases.
    """
    streams = {phase: _streams(view, phase) for phase in view.phases}
    by_streams: dict[Subjects, str] = {}
    for phase, subjects in streams.items():
        by_streams.setdefault(subjects, phase)
    alone = {
        phase: subjects
        for subjects, phase in by_streams.items()
        if subjects and not _is_union(subjects, by_streams)
    }
    pairs = {
        frozenset((first, second)): by_streams[alone[first] | alone[second]]
        for first, second in itertools.combinations(alone, 2)
        if alone[first] | alone[second] in by_streams and not alone[first] & alone[second]
    }
    if len(pairs) < FEWEST_PAIRS:
        return None
    everything = frozenset[str]().union(*alone.values())
    together = by_streams.get(everything) if len(alone) > 2 else None
    return Matrix(alone, pairs, together)


def _streams(view: View, phase: str) -> Subjects:
    """Return the streams of a phase without levels; empty with levels."""
    points = view.in_phase(phase)
    return frozenset() if any(p.levels for p in points) else frozenset(p.subject for p in points)


def _is_union(subjects: Subjects, known: dict[Subjects, str]) -> bool:
    smaller = [other for other in known if other and other < subjects]
    return frozenset[str]().union(*smaller) == subjects


def tables(view: View, text: Text) -> list[Table]:
    """Return a table per world: disturbed loads down, disturbing ones across."""
    matrix = matrix_of(view)
    if matrix is None:
        return []
    return [table for world in view.worlds if (table := _table(view, text, matrix, world)).rows]


def _table(view: View, text: Text, matrix: Matrix, world: str) -> Table:
    columns = [Column(text("column.disturbed_load")), Column(text("column.alone"))]
    columns += [Column(text.name(load), text("column.with_load")) for load in matrix.alone]
    if matrix.together:
        columns.append(Column(text("column.with_all")))
    rows = [row for load in matrix.alone for row in _rows(view, text, matrix, world, load)]
    caption = text("table.interference", world=text.world(world))
    note = text("note.interference")
    return Table(f"interference-{world}", caption, tuple(columns), tuple(rows), note, numeric=True)


def _rows(view: View, text: Text, matrix: Matrix, world: str, load: str) -> Iterator[Row]:
    here = [p for p in view.in_phase(load) if p.world == world and p.measure == TAIL]
    for base in without_parts(here):
        phases: Sequence[str | None] = [
            *(matrix.beside(load, other) for other in matrix.alone),
            *([matrix.together] if matrix.together else []),
        ]
        cells = [_cell(view, text, base, phase) for phase in phases]
        head = text.names((base.subject, base.operation))
        yield Row(head, (_plain(text, base), *cells))


def _plain(text: Text, point: Point) -> Shown:
    """Return a value without its interval, to fit a matrix cell."""
    return Shown(shown(text, point).value)


def _cell(view: View, text: Text, base: Point, phase: str | None) -> Shown:
    """Return the same tail with other loads, and its ratio to the tail alone."""
    matching = (
        p
        for p in view.in_phase(phase or "")
        if (p.world, p.key, p.measure) == (base.world, base.key, base.measure)
    )
    point = next(matching, None)
    if point is None:
        return Shown(text("cell.none"))
    ratio = ratio_of(view, point, base)
    ratio_shown = text.shown("ratio", ratio.value, None, None, ratio.runs).value if ratio else ""
    return (
        Shown(_plain(text, point).value, note=ratio_shown) if ratio_shown else _plain(text, point)
    )
