"""Reasons of served drives in the table of verdicts: one line each, with its cells in a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.served import CODES
from tameshi.core.reasons import Reason, kind_of, spanned
from tameshi.report.view.points import View, freeze
from tameshi.report.view.tables import level_name
from tameshi.report.words.text import Fold, Shown, Text

Cell = Mapping[str, Any]


def split(cell: Cell) -> tuple[list[Reason], list[Reason]]:
    """Return the reasons of a cell's verdict that are not of served drives, and those that are."""
    reasons = (cell.get("verdict") or {}).get("reasons") or ()
    own = [reason for reason in reasons if reason["code"] not in CODES]
    return own, [reason for reason in reasons if reason["code"] in CODES]


def shown(view: View, own: Sequence[str], cells: Sequence[Cell], text: Text) -> Shown:
    """Return the common reasons of cells, then a line per reason of served drives.

    A line has the range of its amounts and, of several cells, their number and names.
    """
    concerned: dict[str, list[Cell]] = {}
    reasons: dict[str, list[Reason]] = {}
    for cell in cells:
        for reason in split(cell)[1]:
            reasons.setdefault(kind_of(reason), []).append(reason)
            of_kind = concerned.setdefault(kind_of(reason), [])
            if not of_kind or of_kind[-1] is not cell:
                of_kind.append(cell)
    folds = [_fold(view, reasons[kind], concerned[kind], text) for kind in reasons]
    lines = [*own, *(fold.line for fold in folds)]
    joined = text("list.separator").join(lines) or text("cell.none")
    return Shown(joined, folds=(*map(Fold, own), *folds) if folds else ())


def _fold(view: View, reasons: Sequence[Reason], cells: Sequence[Cell], text: Text) -> Fold:
    """Return one line for reasons that differ in amounts."""
    (reason,) = spanned(reasons)
    words = text.reason(reason)
    if len(cells) == 1:
        return Fold(words)
    places = tuple(_place(view, cell, text) for cell in cells)
    return Fold(text("cell.reason", reason=words, count=len(cells)), places)


def _place(view: View, cell: Cell, text: Text) -> str:
    """Return a cell's phase, if there are several, and its levels."""
    levels = [level_name(text, *pair) for pair in freeze(cell["levels"])]
    phase = [text.name(cell["phase"])] if len(view.phases) > 1 or not levels else []
    return " · ".join([*phase, *([text("list.short").join(levels)] if levels else [])])
