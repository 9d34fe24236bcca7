"""What storages hold, what a load costs in power, and what a watt brings: a table a phase."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tameshi.report.view.points import Name, View, freeze, storage_name
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Shown, Text, format_value

COLUMNS = ("cell", "capacity", "power", "iops_per_watt", "bandwidth_per_watt")
HEAT = {"celsius_mean": "temperature", "celsius_max": "temperature", "throttled": "share"}
"""What is told of drives that get warm, and how it is written."""
WARMING, SETTLED_K = "†", 2.0
"""The mark of temperatures that end further than this from what the power leads to."""
WARM_UP_S = (50.0, 300.0)
"""Time constants that drives have: resistance to the air times heat capacity."""


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
            if any(cell.mark for row in rows for cell in row.cells):
                note = f"{note} {WARMING} {text('note.warming')}"
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
    window_s = cell.get("windows", {}).get(cell["phase"])
    mark = WARMING if warm and window_s and is_warming(drawn, window_s) else ""
    return Row(
        text.names(name),
        (
            capacity(drawn, text),
            Shown(format_value("power", drawn["watts"])),
            each(drawn["iops_per_watt"], "rate", text),
            each(drawn["bandwidth_per_watt"], "bandwidth", text),
            *(replace(each(drawn.get(key), HEAT[key], text), mark=mark) for key in warm),
        ),
        group=text.world(cell["world"]) if len({c["world"] for c in view.cells}) > 1 else "",
    )


def is_warming(drawn: Mapping[str, Any], window_s: float) -> bool:
    """Whether the warmest drive's temperature was certainly short of where it was going.

    Mean and maximum tell how it rose, and, whatever the drive's time constant may be, how far it
    has to go at the least: a drive that was held back is regulated and goes nowhere.
    """
    mean, most = drawn.get("celsius_mean"), drawn.get("celsius_max")
    if mean is None or most is None or drawn.get("throttled"):
        return False
    return min(_still_to_go(most - mean, window_s / tau) for tau in WARM_UP_S) > SETTLED_K


def _still_to_go(rise: float, constants: float) -> float:
    """Kelvins that are missing at the end of a window of so many time constants.

    `rise`: of the end above the mean over the window, on the way of an exponential.
    """
    left = math.exp(-constants)
    return rise * left / ((1 - left) / constants - left)


def capacity(drawn: Mapping[str, Any], text: Text) -> Shown:
    """What a storage holds, and how much of it the study uses where that is a part."""
    whole = each(drawn.get("capacity_bytes"), "capacity", text)
    used = drawn.get("used_bytes")
    if used is None:
        return whole
    return Shown(text("cell.part", part=format_value("capacity", used), whole=whole.value))


def each(value: float | None, kind: str, text: Text) -> Shown:
    """A figure that may be missing."""
    return Shown(text("cell.none") if value is None else format_value(kind, value))
