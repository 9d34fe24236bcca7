"""How much load a storage bears: what a search for the highest rate under a limit has found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.report.view.points import View
from tameshi.report.view.tables import Column, Row, Table, level_name
from tameshi.report.words.text import Shown, Text, format_value

KEYS = ("maximum", "ceiling", "highest", "between", "confidence", "knee", "rates")


def table(view: View, text: Text) -> Table | None:
    """One row for each cell of the search; None where nothing was searched for."""
    rows = [Row(_name(found, text), _cells(found, text)) for found in view.searches]
    columns = (Column(text("column.load")), *(Column(text(f"column.{key}")) for key in KEYS))
    if not rows:
        return None
    return Table("limits", text("table.limits"), columns, tuple(rows), text("note.limits"))


def _name(found: Mapping[str, Any], text: Text) -> str:
    levels = (level_name(text, *pair) for pair in found["levels"].items())
    return text.names((found["stream"], text.world(found["world"]), *levels))


def _cells(found: Mapping[str, Any], text: Text) -> tuple[Shown, ...]:
    none = text("cell.none")

    def rate(key: str) -> str:
        value = found.get(key)
        return none if value is None else format_value("rate", value)

    limit = none
    if found["limit_ns"] is not None:
        measure = text.measure(found["metric"].partition(".")[2])
        limit = text(
            "cell.below", measure=measure, limit=format_value("latency", found["limit_ns"])
        )
    bounded = found.get("low") is not None or found.get("high") is not None
    between = text("cell.between", low=rate("low"), high=rate("high")) if bounded else none
    confidence = found.get("confidence")
    return (
        Shown(rate("maximum")),
        Shown(limit),
        Shown(rate("value")),
        Shown(between),
        Shown(none if confidence is None else f"{confidence:.0%}"),
        Shown(rate("knee")),
        Shown(str(found["runs"])),
    )
