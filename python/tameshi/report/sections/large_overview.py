"""Overview of a large study: answers, verdicts by reason, and where its tables are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tameshi.core.reasons import LEVELS
from tameshi.core.units import format_value
from tameshi.report.sections.large_frontier import best, described
from tameshi.report.view.cell_table import LABEL, CellTable, Load, LoadGain
from tameshi.report.view.section import Page
from tameshi.report.view.tables import Answer, Clause, Column, Row, Table
from tameshi.report.words.text import Shown, Text, modelled

WEIGHTY = 3
"""Settings that an answer names."""
LEAST_SHARE = 0.01
"""Share of variance from which on a setting matters."""


def answers(page: Page) -> Iterator[Answer]:
    """Yield, per load, the gains that are asked for, the ends of its frontier, and the settings
    that matter."""
    text = page.text
    for table in page.inputs.tables:
        for load in table.loads:
            front = best(table, load)
            if front:
                yield Answer(_topic(table, load, text), tuple(_clauses(table, load, front, text)))


def _topic(table: CellTable, load: Load, text: Text) -> str:
    fields = {"load": text.name(load.subject), "operation": text.name(load.operation)}
    return text("large.topic", phase=text.name(table.phase), **fields)


def _gains(table: CellTable, load: Load, text: Text) -> list[str]:
    """Return a clause per gain of a load."""
    own = [g for g in table.gains if (g.subject, g.operation) == (load.subject, load.operation)]
    return [_gain(each, text) for each in own] or _sampled(table, load, text)


def _gain(each: LoadGain, text: Text) -> str:
    made = each.gain
    ends = {
        key: format_value("ratio", end) for key, end in (("low", made.low), ("high", made.high))
    }
    over = text("large.gain_range", pairs=f"{made.pairs:,}", **ends)
    shown = modelled(Shown("", interval=over), "ratio", made.ratio, each.model)
    return text(
        "large.gain",
        setting=text.name(each.setting),
        level=text.name(each.level),
        base=text.name(each.base),
        measure=_measure(each.measure, text),
        ratio=format_value("ratio", made.ratio),
        aside=text.aside(shown),
    )


def _measure(measure: str, text: Text) -> str:
    return text("axis.rate") if measure == "rate" else text.measure(measure)


def _sampled(table: CellTable, load: Load, text: Text) -> list[str]:
    """Return a clause per weighty setting of samples, which have no pairs of cells."""
    effects = table.effects.get((load.subject, load.operation, "rate"), ())
    ranked = sorted(range(len(effects)), key=lambda place: -effects[place].share)[:WEIGHTY]
    found = []
    for place in ranked:
        setting, each = table.settings[place], effects[place]
        if each.low <= LEAST_SHARE or setting.kind == LABEL:
            continue
        low, high = (format_value("ratio", end) for end in (each.ratio_low, each.ratio_high))
        ends = (float(end(setting.values)) for end in (np.nanmin, np.nanmax))
        base, level = map(setting.shown, ends)
        fields = {"level": level, "base": base, "measure": text("axis.rate")}
        aside = text.aside(Shown("", interval=text("large.ends_range", low=low, high=high)))
        ratio = format_value("ratio", each.ratio)
        name = text.name(setting.name)
        found.append(text("large.gain", setting=name, ratio=ratio, aside=aside, **fields))
    return found


def _clauses(table: CellTable, load: Load, front: list[int], text: Text) -> Iterator[Clause]:
    if gains := _gains(table, load, text):
        yield Clause("", "", text("large.gains", items=text("list.separator").join(gains)))
    ends = (front[0], front[-1])
    first, last = (described(table, load, row, text, with_model=True) for row in ends)
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
