"""Tables of reports on a terminal, with `rich`."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table as RichTable
from rich.text import Text as RichText

from tameshi.report.view.tables import Table


def rich_table(table: Table, styles: Mapping[str, str] | None = None) -> RichTable:
    """Return a table for a `rich` console; `styles` colours cells by their first words."""
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


def _rich_cell(string: str, styles: Mapping[str, str]) -> RichText:
    style = next((style for words, style in styles.items() if string.startswith(words)), "")
    return RichText(string, style=style)
