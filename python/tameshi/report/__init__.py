"""The report of a study: `report.html`, Markdown and the terminal, and comparisons.

Everything here is a function of its inputs: the same results give the same bytes.
"""

from tameshi.report.comparison import comparison_markdown, comparison_terminal
from tameshi.report.fit import fit_markdown, fit_page, fit_terminal
from tameshi.report.html import write_report
from tameshi.report.inputs import ReportInputs
from tameshi.report.plain import (
    markdown,
    rich_tables,
    terminal,
    terminal_doubts,
    terminal_summary,
)

__all__ = [
    "ReportInputs",
    "comparison_markdown",
    "comparison_terminal",
    "fit_markdown",
    "fit_page",
    "fit_terminal",
    "markdown",
    "rich_tables",
    "terminal",
    "terminal_doubts",
    "terminal_summary",
    "write_report",
]
