"""Plots of a set of failover trials: outages by way and event, rates by way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.report.view.figures import Figure, Panel, Scale, Series
from tameshi.report.words.text import Phrase

HINT = Phrase("failovers.hint.spread")
NO_AXIS = Phrase("axis.none")


def figures(document: Mapping[str, Any]) -> list[Figure]:
    """Return the plots of a set; none before a trial has ended."""
    return [*_outages(document["cells"]), *_rates(document["services"])]


def _outages(cells: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the times until the service was back: a panel per drive, a row per way."""
    known = [cell for cell in cells if cell["away_ns"]]
    ways, events, drives = (_unique(known, key) for key in ("way", "event", "drive"))
    panels = []
    for drive in drives:
        series = []
        for style, event in enumerate(events):
            mine = [c for c in known if (c["drive"], c["event"]) == (drive, event)]
            places = [float(ways.index(cell["way"])) for cell in mine]
            series.append(_series(event, places, [cell["away_ns"] for cell in mine], style))
        panels.append(Panel((drive,) if len(drives) > 1 else (), tuple(series)))
    if panels:
        yield _figure("away", ways, Scale(Phrase("axis.none"), "latency", log=True), panels)


def _rates(services: Sequence[Mapping[str, Any]]) -> Iterator[Figure]:
    """Yield the commits per second before the event: a row per way, a bar per drive."""
    ways, drives = (_unique(services, key) for key in ("way", "drive"))
    series = []
    for style, drive in enumerate(drives):
        mine = [each for each in services if each["drive"] == drive]
        places = [float(ways.index(each["way"])) for each in mine]
        series.append(_series(drive, places, [each["rate"] for each in mine], style))
    if series:
        scale = Scale(Phrase("failovers.rate"), "rate")
        yield _figure("rate", ways, scale, [Panel((), tuple(series))], kind="bar")


def _figure(
    name: str, ways: Sequence[str], y: Scale, panels: Sequence[Panel], kind: str = "dot"
) -> Figure:
    categories = tuple((way,) for way in ways)
    return Figure(
        f"failovers-{name}",
        Phrase(f"failovers.figure.{name}"),
        HINT,
        kind,
        Scale(NO_AXIS, "number", categories=categories),
        y,
        tuple(panels),
    )


def _series(
    name: str, places: Sequence[float], spreads: Sequence[Mapping[str, float]], style: int
) -> Series:
    return Series(
        (name,),
        tuple(places),
        tuple(spread["value"] for spread in spreads),
        tuple(spread["low"] for spread in spreads),
        tuple(spread["high"] for spread in spreads),
        style=style,
    )


def _unique(rows: Sequence[Mapping[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))
