"""Tables and lists of reports in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.report.view.tables import Answer, Table
from tameshi.report.words.text import Text

_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>|#"} | {"\n": " "})


def heading(text: Text, section: str) -> str:
    """Return a section's heading in Markdown."""
    return f"## {text(f'section.{section}')}"


def answer_list(lines: Sequence[Answer], text: Text) -> str:
    """Return the lines of an answer as a list, a clause for each world below."""
    if not lines:
        return text("answer.none")
    items = []
    for line in lines:
        clauses = "".join(
            f"\n  - {f'{c.label}: ' if c.label else ''}{markdown_text(c.sentence)}"
            for c in line.clauses
        )
        items.append(f"- **{markdown_text(line.topic)}**{clauses}")
    return "\n".join(items)


def markdown_table(table: Table) -> str:
    """Return a table in Markdown, with its caption above."""
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
    """Return text escaped for Markdown."""
    return value.translate(_MARKDOWN)
