"""Capacity, power and performance per watt of storages, a table per phase."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.view.points import Name, View, freeze, storage_name
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Shown, Text

COLUMNS = ("cell", "capacity", "power", "iops_per_watt", "bandwidth_per_watt")
HEAT = {"celsius_mean": "temperature", "celsius_max": "temperature", "throttled": "share"}
"""Thermal columns and their formats."""
WARMING, SETTLED_K = "†", 2.0
"""Mark of temperatures farther than this from their final value."""
WARM_UP_S = (50.0, 300.0)
"""Range of thermal time constants of drives: thermal resistance times heat capacity."""


def tables(view: View, text: Text) -> list[Table]:
    """Return a table per phase whose storages have a power model."""
    filled = []
    for phase in view.phases:
        cells = [cell for cell in view.cells if cell["phase"] == phase]
        metered = [(cell, drawn) for cell in cells for drawn in cell.get("power") or ()]
        if metered:
            warm = tuple(HEAT) if any("throttled" in drawn for _, drawn in metered) else ()
            rows = tuple(_row(view, text, cell, drawn, warm) for cell, drawn in metered)
            columns = tuple(Column(text(f"column.{key}")) for key in (*COLUMNS, *warm))
            caption = text("table.power", phase=text.name(phase))
            notes = ("note.power", "note.heat") if warm else ("note.power",)
            note = " ".join(map(text, notes))
            if any(cell.mark for row in rows for cell in row.cells):
                note = f"{note} {WARMING} {text('note.warming')}"
            filled.append(Table(f"power-{phase}", caption, columns, rows, note, numeric=True))
    return filled


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
    """Return whether the warmest drive was certainly still warming up.

    Mean and maximum bound the remaining rise for any time constant. A throttled drive is regulated
    and stays.
    """
    mean, most = drawn.get("celsius_mean"), drawn.get("celsius_max")
    if mean is None or most is None or drawn.get("throttled"):
        return False
    return min(_still_to_go(most - mean, window_s / tau) for tau in WARM_UP_S) > SETTLED_K


def _still_to_go(rise: float, constants: float) -> float:
    """Return the kelvins missing at the end of a window of `constants` time constants.

    `rise`: from the window's mean to its end, on an exponential.
    """
    left = math.exp(-constants)
    return rise * left / ((1 - left) / constants - left)


def capacity(drawn: Mapping[str, Any], text: Text) -> Shown:
    """Return a storage's capacity, and the part that the study uses."""
    held = each(drawn.get("capacity_bytes"), "capacity", text)
    used = drawn.get("used_bytes")
    if used is None:
        return held
    return Shown(text("cell.part", part=format_value("capacity", used), whole=held.value))


def each(value: float | None, kind: str, text: Text) -> Shown:
    """Return a figure that may be missing."""
    return Shown(text("cell.none") if value is None else format_value(kind, value))
