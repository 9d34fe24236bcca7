"""Comparison of two studies in words and tables, from the plain data of `tameshi.compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text as RichText

from tameshi.core.units import format_value
from tameshi.report.render.markdown import heading, markdown_table, markdown_text
from tameshi.report.render.terminal import rich_table
from tameshi.report.sections.model_error import with_models
from tameshi.report.view.points import family_of, freeze, kind_of, unique
from tameshi.report.view.tables import Column, Row, Table, level_name, with_marks
from tameshi.report.words.text import Shown, Text, modelled

Data = Mapping[str, Any]

SIGNS = {"better": "▲", "same": "=", "worse": "▼", "undecided": "?", "not_judged": "–"}
_STYLES = {"better": "green", "worse": "red", "undecided": "dim", "not_judged": "dim"}
_LEVEL_STYLES = {"comparable": "green", "differences": "yellow", "incomparable": "red"}
_UNSURE = "*"
# Facts named in the verdict's line; the table below has them all.
_NAMED = 4
_CHANGES = 5
# Reasons shown in place of an interval.
_REASONS = ("invalid", "incomparable", "identical")


def comparison_terminal(comparison: Data, lang: str = "en") -> RenderableType:
    """Return verdict, explanation and tables for a `rich` console."""
    text = Text(lang)
    level = comparison["verdict"]["level"]
    parts: list[RenderableType] = [RichText(line) for line in sides(comparison, text)]
    parts += [RichText(verdict(comparison, text), style=f"bold {_LEVEL_STYLES[level]}")]
    parts += [RichText(line) for line in sentences(comparison, text)]
    parts += [rich_table(table, _styles(text)) for table in tables(comparison, text)]
    parts += [RichText(line) for line in _equal(comparison, text)]
    return Group(*(part for each in parts for part in (each, RichText(""))))


def comparison_markdown(comparison: Data, lang: str = "en") -> str:
    """Return the same as a Markdown page."""
    text = Text(lang)
    title = text("compare.title")
    parts = [f"# {title}", *(markdown_text(line) for line in sides(comparison, text))]
    parts += [f"**{markdown_text(verdict(comparison, text))}**"]
    parts += [markdown_text(line) for line in sentences(comparison, text)]
    for table in tables(comparison, text):
        parts += [heading(text, table.id), markdown_table(table)]
    parts += [markdown_text(line) for line in _equal(comparison, text)]
    return "\n\n".join(parts) + "\n"


def _styles(text: Text) -> dict[str, str]:
    """Return colours by a cell's first word; colour is never the only sign."""
    return {f"{SIGNS[o]} {text(f'outcome.{o}')}": style for o, style in _STYLES.items()}


def sides(comparison: Data, text: Text) -> list[str]:
    """Return the paths and studies of A and B."""
    return [
        text(
            "compare.side",
            side=side.upper(),
            path=comparison[side]["path"],
            study=comparison[side]["study"],
        )
        for side in ("a", "b")
    ]


def verdict(comparison: Data, text: Text) -> str:
    """Return in one sentence whether the two are comparable."""
    level, because = comparison["verdict"]["level"], comparison["verdict"]["because"]
    key = because
    if because == "facts" and level == "incomparable":
        key = "broken"
    effect = "breaks" if key in ("broken", "some_cells") else "may"
    fields = {
        "facts": _facts(comparison, text, effect),
        "question": _facts(comparison, text, "question"),
        "broken": str(sum(_barred(cell) for cell in comparison["cells"])),
        "of": str(len(comparison["cells"])),
    }
    sentence = text(f"because.{key}", **fields)
    return text("compare.verdict", level=text(f"level.{level}"), because=sentence)


def _barred(cell: Data) -> bool:
    return any(judgement["why"] == "incomparable" for judgement in cell["judgements"])


def _facts(comparison: Data, text: Text, effect: str) -> str:
    """Return the facts of one effect as a list in prose; subjects of one fact are grouped."""
    subjects: dict[str, dict[str, None]] = {}
    for difference in comparison["differences"]:
        if difference["effect"] == effect:
            subjects.setdefault(difference["fact"], {})[difference["subject"]] = None
    labels = []
    for fact, about in subjects.items():
        named = [subject for subject in about if subject]
        label = text.fact(fact)
        if named:
            some = text("list.short").join([*named[:_NAMED], *(["…"] if named[_NAMED:] else [])])
            label = text("compare.by_subject", facts=label, subject=some)
        labels.append(label)
    return text("list.short").join([*labels[:_NAMED], *(["…"] if labels[_NAMED:] else [])])


