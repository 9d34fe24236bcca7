"""Slowest operations of each stream, with time and place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.view.points import freeze, level_words
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Shown, Text

MOST = 10
"""Operations listed per stream."""
KEYS = ("operation", "latency", "phase", "time", "offset", "length")


def tables(slowest: Sequence[Mapping[str, Any]], text: Text) -> list[Table]:
    """Return a table per world: streams with their slowest operations over all runs."""
    worlds = dict.fromkeys(str(operation["world"]) for operation in slowest)
    return [
        _table(
            world,
            [operation for operation in slowest if operation["world"] == world],
            text,
            len(worlds) > 1,
        )
        for world in worlds
    ]


def _table(world: str, operations: Sequence[Mapping[str, Any]], text: Text, several: bool) -> Table:
    rows: list[Row] = []
    for stream in dict.fromkeys(str(each["stream"]) for each in operations):
        among = [each for each in operations if each["stream"] == stream]
        among.sort(key=lambda each: -each["latency_ns"])
        rows += [_row(stream, each, text) for each in among[:MOST]]
    columns = tuple(Column(text(f"slow.{key}")) for key in KEYS)
    suffix = f" ({text.world(world)})" if several else ""
    caption = text("table.slowest") + suffix
    return Table(f"slowest-{world}", caption, columns, tuple(rows), text("note.slowest"))


def _row(stream: str, each: Mapping[str, Any], text: Text) -> Row:
    levels = text.names(level_words(freeze(each["levels"])))
    phase = text.name(each["phase"]) + (f": {levels}" if levels else "")
    sync = each["operation"] == "sync"
    cells = (
        Shown(format_value("latency", each["latency_ns"])),
        Shown(phase),
        Shown(f"{each['t_ns'] / 1e9:.3f} s"),
        Shown(text("cell.none") if sync else f"{each['offset']:,}"),
        Shown(text("cell.none") if sync else f"{each['bytes']:,}"),
    )
    return Row(text(f"slow.{each['operation']}"), cells, group=text.name(stream))
