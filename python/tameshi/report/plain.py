"""The report without a browser: five lines for the terminal, all its tables for rich, Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from tameshi.report import (
    asked,
    database,
    endurance,
    interference,
    limits,
    offers,
    power,
    slowest,
    standing,
    timeline,
    why,
)
from tameshi.report.asked import answers
from tameshi.report.happening import missing
from tameshi.report.inputs import ReportInputs
from tameshi.report.matrices import matrices
from tameshi.report.modelled import with_models
from tameshi.report.points import View, at_worst, read_results
from tameshi.report.summary import Answer, Table, overview
from tameshi.report.text import Text
from tameshi.stats.timeline import MISSED

_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"} | {"\n": " "})


def terminal_summary(inputs: ReportInputs, lang: str = "en") -> list[str]:
    """The answer, at most five lines and a word of what is left out."""
    text = Text(lang)
    lines = answers(read_results(inputs.results), text)
    return [_line(line, text) for line in lines] or [text("answer.none")]


def terminal_doubts(inputs: ReportInputs, lang: str = "en") -> list[str]:
    """The verdict of a study that is not sound as a whole, and what is published in vain."""
    view, text = read_results(inputs.results), Text(lang)
    unmatched = standing.unmatched(view, text)
    if view.verdict["level"] == "valid":
        return unmatched
    verdict, *reasons = _standing(view, text)
    return [verdict, *(f"  {reason}" for reason in reasons), *unmatched]


def _line(answer: Answer, text: Text) -> str:
    said = (
        text("answer.clause", world=c.label, sentence=c.sentence) if c.label else f" — {c.sentence}"
        for c in answer.clauses
    )
    return answer.topic + "".join(said)


def sections(view: View, inputs: ReportInputs, text: Text) -> Iterator[tuple[str, list[Table]]]:
    """Every table of the report, by the section it stands in, in the order of the page."""
    for section, tables in _sections(view, inputs, text):
        yield section, with_models(tables, text)


def _sections(view: View, inputs: ReportInputs, text: Text) -> Iterator[tuple[str, list[Table]]]:
    offered = offers.table(view, text)
    yield "answer", [*([offered] if offered else []), overview(view, text)]
    yield "asked", asked.tables(view, text)
    yield "database", database.tables(view, text)
    searched = limits.table(view, text)
    yield "limits", [searched] if searched else []
    yield "interference", interference.tables(view, text)
    yield "timeline", timeline.tables(view, text)
    yield "why", why.tables(view, text)
    yield "endurance", endurance.tables(view, text)
    yield "power", power.tables(view, text)
    yield "slowest", slowest.tables(inputs.slowest, text)
    left = standing.unserved(view, text)
    yield "verdicts", [standing.verdicts(view, text), *([left] if left else [])]
    followed = standing.method(view, text)
    yield "method", [followed] if followed else []
    steady = standing.steady(view, text)
    yield "steady", [steady] if steady else []
    published = standing.published(view, text)
    yield "published", [published] if published else []
    yield "environment", standing.environments(inputs.environments, text)
    yield "numbers", matrices(view, text)


def terminal(inputs: ReportInputs, lang: str = "en") -> RenderableType:
    """The whole report except its plots, for a `rich` console."""
    text = Text(lang)
    view = asked.worded(read_results(inputs.results), text)
    parts: list[RenderableType] = [RichText(view.question, style="bold"), RichText(view.title)]
    parts += [RichText(line) for line in _standing(view, text)]
    for section, found in sections(view, inputs, text):
        lines = terminal_summary(inputs, lang) if section == "answer" else []
        shown = [table for table in found if table.rows]
        if shown or lines:
            parts.append(RichText(text(f"section.{section}"), style="bold underline"))
        parts += [Padding(RichText(line), (0, 0, 0, 2)) for line in lines]
        parts += [rich_table(table) for table in shown]
        if section == "environment":
            for more, said in _more(view, inputs, text):
                parts.append(RichText(text(f"section.{more}"), style="bold underline"))
                parts += [Padding(RichText(line), (0, 0, 0, 2)) for line in said]
    return Group(*(part for each in parts for part in (each, RichText(""))))


def _standing(view: View, text: Text) -> list[str]:
    """The verdict of the study, and its reasons."""
    said = text.study_verdict(view.verdict["level"], at_worst(view))
    reasons = view.verdict.get("reasons", [])
    missed = missing(view, text)
    if missed:
        reasons = [reason for reason in reasons if reason["code"] != MISSED]
    return [said, *text.reasons(reasons), *missed]


def _more(view: View, inputs: ReportInputs, text: Text) -> Iterator[tuple[str, list[str]]]:
    """The sections that hold lines and no table."""
    if inputs.reproduce:
        yield "reproduce", list(inputs.reproduce)
    caveats = standing.caveats(view, inputs.environments, text)
    if caveats:
        yield "caveats", caveats


def rich_tables(inputs: ReportInputs, lang: str = "en") -> list[RichTable]:
    """Every table of the report, for `rich.print`."""
    text, view = Text(lang), read_results(inputs.results)
    return [rich_table(table) for _, tables in sections(view, inputs, text) for table in tables]


def rich_table(table: Table, styles: Mapping[str, str] | None = None) -> RichTable:
    """A table for a `rich` console; `styles` colours cells by the words they begin with."""
    drawn = RichTable(
        title=RichText(table.caption),
        caption=RichText(table.note) if table.note else None,
        title_justify="left",
        caption_justify="left",
    )
    for i, column in enumerate(table.columns):
        label = f"{column.group}\n{column.label}" if column.group else column.label
        drawn.add_column(
            RichText(label),
            justify="right" if i and table.numeric else "left",
            overflow="fold",
        )
    group = ""
    for row in table.rows:
        if row.group != group:
            drawn.add_section()
            drawn.add_row(RichText(row.group, style="bold"))
            group = row.group
        drawn.add_row(RichText(row.head), *(_rich_cell(str(c), styles or {}) for c in row.cells))
    return drawn


def _rich_cell(said: str, styles: Mapping[str, str]) -> RichText:
    style = next((style for words, style in styles.items() if said.startswith(words)), "")
    return RichText(said, style=style)


def markdown(inputs: ReportInputs, lang: str = "en") -> str:
    """The whole report except its plots."""
    text = Text(lang)
    view = asked.worded(read_results(inputs.results), text)
    parts = [f"# {markdown_text(view.question)}", markdown_text(view.title)]
    parts += [markdown_text(line) for line in _standing(view, text)]
    for section, found in sections(view, inputs, text):
        tables = [markdown_table(table) for table in found if table.rows]
        lines = [_answer_list(answers(view, text), text)] if section == "answer" else []
        if tables or lines:
            parts += [heading(text, section), *lines, *tables]
        if section == "environment":
            for more, said in _more(view, inputs, text):
                parts.append(heading(text, more))
                code = more == "reproduce"
                parts.append(
                    "\n".join(f"    {x}" if code else f"- {markdown_text(x)}" for x in said)
                )
    return "\n\n".join(parts) + "\n"


def heading(text: Text, section: str) -> str:
    """A section's heading in Markdown."""
    return f"## {text(f'section.{section}')}"


