"""Report of a study: `report.html`, Markdown and the terminal, and comparisons.

Reports are pure functions: the same results give the same bytes. This package imports nothing, so
that formatting a value loads no plots.
"""
