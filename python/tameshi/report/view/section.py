"""Definition of a report section, the same for HTML, Markdown and the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tameshi.report.view.figures import Figure
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import View
from tameshi.report.view.tables import Answer, Table
from tameshi.report.words.text import Text


@dataclass(frozen=True)
class Page:
    """Inputs of every section of one report."""

    view: View
    inputs: ReportInputs
    text: Text


def _nothing(_: Page) -> tuple[()]:
    return ()


@dataclass(frozen=True)
class Section:
    """Section of the report, left out without content.

    `id`: key of its heading, `section.ID` in the table of strings, and its anchor. `open_rows`: in
    HTML, tables with more rows start folded; None folds none. `code`: its lines are commands.
    `side_by_side`: in HTML, its tables share a row.
    """

    id: str
    answers: Callable[[Page], Sequence[Answer]] | None = None
    figures: Callable[[Page], Sequence[Figure]] = _nothing
    tables: Callable[[Page], Sequence[Table | None]] = _nothing
    lines: Callable[[Page], Sequence[str]] = _nothing
    open_rows: int | None = None
    code: bool = False
    side_by_side: bool = False
