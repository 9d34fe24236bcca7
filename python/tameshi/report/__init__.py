"""The report of a study: `report.html`, Markdown and the terminal's five lines, from results.json.

Everything here is a function of its inputs: the same results give the same bytes.
"""

from tameshi.report.html import write_report
from tameshi.report.inputs import ReportInputs
from tameshi.report.plain import markdown, rich_tables, terminal_summary

__all__ = ["ReportInputs", "markdown", "rich_tables", "terminal_summary", "write_report"]
