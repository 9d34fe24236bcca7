"""What happened during the phases, and the service between: events in the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import of_phase
from tameshi.report.sections.event_words import happening
from tameshi.report.view.points import View, freeze, kind_of
from tameshi.report.view.tables import Column, Row, Table, level_name
from tameshi.report.words.text import Shown, Text, format_value, modelled

NANOSECONDS = 1e9


def tables(view: View, text: Text) -> list[Table]:
    """One table for each world and phase in which something happened."""
    found = []
    for world in view.worlds:
        for phase in view.phases:
            cells = [c for c in view.cells if (c["world"], c["phase"]) == (world, phase)]
            cells = [cell for cell in cells if cell.get("timeline")]
            if cells:
                found.append(_table(world, phase, cells, text, len(view.worlds) > 1))
    return found


def _table(
    world: str, phase: str, cells: Sequence[Mapping[str, Any]], text: Text, several: bool
) -> Table:
    places = dict.fromkeys(
        (stream["subject"], operation)
        for cell in cells
        for stretch in cell["timeline"]
        for stream in stretch["streams"]
        for operation in stream["operations"]
    )
    rebuilds = any(stretch["rebuilds"] for cell in cells for stretch in cell["timeline"])
    failures = _failures(cells)
    columns = [Column(text("timeline.time")), Column(text("timeline.happened"))]
    for subject, operation in places:
        group = text.names((subject, operation))
        columns += [Column(text("timeline.rate"), group), Column(text("timeline.mean"), group)]
    columns += [Column(text("timeline.failed"))] if failures else []
    columns += [Column(text("timeline.rebuild"))] if rebuilds else []
    rows = []
    for cell in cells:
        first = cell["timeline"][0]["repetition"]
        levels = freeze(dict(cell["levels"]))
        group = text("list.short").join(level_name(text, *pair) for pair in levels)
        for stretch in (s for s in cell["timeline"] if s["repetition"] == first):
            shown = _row(stretch, list(places), _off(cell), text)
            shown += [Shown(_told_failed(stretch, text))] if failures else []
            shown += [Shown(_rebuild(stretch, text))] if rebuilds else []
            rows.append(Row(_span(stretch), tuple(shown), group=group))
    caption = text("table.timeline", phase=text.name(phase))
    caption += f" ({text.world(world)})" if several else ""
    note = text("note.timeline")
    return Table(f"timeline-{world}-{phase}", caption, tuple(columns), tuple(rows), note)


def _failures(cells: Sequence[Mapping[str, Any]]) -> bool:
    return any(_failed(stretch) for cell in cells for stretch in cell["timeline"])


def _failed(stretch: Mapping[str, Any]) -> int:
    return sum(int(stream["failed"]) for stream in stretch["streams"])


def _told_failed(stretch: Mapping[str, Any], text: Text) -> str:
    failed = _failed(stretch)
    is_told = failed or any(stream["seconds"] > 0 for stream in stretch["streams"])
    return str(failed) if is_told else text("cell.none")


def _span(stretch: Mapping[str, Any]) -> str:
    begin, end = (stretch[key] / NANOSECONDS for key in ("from_ns", "to_ns"))
    return f"{begin:.3f}–{end:.3f} s"


def _off(cell: Mapping[str, Any]) -> dict[tuple[str, str], tuple[float, float]]:
    """By subject and metric of a simulated database: by which factors its model may be off."""
    return {
        (e["subject"], e["metric"]): (
            e["model"]["low"] / e["value"],
            e["model"]["high"] / e["value"],
        )
        for e in of_phase(cell)
        if e.get("model")
    }


def _row(
    stretch: Mapping[str, Any],
    places: Sequence[tuple[str, str]],
    off: Mapping[tuple[str, str], tuple[float, float]],
    text: Text,
) -> list[Shown]:
    happened = text("list.separator").join(happening(event, text) for event in stretch["happened"])
    cells = [Shown(happened or text("cell.none"))]
    served = {
        (stream["subject"], operation): told
        for stream in stretch["streams"]
        for operation, told in stream["operations"].items()
    }
    whole = {stream["subject"]: stream["seconds"] > 0 for stream in stretch["streams"]}
    for place in places:
        told = served.get(place)
        if told is None:
            # Without a whole interval nothing is known; with one, nothing was served.
            cells += [Shown("0" if whole.get(place[0]) else text("cell.none"))]
            cells += [Shown(text("cell.none"))]
        else:
            subject, operation = place
            means = {"rate": told["rate"], "latency.mean": told["latency_ns_mean"]}
            for measure, value in means.items():
                kind = kind_of(measure)
                bounds = off.get((subject, f"{operation}.{measure}"))
                model = (value * bounds[0], value * bounds[1]) if bounds else None
                cells.append(modelled(Shown(format_value(kind, value)), kind, value, model))
    return cells


def _rebuild(stretch: Mapping[str, Any], text: Text) -> str:
    written = sum(each["bandwidth"] for each in stretch["rebuilds"])
    return format_value("bandwidth", written) if written else text("cell.none")
