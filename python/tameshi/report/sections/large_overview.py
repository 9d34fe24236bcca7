"""Overview of a large study: answers, verdicts by reason, and where its tables are."""

from __future__ import annotations

from collections.abc import Iterator

from tameshi.core.reasons import LEVELS
from tameshi.report.sections.large_frontier import best, described
from tameshi.report.view.cell_table import CellTable, Load
from tameshi.report.view.section import Page
from tameshi.report.view.tables import Answer, Clause, Column, Row, Table
from tameshi.report.words.text import Shown, Text

WEIGHTY = 3
"""Settings that an answer names."""
LEAST_SHARE = 0.01
"""Share of variance from which on a setting matters."""


def answers(page: Page) -> Iterator[Answer]:
    """Yield, per load, the ends of its frontier and the settings that matter."""
    text = page.text
    for table in page.inputs.tables:
        for load in table.loads:
            front = best(table, load)
            if front:
                yield Answer(_topic(table, load, text), tuple(_clauses(table, load, front, text)))


def _topic(table: CellTable, load: Load, text: Text) -> str:
    fields = {"load": text.name(load.subject), "operation": text.name(load.operation)}
    return text("large.topic", phase=text.name(table.phase), **fields)


def _clauses(table: CellTable, load: Load, front: list[int], text: Text) -> Iterator[Clause]:
    first, last = (described(table, load, row, text) for row in (front[0], front[-1]))
    if len(front) == 1:
        sentence = text("large.one", cells=f"{table.rows:,}", first=first)
    else:
        count = len(front)
        fields = {"cells": f"{table.rows:,}", "count": count, "first": first, "last": last}
        sentence = text("large.frontier", **fields)
    key = (load.subject, load.operation, load.measure)
    effects = table.effects.get(key, ())
    ranked = sorted(range(len(effects)), key=lambda place: -effects[place].share)[:WEIGHTY]
    named = [
        text(
            "large.setting",
            name=text.name(table.settings[place].name),
            share=f"{effects[place].share * 100:.0f} %",
        )
        for place in ranked
        if effects[place].low > LEAST_SHARE
    ]
    if named:
        settings = text("list.short").join(named)
        measure = text.measure(load.measure)
        sentence += " " + text("large.settings", measure=measure, settings=settings)
    yield Clause("", "", sentence)


def verdicts(page: Page) -> Table | None:
    """Return the number of cells by verdict."""
    large, text = page.view.large, page.text
    if not large:
        return None
    rows = [
        Row(text.verdict(level), (Shown(f"{large['verdicts'][level]:,}"),), mark=level)
        for level in reversed(LEVELS)
        if large["verdicts"].get(level)
    ]
    columns = (Column(text("column.verdict")), Column(text("column.cells")))
    return Table("verdicts", text("table.verdicts"), columns, tuple(rows), numeric=True)


def reasons(page: Page) -> Table | None:
    """Return each kind of reason with its number of cells."""
    large, text = page.view.large, page.text
    if not large or not large["reasons"]:
        return None
    rows = [
        Row(text.reason(each["reason"]), (Shown(f"{each['cells']:,}"),))
        for each in large["reasons"]
    ]
    columns = (Column(text("column.reasons")), Column(text("column.cells")))
    return Table("reasons", text("table.reasons"), columns, tuple(rows), text("note.reasons"))


def data(page: Page) -> list[str]:
    """Return the number of runs, and where the tables are."""
    large, text = page.view.large, page.text
    if not large:
        return []
    lines = [text("large.runs", **{key: f"{n:,}" for key, n in large["runs"].items()})]
    return lines + [
        text(f"large.{name}", rows=f"{large['tables'][name]['rows']:,}", files=files)
        for name in ("cells", "estimates")
        for files in [large["tables"][name]["files"]]
    ]