def sentences(comparison: Data, text: Text) -> list[str]:
    """Return counts of outcomes, false positives to expect, and cells on one side only."""
    counts, chance = comparison["counts"], comparison["chance"]
    within = 1 + comparison["options"]["within"]
    lines = []
    if comparison["cells"]:
        if comparison["verdict"]["level"] == "incomparable":
            lines.append(text("compare.not_decided"))
        else:
            lines.append(text("compare.counts", total=sum(counts.values()), **counts))
            bounds = {"low": f"{1 / within:.3g}", "high": f"{within:.3g}"}
            lines.append(text("compare.rule", **bounds))
    if chance["tested"]:
        expected = f"{chance['expected']:.1f}".removesuffix(".0")
        lines.append(text("compare.chance", **(dict(chance) | {"expected": expected})))
    if chance["lone"]:
        lines.append(text("compare.lone", lone=chance["lone"]))
    alone = {side: len(cells) for side, cells in comparison["only"].items()}
    if any(alone.values()):
        lines.append(text("compare.only", **alone))
    return lines


def _equal(comparison: Data, text: Text) -> list[str]:
    """Return the facts that are equal on both sides."""
    facts = text("list.short").join(text.fact(key) for key in comparison["equal"])
    return [text("compare.equal", facts=facts)] if facts else []


def tables(comparison: Data, text: Text) -> list[Table]:
    """Return the largest changes, all cells, and the differences, without empty tables."""
    filled = [
        _changes(comparison, text),
        _ratios(comparison, text),
        _differences(comparison, text),
    ]
    return with_models((table for table in filled if table.rows), text)


def _differences(comparison: Data, text: Text) -> Table:
    rows = []
    for difference in comparison["differences"]:
        values = (text.fact_value(difference["fact"], difference[side]) for side in ("a", "b"))
        a, b = (value or text("cell.unknown") for value in values)
        total = difference["of"]
        cells = (
            text("cell.all", count=total)
            if difference["cells"] == total
            else text("cell.some", count=difference["cells"], total=total)
        )
        values_shown = (text(f"effect.{difference['effect']}"), a, b, cells)
        rows.append(
            Row(
                text.fact(difference["fact"], difference["subject"]),
                tuple(Shown(c) for c in values_shown),
            )
        )
    names = ("fact", "effect")
    columns = [Column(text(f"column.{name}")) for name in names]
    columns += [Column("A"), Column("B"), Column(text("column.cells"))]
    return Table("differences", text("table.differences"), tuple(columns), tuple(rows))


def _changes(comparison: Data, text: Text) -> Table:
    """Return the differences farthest from 1, certain ones first, with both values."""
    differ = [
        (cell, judgement)
        for cell in comparison["cells"]
        for judgement in cell["judgements"]
        if judgement["outcome"] in ("better", "worse")
    ]
    differ.sort(key=lambda found: (not found[1]["firm"], -abs(math.log(found[1]["ratio"]))))
    names = names_of(comparison, text)
    rows = []
    for cell, judgement in differ[:_CHANGES]:
        measure = judgement["metric"].partition(".")[2]
        kind = kind_of(measure)
        where = (_group(comparison, cell, text), names[place_of(cell, judgement)])
        values = (_modelled(judgement, side, kind, judgement[side]) for side in ("a", "b"))
        cells = [Shown(text.measure(measure)), *values]
        cells += [ratio_of(text, judgement), Shown(_outcome(text, judgement))]
        rows.append(Row(" · ".join(part for part in where if part), tuple(cells)))
    keys = ("cell", "metric", "a", "b", "b_to_a", "outcome")
    columns = tuple(Column(k.upper() if len(k) == 1 else text(f"column.{k}")) for k in keys)
    marked, note = with_marks(rows)
    return Table("changes", text("table.changes"), columns, marked, note, numeric=True)


def _ratios(comparison: Data, text: Text) -> Table:
    """Return the table of all cells: cells down, grouped by phase; measures across."""
    names = names_of(comparison, text)
    rows: dict[tuple[str, ...], dict[str, Shown]] = {}
    heads: dict[tuple[str, ...], tuple[str, str]] = {}
    for cell in comparison["cells"]:
        for judgement in cell["judgements"]:
            place = place_of(cell, judgement)
            measure = family_of(judgement["metric"].partition(".")[2])
            # A stream's rate is one column, in operations or bytes.
            column = "rate" if _primary(comparison) and measure == "bandwidth" else measure
            rows.setdefault(place, {})[column] = _judged(text, judgement)
            heads[place] = (names[place], _group(comparison, cell, text))
    columns = unique(column for row in rows.values() for column in row)
    none = Shown(text("cell.none"))
    shown = [
        Row(heads[place][0], tuple(row.get(c, none) for c in columns), group=heads[place][1])
        for place, row in rows.items()
    ]
    labels = [
        Column(text("column.throughput") if column == "rate" else text.measure(column))
        for column in columns
    ]
    header = (Column(text("column.cell")), *labels)
    marked, note = with_marks(_folded(shown, text))
    return Table("ratios", text("table.ratios"), header, marked, note, numeric=True)


