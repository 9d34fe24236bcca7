"""Latency breakdown: tables and plots of latencies by part, and each cell's bottleneck."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.stats.bottleneck import PARTS
from tameshi.core.units import format_value
from tameshi.report.view.figures import MOST_ROWS, Figure, Panel, Scale, Series
from tameshi.report.view.points import Levels, Name, View, freeze, level_words, storage_name
from tameshi.report.view.tables import Column, Row, Table
from tameshi.report.words.text import Phrase, Shown, Text


@dataclass(frozen=True)
class Entry:
    """Breakdown of a stream, with its cell."""

    world: str
    phase: str
    levels: Levels
    subject: str
    breakdown: Mapping[str, Any]
    limit: Mapping[str, Any] | None
    """Bottleneck of the cell, in the entry of its first stream."""


def tables(view: View, text: Text) -> list[Table]:
    """Return a table per phase: mean latency, its parts, and the bottleneck."""
    return [_table(view, text, phase, entries) for phase, entries in _by_phase(view)]


def figures(view: View) -> list[Figure]:
    """Return a bar plot of latency parts per phase with few enough streams."""
    phases = _by_phase(view)
    return [_figure(phase, entries) for phase, entries in phases if len(entries) <= MOST_ROWS]


def _by_phase(view: View) -> Iterator[tuple[str, list[Entry]]]:
    for phase in view.phases:
        entries = [entry for entry in _entries(view) if entry.phase == phase]
        if entries:
            yield phase, entries


def _entries(view: View) -> Iterator[Entry]:
    for cell in view.cells:
        for place, breakdown in enumerate(cell.get("breakdown") or ()):
            yield Entry(
                cell["world"],
                cell["phase"],
                freeze(cell.get("levels", {})),
                str(breakdown["subject"]),
                breakdown,
                cell.get("bottleneck") if place == 0 else None,
            )


def _names(entries: list[Entry]) -> list[Name]:
    """Return the shortest unique names: levels, and the stream if there are several.

    A numeric level follows its axis's name.
    """
    several = len({entry.subject for entry in entries}) > 1
    names: list[Name] = []
    for entry in entries:
        name = level_words(entry.levels)
        names.append(name + ((entry.subject,) if several or not name else ()))
    return names


def _parts(entries: list[Entry]) -> list[str]:
    return [part for part in PARTS if any(part in entry.breakdown["parts"] for entry in entries)]


def _table(view: View, text: Text, phase: str, entries: list[Entry]) -> Table:
    parts = _parts(entries)
    keys = ("cell", "mean", *(f"part.{part}" for part in parts), "limit")
    worlds = len({entry.world for entry in entries}) > 1
    rows = [
        Row(
            text.names(name),
            (
                Shown(format_value("latency", entry.breakdown["latency_ns_mean"])),
                *(_part(entry, part, text) for part in parts),
                Shown(describe(entry.limit, text)),
            ),
            group=text.world(entry.world) if worlds else "",
        )
        for entry, name in zip(entries, _names(entries), strict=True)
    ]
    columns = tuple(Column(text(f"column.{key}")) for key in keys)
    caption = text("table.why", phase=text.name(phase))
    return Table(f"why-{phase}", caption, columns, tuple(rows), text("note.why"), numeric=True)


def _part(entry: Entry, part: str, text: Text) -> Shown:
    figures = entry.breakdown["parts"].get(part)
    if figures is None:
        return Shown(text("cell.none"))
    return Shown(format_value("latency", figures["mean_ns"]), at=percent(figures["share"]))


def percent(share: float) -> str:
    """Return a share as whole percent; a small share above zero is `<1 %`."""
    rounded = round(share * 100)
    return "<1 %" if rounded == 0 and share > 0 else f"{rounded} %"


def describe(limit: Mapping[str, Any] | None, text: Text) -> str:
    """Return a cell's bottleneck in words."""
    if not limit:
        return ""
    subject = str(limit.get("subject") or "")
    resource = str(limit.get("resource") or "")
    fields = {
        "part": text(f"part.{limit['part']}"),
        "share": percent(limit["part_share"]),
        "outstanding": f"{limit['outstanding']:.3g}",
        "resource": text(f"resource.{resource}") if resource else "",
        "subject": storage_name(limit) if subject else "",
        "busy": percent(limit["busy"]) if limit.get("busy") is not None else "",
    }
    kind = "waiting_on" if limit["kind"] == "waiting" and resource else limit["kind"]
    if kind == "saturated" and resource == "places":
        kind = "saturated_places"
    on_host = subject == "host" and kind != "latency"
    return text(f"limit.{kind}{'_host' if on_host else ''}", **fields)


def _figure(phase: str, entries: list[Entry]) -> Figure:
    names = _names(entries)
    if len({entry.world for entry in entries}) > 1:
        names = [(entry.world, *name) for entry, name in zip(entries, names, strict=True)]
    series = tuple(
        Series(
            (f"part.{part}",),
            tuple(float(place) for place in range(len(entries))),
            tuple(entry.breakdown["parts"].get(part, {}).get("share", 0.0) for entry in entries),
            style=PARTS.index(part),
        )
        for part in _parts(entries)
    )
    return Figure(
        f"why-{phase}",
        Phrase("figure.why", {"phase": phase}),
        Phrase("hint.why"),
        "stack",
        Scale(Phrase("axis.none"), "number", categories=tuple(names)),
        Scale(Phrase("axis.share"), "share"),
        (Panel((), series),),
    )
