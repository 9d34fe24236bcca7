"""Summary of a study's results: the whole answer, or five lines on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from tameshi.workflow.study_folder import Shown

MOST_LINES = 5
MOST_COLUMNS = 80


def print_summary(shown: Shown, console: Console, *, verbose: bool) -> None:
    """Print answers, doubts and the report's path.

    On a terminal, doubts come first and lines are cut, unless `verbose`.
    """
    report = f"Report: {shown.report.resolve()}"
    if verbose or not console.is_terminal:
        lines = [*shown.answers, *shown.doubts, report]
    else:
        lines = [*_shortened(shown), report]
    for line in lines:
        console.print(line, soft_wrap=True)


def _shortened(shown: Shown) -> list[str]:
    """Return the verdict with its first reason, then answers, as far as they fit."""
    lines = [*shown.doubts[:2], *shown.answers]
    cut = [Text(line) for line in lines[: MOST_LINES - 1]]
    for line in cut:
        line.truncate(MOST_COLUMNS, overflow="ellipsis")
    return [line.plain for line in cut]