def _folded(rows: Sequence[Row], text: Text) -> list[Row]:
    """Return the rows with phases of identical runs folded into one row."""
    identical = text("why.identical")
    folded = []
    for group in unique(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        if len(members) > 1 and all(c.note == identical for row in members for c in row.cells):
            members = [replace(members[0], head=text("cell.all", count=len(members)))]
        folded += members
    return folded


def _primary(comparison: Data) -> bool:
    return bool(comparison["options"]["metrics"] == "primary")


def place_of(cell: Data, judgement: Data) -> tuple[str, ...]:
    """Return a value that identifies a stream's operation in a cell."""
    worlds = cell["world"]["a"], cell["world"]["b"]
    operation = judgement["metric"].partition(".")[0]
    return (*worlds, cell["phase"], str(freeze(cell["levels"])), judgement["subject"], operation)


def _group(comparison: Data, cell: Data, text: Text) -> str:
    """Return the phase, with the worlds if there are several or two different ones."""
    phase, (a, b) = text.name(cell["phase"]), (cell["world"]["a"], cell["world"]["b"])
    if a != b:
        return f"{text('column.ratio', top=text.world(b), bottom=text.world(a))} · {phase}"
    several = len(comparison["options"]["worlds"]) > 1
    return f"{text.world(a)} · {phase}" if several else phase


def names_of(comparison: Data, text: Text) -> dict[tuple[str, ...], str]:
    """Return the shortest unique names within each phase: levels, then stream and operation."""
    names = {}
    for phase in unique(cell["phase"] for cell in comparison["cells"]):
        cells = [cell for cell in comparison["cells"] if cell["phase"] == phase]
        keys = {place_of(c, j): c for c in cells for j in c["judgements"]}
        streams = unique(key[4] for key in keys)
        for key, cell in keys.items():
            twins = {other[5] for other in keys if other[:5] == key[:5]}
            parts = [level_name(text, *pair) for pair in freeze(cell["levels"])]
            parts += [text.name(key[4])] if len(streams) > 1 else []
            parts += [text.name(key[5])] if len(twins) > 1 or not parts else []
            names[key] = text("list.short").join(parts)
    return names


def _judged(text: Text, judgement: Data) -> Shown:
    """Return a judgement such as `▲ better 1.14 × (1.05–1.24)`."""
    ratio = ratio_of(text, judgement)
    return replace(ratio, value=f"{_outcome(text, judgement)} {ratio.value}")


def _outcome(text: Text, judgement: Data) -> str:
    sign, outcome = sign_of(judgement), judgement["outcome"]
    return f"{sign[:1]} {text(f'outcome.{outcome}')}{sign[1:]}"


def sign_of(judgement: Data) -> str:
    """Return the sign of an outcome, with a star if chance alone may explain it."""
    outcome = judgement["outcome"]
    unsure = outcome in ("better", "worse") and not judgement["firm"]
    return f"{SIGNS[outcome]}{_UNSURE if unsure else ''}"


def ratio_of(text: Text, judgement: Data) -> Shown:
    """Return the ratio to A with its interval, or the reason that it has none."""
    if judgement["ratio"] is None:
        return Shown(text("cell.none"))
    sampling = judgement["sampling"]
    bounds = (sampling["low"], sampling["high"])
    shown = text.shown("ratio", judgement["ratio"], *bounds, int(sampling["runs"] or 0))
    if judgement["why"] in _REASONS:
        return Shown(shown.value, note=text(f"why.{judgement['why']}"))
    off = _modelled(judgement, "ratio", "ratio", judgement["ratio"])
    return replace(shown, model=off.model, beyond=off.beyond)


def _modelled(judgement: Data, part: str, kind: str, value: float) -> Shown:
    """Return a value with its model error, marked outside the validated range."""
    value_shown = Shown(format_value(kind, value))
    model = (judgement.get("models") or {}).get(part)
    if not model:
        return value_shown
    beyond = model.get("inside_range") is False
    return modelled(value_shown, kind, value, (model["low"], model["high"]), beyond=beyond)
