"""Failovers: commits lost, time until the service was back, steps, lag and traffic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from tameshi.core.units import format_seconds, format_value
from tameshi.report.view.points import View
from tameshi.report.view.tables import Column, Row, Table, cell_name, levels_name
from tameshi.report.words.text import Shown, Text

COLUMNS = ("cause", "lost", "away", "fence", "catch_up", "promotion", "lag", "link")


def table(view: View, text: Text) -> Table:
    """Return a row per cell with a failover; times are medians of its runs."""
    rows = [
        Row(cell_name(text, cell), tuple(map(Shown, _row(text, cell))))
        for cell in view.cells
        if cell.get("failovers")
    ]
    columns = [Column(text("column.cell"))]
    columns += [Column(text(f"failover.{key}")) for key in COLUMNS]
    note = text("note.failovers")
    return Table(
        "failovers", text("table.failovers"), tuple(columns), tuple(rows), note, numeric=True
    )


def _row(text: Text, cell: Mapping[str, Any]) -> list[str]:
    none = text("cell.none")
    found = cell["failovers"]

    def middle(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return median(known) if known else None

    def time(values: Iterable[float | None]) -> str:
        ns = middle(values)
        return format_value("latency", ns) if ns is not None else none

    steps = [time(run["steps_ns"].get(step) for run in found) for step in COLUMNS[3:6]]
    sent = middle(run["link_bytes_per_s"] for run in found)
    causes = dict.fromkeys(text(f"cause.{run['cause']}") for run in found)
    return [
        text("list.separator").join(causes),
        _lost(text, found),
        time(run["away_ns"] for run in found),
        *steps,
        time(run["lag_ns"] for run in found),
        format_value("bandwidth", sent) if sent else none,
    ]


def _lost(text: Text, found: Sequence[Mapping[str, Any]]) -> str:
    lost, acknowledged = (_sum(found, key) for key in ("lost", "acknowledged"))
    if acknowledged is None or lost is None:
        return text("cell.none")
    return text("failover.of", count=f"{lost:,}", all=f"{acknowledged:,}")


def _sum(found: Sequence[Mapping[str, Any]], key: str) -> int | None:
    """Return the sum over the checked runs; None without one."""
    values = [int(run[key]) for run in found if run[key] is not None]
    return sum(values) if values else None


def summarise(view: View, text: Text, world: str) -> list[str]:
    """Return who lost commits of how many, and how long services were away; nothing without a
    failover to a standby."""
    cells = [c for c in view.cells if c["world"] == world and c.get("failovers")]
    if not cells:
        return []
    runs = [run for cell in cells for run in cell["failovers"]]
    acknowledged = _sum(runs, "acknowledged")
    if acknowledged is None:
        return []
    losers = [cell for cell in cells if _sum(cell["failovers"], "lost")]
    items = [
        text(
            "item.failover_lost",
            name=levels_name(text, cell),
            lost=f"{_sum(cell['failovers'], 'lost'):,}",
            acknowledged=f"{_sum(cell['failovers'], 'acknowledged'):,}",
        )
        for cell in losers
    ]
    keepers = [run for cell in cells if cell not in losers for run in cell["failovers"]]
    if (kept := _sum(keepers, "acknowledged")) is not None:
        key = "item.failover_others" if losers else "item.failover_kept"
        items.append(text(key, count=str(len(keepers)), all=f"{kept:,}"))
    away_ns = [run["away_ns"] for run in runs if run["away_ns"] is not None]
    if away_ns:
        span = format_seconds((min(away_ns), max(away_ns)))
        items.append(text("item.failover_away", span=span))
    return items