def _answer_list(lines: list[Answer], text: Text) -> str:
    if not lines:
        return text("answer.none")
    items = []
    for line in lines:
        said = "".join(
            f"\n  - {f'{c.label}: ' if c.label else ''}{markdown_text(c.sentence)}"
            for c in line.clauses
        )
        items.append(f"- **{markdown_text(line.topic)}**{said}")
    return "\n".join(items)


def markdown_table(table: Table) -> str:
    """A table in Markdown, with its caption above."""
    grouped = any(row.group for row in table.rows)
    heads = [markdown_text(f"{c.group}: {c.label}" if c.group else c.label) for c in table.columns]
    if grouped:
        heads.insert(0, "")
    align = ["---"] * (2 if grouped else 1)
    align += ["---:" if table.numeric else "---"] * (len(heads) - len(align))
    lines = [heads, align]
    previous = ""
    for row in table.rows:
        cells = [markdown_text(row.head), *(markdown_text(str(cell)) for cell in row.cells)]
        if grouped:
            cells.insert(0, markdown_text(row.group) if row.group != previous else "")
            previous = row.group
        lines.append(cells)
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    note = f"\n\n{markdown_text(table.note)}" if table.note else ""
    return f"**{markdown_text(table.caption)}**\n\n{body}{note}"


def markdown_text(value: str) -> str:
    """Words that stay words in Markdown."""
    return value.translate(_MARKDOWN)
