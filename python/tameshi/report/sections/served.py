"""Served drives of the emulated world: latencies of the model, met latencies, lateness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.view.points import View
from tameshi.report.view.tables import Column, Row, Table, cell_name
from tameshi.report.words.text import Shown, Text

COLUMNS = ("drive", "operations", "modelled", "met", "late", "late_p99", "unmet", "path")


def table(view: View, text: Text) -> Table | None:
    """Return a row per drive and operation; None without served drives."""
    rows = [
        _row(cell, served, kind, figures, text)
        for cell in view.cells
        for served in cell.get("served", ())
        for kind, figures in served["operations"].items()
    ]
    columns = tuple(Column(text(f"column.{key}")) for key in COLUMNS)
    caption, note = text("table.served"), text("note.served")
    return Table("served", caption, columns, tuple(rows), note, numeric=True) if rows else None


def _row(
    cell: Mapping[str, Any],
    served: Mapping[str, Any],
    kind: str,
    figures: Mapping[str, Any],
    text: Text,
) -> Row:
    times = ("modelled_p50_ns", "met_p50_ns", "late_p50_ns", "late_p99_ns")
    return Row(
        text.name(f"{served['storage']}"),
        (
            Shown(f"{text.name(kind)}: {figures['count']:,}"),
            *(Shown(format_value("latency", figures[time])) for time in times),
            Shown(format_value("share", figures["short_share"])),
            Shown(format_value("latency", served["offset_ns"])),
        ),
        group=cell_name(text, cell),
    )
