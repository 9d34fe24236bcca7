"""The report without a browser: five lines for the terminal, tables for rich, Markdown."""

from __future__ import annotations

from rich.table import Table as RichTable
from rich.text import Text as RichText

from tameshi.report import standing
from tameshi.report.inputs import ReportInputs
from tameshi.report.points import read_results
from tameshi.report.summary import Answer, Table, answers, matrices, overview
from tameshi.report.text import Text

_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"} | {"\n": " "})


def terminal_summary(inputs: ReportInputs, lang: str = "en") -> list[str]:
    """The answer, at most five lines."""
    text = Text(lang)
    lines = answers(read_results(inputs.results), text)
    return [_line(line, text) for line in lines] or [text("answer.none")]


def _line(answer: Answer, text: Text) -> str:
    said = (text("answer.clause", world=c.label, sentence=c.sentence) for c in answer.clauses)
    return answer.topic + "".join(said)


def rich_tables(inputs: ReportInputs, lang: str = "en") -> list[RichTable]:
    """The key figures, then the cells by verdict, for `rich.print`."""
    text, view = Text(lang), read_results(inputs.results)
    return [_rich(table) for table in (overview(view, text), standing.verdicts(view, text))]


def _rich(table: Table) -> RichTable:
    drawn = RichTable(
        title=RichText(table.caption), caption=table.note or None, title_justify="left"
    )
    for i, column in enumerate(table.columns):
        drawn.add_column(RichText(column.label), justify="right" if i and table.numeric else "left")
    group = ""
    for row in table.rows:
        if row.group != group:
            drawn.add_section()
            drawn.add_row(RichText(row.group, style="bold"))
            group = row.group
        drawn.add_row(RichText(row.head), *(RichText(str(cell)) for cell in row.cells))
    return drawn


def markdown(inputs: ReportInputs, lang: str = "en") -> str:
    """The whole report except its plots."""
    text, view = Text(lang), read_results(inputs.results)
    parts = [f"# {_escape(view.question)}", _escape(view.title)]
    parts += [text("verdict.study", verdict=text.verdict(view.verdict["level"]))]
    parts += [_heading(text, "answer"), _answer_list(answers(view, text), text)]
    parts += [_table(overview(view, text))]
    parts += [_heading(text, "verdicts"), _table(standing.verdicts(view, text))]
    if published := standing.published(view, text):
        parts += [_heading(text, "published"), _table(published)]
    parts += [_heading(text, "caveats")]
    found = standing.caveats(view, inputs.environments, text)
    parts += ["\n".join(f"- {_escape(line)}" for line in found)]
    parts += [_heading(text, "numbers"), *(_table(table) for table in matrices(view, text))]
    if inputs.environments:
        tables = standing.environments(inputs.environments, text)
        parts += [_heading(text, "environment"), *(_table(table) for table in tables)]
    if inputs.reproduce:
        parts += [_heading(text, "reproduce"), "\n".join(f"    {c}" for c in inputs.reproduce)]
    return "\n\n".join(parts) + "\n"


def _heading(text: Text, section: str) -> str:
    return f"## {text(f'section.{section}')}"


def _answer_list(lines: list[Answer], text: Text) -> str:
    if not lines:
        return text("answer.none")
    items = []
    for line in lines:
        said = "".join(f"\n  - {c.label}: {_escape(c.sentence)}" for c in line.clauses)
        items.append(f"- **{_escape(line.topic)}**{said}")
    return "\n".join(items)


def _table(table: Table) -> str:
    grouped = any(row.group for row in table.rows)
    heads = [_escape(f"{c.group}: {c.label}" if c.group else c.label) for c in table.columns]
    if grouped:
        heads.insert(0, "")
    align = ["---"] * (2 if grouped else 1)
    align += ["---:" if table.numeric else "---"] * (len(heads) - len(align))
    lines = [heads, align]
    previous = ""
    for row in table.rows:
        cells = [_escape(row.head), *(_escape(str(cell)) for cell in row.cells)]
        if grouped:
            cells.insert(0, _escape(row.group) if row.group != previous else "")
            previous = row.group
        lines.append(cells)
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    note = f"\n\n{_escape(table.note)}" if table.note else ""
    return f"**{_escape(table.caption)}**\n\n{body}{note}"


def _escape(value: str) -> str:
    return value.translate(_MARKDOWN)
