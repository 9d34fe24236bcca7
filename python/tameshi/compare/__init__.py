"""Comparison of two results: better, worse or same, and whether they are comparable.

A comparison is plain data (`Comparison.as_json()`); `tameshi.report.comparison` puts it in words.
"""

from tameshi.compare.comparison import Comparison, Options, compare, exit_status
from tameshi.compare.rules import CHANGEABLE, RULES
from tameshi.compare.several import Comparisons, compare_all, exit_status_of_all
from tameshi.compare.sides import Side, large_side, read_side

__all__ = [
    "CHANGEABLE",
    "RULES",
    "Comparison",
    "Comparisons",
    "Options",
    "Side",
    "compare",
    "compare_all",
    "exit_status",
    "exit_status_of_all",
    "large_side",
    "read_side",
]
