"""Flash wear: write amplification, spare area and life, a table per phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.view.points import Name, View, freeze, storage_name
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import BEYOND, Shown, Text

COLUMNS = ("written", "amplification", "spare.effective", "spare.nominal", "cycles", "life")


def tables(view: View, text: Text) -> list[Table]:
    """Return a table per phase with flash writes."""
    filled = []
    for phase in view.phases:
        cells = [cell for cell in view.cells if cell["phase"] == phase]
        worn = [(cell, flash) for cell in cells for flash in cell.get("endurance") or ()]
        worn = [(cell, flash) for cell, flash in worn if flash["write_amplification"] is not None]
        if worn:
            by_host, retried = (
                any(flash.get(key) is not None for _, flash in worn)
                for key in ("stream_written_bytes", "life_years_retried")
            )
            keys = ("cell", *["by_host"] * by_host, *COLUMNS, *["life_retried"] * retried)
            rows = tuple(_row(view, text, *entry, by_host, retried) for entry in worn)
            columns = tuple(Column(text(f"column.{key}")) for key in keys)
            caption = text("table.endurance", phase=text.name(phase))
            note = text("note.endurance")
            if any("model" in flash for _, flash in worn):
                note = " ".join((note, text("note.modelled"), text("note.beyond", sign=BEYOND)))
            filled.append(Table(f"endurance-{phase}", caption, columns, rows, note, numeric=True))
    return filled


def _row(
    view: View,
    text: Text,
    cell: Mapping[str, Any],
    flash: Mapping[str, Any],
    by_host: bool,
    retried: bool,
) -> Row:
    name: Name = (*(level for _, level in freeze(cell.get("levels", {}))), storage_name(flash))
    spare = flash["over_provisioning"]
    return Row(
        text.names(name),
        (
            *([_bytes(flash.get("stream_written_bytes"), text)] if by_host else []),
            _bytes(flash["written_bytes"], text),
            Shown(f"{flash['write_amplification']:.2f}"),
            # Without moved data, garbage collection found no effective spare area.
            Shown(_percent(spare["effective"] if flash["moved_bytes"] else None, text)),
            Shown(_percent(spare["nominal"], text)),
            Shown(str(flash["cycles_max"])),
            _years(flash, "life_years", text),
            *([_years(flash, "life_years_retried", text)] if retried else []),
        ),
        group=text.world(cell["world"]) if len({c["world"] for c in view.cells}) > 1 else "",
    )


def _bytes(size: int | None, text: Text) -> Shown:
    return Shown(text("cell.none") if size is None else format_value("bytes", size))


def _years(flash: Mapping[str, Any], key: str, text: Text) -> Shown:
    life, model = flash.get(key), flash.get("model", {}).get(key)
    if life is None:
        return Shown(text("cell.none"))
    if model is None:
        return text.life(life)
    life_shown = text.life(life, model["low"], model["high"])
    return replace(life_shown, beyond=not model["inside_range"])


def _percent(share: float | None, text: Text) -> str:
    return text("cell.none") if share is None else f"{100 * share:.1f} %"
