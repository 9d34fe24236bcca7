"""Comparison of two results: better, worse or same, and whether they are comparable.

A comparison is plain data (`Comparison.as_json()`); `tameshi.report.comparison` puts it in words.
"""

from tameshi.compare.comparison import Comparison, Options, compare, exit_status
from tameshi.compare.rules import CHANGEABLE, RULES
from tameshi.compare.sides import Side, read_side

__all__ = [
    "CHANGEABLE",
    "RULES",
    "Comparison",
    "Options",
    "Side",
    "compare",
    "exit_status",
    "read_side",
]
