"""Comparison of several studies with one baseline, in words and one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text as RichText

from tameshi.core.units import format_value
from tameshi.report.comparison import SIGNS, names_of, place_of, ratio_of, sign_of, verdict
from tameshi.report.render.markdown import heading, markdown_table, markdown_text
from tameshi.report.render.terminal import rich_table
from tameshi.report.view.points import family_of, kind_of, unique
from tameshi.report.view.tables import Column, Row, Table, with_marks
from tameshi.report.words.text import Shown, Text

Data = Mapping[str, Any]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def several_terminal(comparisons: Data, lang: str = "en") -> RenderableType:
    """Return sides, verdicts and the table of figures for a `rich` console."""
    text = Text(lang)
    parts: list[RenderableType] = [RichText("\n".join(_sides(comparisons, text)))]
    parts += [RichText("\n".join(_verdicts(comparisons, text)), style="bold")]
    parts += [RichText(line) for line in _sentences(comparisons, text)]
    parts += [rich_table(table) for table in _tables(comparisons, text)]
    return Group(*(part for each in parts for part in (each, RichText(""))))


def several_markdown(comparisons: Data, lang: str = "en") -> str:
    """Return the same as a Markdown page."""
    text = Text(lang)
    parts = [f"# {text('compare.several')}"]
    for lines in (_sides(comparisons, text), _verdicts(comparisons, text)):
        parts.append("\n".join(f"- {markdown_text(line)}" for line in lines))
    parts += [markdown_text(line) for line in _sentences(comparisons, text)]
    for table in _tables(comparisons, text):
        parts += [heading(text, table.id), markdown_table(table)]
    return "\n\n".join(parts) + "\n"


def letter(number: int) -> str:
    """Return the letter of a side, or its number after Z."""
    return LETTERS[number] if number < len(LETTERS) else str(number + 1)


def _sides(comparisons: Data, text: Text) -> Iterator[str]:
    listed = [comparisons["a"], *(each["b"] for each in comparisons["comparisons"])]
    for number, side in enumerate(listed):
        yield text("compare.side", side=letter(number), path=side["path"], study=side["study"])


def _verdicts(comparisons: Data, text: Text) -> Iterator[str]:
    """Yield in a sentence per side whether it is comparable with the baseline."""
    for number, each in enumerate(comparisons["comparisons"], 1):
        yield text("compare.of_side", side=letter(number), verdict=verdict(each, text))


def _sentences(comparisons: Data, text: Text) -> list[str]:
    """Return the chance differences to expect over all sides, and where to find the rest."""
    chances = [each["chance"] for each in comparisons["comparisons"]]
    sums = {
        key: sum(chance[key] for chance in chances)
        for key in ("tested", "expected", "found", "firm", "lone")
    }
    lines = []
    if sums["tested"]:
        expected = f"{sums['expected']:.1f}".removesuffix(".0")
        lines.append(text("compare.chance", **(dict(chances[0]) | sums | {"expected": expected})))
    if sums["lone"]:
        lines.append(text("compare.lone", lone=sums["lone"]))
    signs = text("list.short").join(f"{s} {text(f'outcome.{o}')}" for o, s in SIGNS.items())
    return [*lines, signs, text("compare.pairs")]


def _tables(comparisons: Data, text: Text) -> list[Table]:
    """Return the table of figures: a group per cell, a row per side, a column per measure."""
    groups: dict[tuple[str, ...], str] = {}
    shown: dict[tuple[tuple[str, ...], int], dict[str, Shown]] = {}
    for number, comparison in enumerate(comparisons["comparisons"], 1):
        names = names_of(comparison, text)
        for cell in comparison["cells"]:
            for judgement in cell["judgements"]:
                place = place_of(cell, judgement)
                phase = text.name(cell["phase"])
                name = names[place]
                groups.setdefault(place, name if name == phase else f"{phase} · {name}")
                measure = judgement["metric"].partition(".")[2]
                column = family_of(measure)
                kind = kind_of(measure)
                first = Shown(format_value(kind, judgement["a"]))
                shown.setdefault((place, 0), {}).setdefault(column, first)
                shown.setdefault((place, number), {})[column] = _of_other(text, judgement, kind)
    columns = unique(column for row in shown.values() for column in row)
    if not columns:
        return []
    sides = range(len(comparisons["comparisons"]) + 1)
    rows = [
        _row(letter(number), shown[place, number], columns, group, text)
        for place, group in groups.items()
        for number in sides
        if (place, number) in shown
    ]
    header = (Column(text("column.study")), *(Column(text.measure(c)) for c in columns))
    marked, note = with_marks(rows)
    return [Table("ratios", text("table.several"), header, marked, note, numeric=True)]


def _row(
    head: str, cells: Mapping[str, Shown], columns: Sequence[str], group: str, text: Text
) -> Row:
    none = Shown(text("cell.none"))
    return Row(head, tuple(cells.get(column, none) for column in columns), group=group)


def _of_other(text: Text, judgement: Data, kind: str) -> Shown:
    """Return a value with its judgement, such as `1.2 ms ▲ 1.14 × (1.05–1.24)`."""
    ratio = ratio_of(text, judgement)
    value = format_value(kind, judgement["b"])
    return replace(ratio, value=f"{value} {sign_of(judgement)} {ratio.value}")
