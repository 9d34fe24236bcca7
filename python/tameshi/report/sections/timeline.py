"""Event timeline: events of each phase, and the service between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import of_phase
from tameshi.analysis.stats.timeline import MISSED
from tameshi.core.reasons import completed
from tameshi.core.units import format_value
from tameshi.report.view.points import View, freeze, kind_of
from tameshi.report.view.tables import Column, Row, Table, level_name
from tameshi.report.words.text import Shown, Text, modelled

NANOSECONDS = 1e9


def tables(view: View, text: Text) -> list[Table]:
    """Return a table per world and phase with events."""
    filled = []
    for world in view.worlds:
        for phase in view.phases:
            cells = [c for c in view.cells if (c["world"], c["phase"]) == (world, phase)]
            cells = [cell for cell in cells if cell.get("timeline")]
            if cells:
                filled.append(_table(world, phase, cells, text, len(view.worlds) > 1))
    return filled


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
    """Return the model error by subject and metric of a simulated database, as factors."""
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
    happened = text("list.separator").join(describe(event, text) for event in stretch["happened"])
    cells = [Shown(happened or text("cell.none"))]
    served = {
        (stream["subject"], operation): service
        for stream in stretch["streams"]
        for operation, service in stream["operations"].items()
    }
    is_measured = {stream["subject"]: stream["seconds"] > 0 for stream in stretch["streams"]}
    for place in places:
        service = served.get(place)
        if service is None:
            # With a whole interval, a missing operation was not served; without one, it is unknown.
            cells += [Shown("0" if is_measured.get(place[0]) else text("cell.none"))]
            cells += [Shown(text("cell.none"))]
        else:
            subject, operation = place
            means = {"rate": service["rate"], "latency.mean": service["latency_ns_mean"]}
            for measure, value in means.items():
                kind = kind_of(measure)
                bounds = off.get((subject, f"{operation}.{measure}"))
                model = (value * bounds[0], value * bounds[1]) if bounds else None
                cells.append(modelled(Shown(format_value(kind, value)), kind, value, model))
    return cells


def _rebuild(stretch: Mapping[str, Any], text: Text) -> str:
    written = sum(each["bandwidth"] for each in stretch["rebuilds"])
    return format_value("bandwidth", written) if written else text("cell.none")


def missing(view: View, text: Text) -> list[str]:
    """Descriptions of the events that did not happen, each once."""
    descriptions = (
        describe(event, text)
        for cell in view.cells
        for stretch in cell.get("timeline", ())
        for event in stretch["happened"]
        if event["kind"] == MISSED
    )
    return list(dict.fromkeys(descriptions))


def describe(event: Mapping[str, Any], text: Text) -> str:
    """Return an event in words."""
    kind = str(event["kind"])
    fields: dict[str, Any] = {
        key: text.name(str(event[key])) for key in ("storage", "event") if key in event
    }
    channel = event.get("channel") is not None
    if kind == "fail":
        kind = "fail_all" if event.get("member") is None else kind
        if channel:
            kind = "fail_channel" if event["survived"] else "fail_last_channel"
    if kind == "rebuilt":
        spent = event["for_ns"]
        fields |= {
            "bytes": format_value("bytes", event["bytes"]),
            "time": format_value("latency", spent),
            "scale": event.get("scale"),
        }
        kind = "rebuilt_channel" if channel else kind
        # Writes in flight do not scale with the capacity.
        kind = "resynced" if event.get("resync") else kind
        kind += "_scaled" if event.get("scale") and kind != "resynced" else ""
    if kind == "power_cut":
        fields |= {
            "outstanding": event["outstanding"],
            "torn": event.get("torn_writes", 0),
            "writes": event["lost_writes"],
            "bytes": format_value("bytes", event["lost_bytes"]),
            "flush": format_value("latency", event.get("flush_ns", 0)),
            "hold_up": format_value("latency", event.get("hold_up_ns", 0)),
        }
        kind = "power_cut_carried" if event.get("hold_up_ns") else kind
    if kind in ("crash", "restart"):
        fields["away"] = format_value("latency", event["away_ns"])
        kind += "_cut_short" if event.get("back") is False else ""
    if kind == "pool_loaded":
        fields |= {
            "pages": f"{event['pages']:,}",
            "time": format_value("latency", event["for_ns"]),
        }
        kind += "" if event["whole"] else "_in_part"
    if kind == "failover":
        fields |= {
            "outstanding": event["outstanding"],
            "writes": event["lost_writes"],
            "bytes": format_value("bytes", event["lost_bytes"]),
        }
    fields |= {key: event[key] for key in ("member", "channel", "status") if key in event}
    if "why" in event:
        fields["why"] = text.reason(completed(event["why"]))
    description = text(f"timeline.{kind}", **fields)
    if event["kind"] != "fail" or not event.get("lost_writes"):
        return description
    lost = format_value("bytes", event["lost_bytes"])
    return text("timeline.lost_with_it", event=description, writes=event["lost_writes"], bytes=lost)
