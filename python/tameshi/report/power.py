"""What storages hold, what a load costs in power, and what a watt brings: a table a phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.report.points import Name, View, freeze, storage_name
from tameshi.report.summary import Column, Row, Table
from tameshi.report.text import Shown, Text, format_value

COLUMNS = ("cell", "capacity", "power", "iops_per_watt", "bandwidth_per_watt")
HEAT = {"celsius_mean": "temperature", "celsius_max": "temperature", "throttled": "share"}
"""What is told of drives that get warm, and how it is written."""


def tables(view: View, text: Text) -> list[Table]:
    """One table for each phase whose storages say what they draw."""
    found = []
    for phase in view.phases:
        cells = [cell for cell in view.cells if cell["phase"] == phase]
        told = [(cell, drawn) for cell in cells for drawn in cell.get("power") or ()]
        if told:
            warm = tuple(HEAT) if any("throttled" in drawn for _, drawn in told) else ()
            rows = tuple(_row(view, text, cell, drawn, warm) for cell, drawn in told)
            columns = tuple(Column(text(f"column.{key}")) for key in (*COLUMNS, *warm))
            caption = text("table.power", phase=text.name(phase))
            notes = ("note.power", "note.heat") if warm else ("note.power",)
            note = " ".join(map(text, notes))
            found.append(Table(f"power-{phase}", caption, columns, rows, note, numeric=True))
    return found


def _row(
    view: View,
    text: Text,
    cell: Mapping[str, Any],
    drawn: Mapping[str, Any],
    warm: Sequence[str],
) -> Row:
    name: Name = (*(level for _, level in freeze(cell.get("levels", {}))), storage_name(drawn))
    return Row(
        text.names(name),
        (
            _each(drawn.get("capacity_bytes"), "capacity", text),
            Shown(format_value("power", drawn["watts"])),
            _each(drawn["iops_per_watt"], "rate", text),
            _each(drawn["bandwidth_per_watt"], "bandwidth", text),
            *(_each(drawn.get(key), HEAT[key], text) for key in warm),
        ),
        group=text.world(cell["world"]) if len({c["world"] for c in view.cells}) > 1 else "",
    )


def _each(value: float | None, kind: str, text: Text) -> Shown:
    return Shown(text("cell.none") if value is None else format_value(kind, value))
