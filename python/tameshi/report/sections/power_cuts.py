"""Power cuts while pages are written: torn pages, starts after them, and the cost of safety."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.analysis.stats.estimates import of_phase
from tameshi.core.units import format_value
from tameshi.report.view.points import View
from tameshi.report.view.tables import Column, Row, Table, cell_name, levels_name
from tameshi.report.words.text import Shown, Text

COLUMNS = ("cuts", "torn", "broken", "by_tool", "starts", "rate", "written")
RATE, WRITTEN = "transaction.rate", ("server.write_bandwidth", "disk.write_bandwidth")


def table(view: View, text: Text) -> Table:
    """Return a row per cell whose power was cut during a write."""
    rows = [
        Row(cell_name(text, cell), tuple(map(Shown, _row(text, cell))))
        for cell in view.cells
        if cell.get("power_cuts")
    ]
    columns = [Column(text("column.cell"))]
    columns += [Column(text(f"cuts.{key}")) for key in COLUMNS]
    note = text("note.power_cuts")
    return Table(
        "power-cuts", text("table.power_cuts"), tuple(columns), tuple(rows), note, numeric=True
    )


def _row(text: Text, cell: Mapping[str, Any]) -> list[str]:
    none = text("cell.none")
    sums = {key: _sum(cell, key) for key in ("cuts", "torn_cuts", "broken", "starts")}
    by_tool = [run["broken_by_tool"] for run in cell["power_cuts"]]
    checked = [count for count in by_tool if count is not None]
    rate = _value(cell, RATE)
    written = next((value for key in WRITTEN if (value := _value(cell, key))), None)
    return [
        *(f"{sums[key]:,}" for key in ("cuts", "torn_cuts", "broken")),
        f"{sum(checked):,}" if checked else none,
        text("cuts.of", count=f"{sums['starts']:,}", all=f"{sums['cuts']:,}"),
        format_value("rate", rate) if rate else none,
        format_value("bytes", written / rate) if rate and written else none,
    ]


def _sum(cell: Mapping[str, Any], key: str) -> int:
    return sum(int(run[key]) for run in cell["power_cuts"])


def _value(cell: Mapping[str, Any], metric: str) -> float | None:
    return next((float(e["value"]) for e in of_phase(cell) if e["metric"] == metric), None)


def summarise(view: View, text: Text, world: str) -> list[str]:
    """Return a sentence per cell: pages that power cuts broke, and starts after them."""
    cells = [c for c in view.cells if c["world"] == world and c.get("power_cuts")]
    return [_say(text, cell) for cell in cells]


def _say(text: Text, cell: Mapping[str, Any]) -> str:
    cuts, starts, broken = (_sum(cell, key) for key in ("cuts", "starts", "broken"))
    torn = _sum(cell, "broken_cuts")
    key = "item.power_cuts" if broken else "item.power_cuts_whole"
    sentence = text(
        key,
        name=levels_name(text, cell),
        cuts=f"{cuts:,}",
        torn=f"{torn:,}",
        pages=f"{broken:,}",
    )
    if starts == cuts:
        return sentence + text("item.power_cuts_back")
    return sentence + text("item.power_cuts_lost", starts=f"{starts:,}", cuts=f"{cuts:,}")
