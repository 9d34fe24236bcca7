"""Phases without figures: idle ones, and those whose commands all failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.sections.timeline import describe
from tameshi.report.view.points import View
from tameshi.report.words.text import Text


def phases(view: View, world: str) -> dict[str, list[Mapping[str, Any]]]:
    """Return by phase the cells whose runs ended without a figure.

    A pause counts only if the study has no figures at all.
    """
    by_phase: dict[str, list[Mapping[str, Any]]] = {}
    for cell in view.cells:
        ended = any(cell.get("runs", {}).get(state) for state in ("complete", "partial"))
        happened = cell.get("findings") or cell.get("timeline")
        news = (happened and not cell.get("pause")) or not view.points
        if cell["world"] == world and ended and news and not cell.get("estimates"):
            by_phase.setdefault(cell["phase"], []).append(cell)
    return by_phase


def summarise(view: View, text: Text, world: str) -> list[str]:
    """Return the events and failures of each such phase."""
    items = []
    for phase, cells in phases(view, world).items():
        alike = sum((c["world"], c["phase"]) == (world, phase) for c in view.cells)
        name = text.name(phase)
        if len(cells) < alike:
            name += f" ({text('cell.some', count=len(cells), total=alike)})"
        failed = sum(
            finding["figures"]["count"]
            for cell in cells
            for finding in cell.get("findings", ())
            if finding["code"] == "failed"
        )
        codes = {finding["code"] for cell in cells for finding in cell.get("findings", ())}
        key = "item.empty_failed" if failed else "item.empty"
        key = "item.empty_ramped" if "ramped" in codes else key
        items += [text(key, phase=name, count=f"{failed:,.0f}"), *_events(cells, text)]
    return items


def _events(cells: Sequence[Mapping[str, Any]], text: Text) -> list[str]:
    """Return the events of the first run."""
    timeline = cells[0].get("timeline", ())
    return [
        text(
            "item.at_time",
            time=format_value("latency", stretch["from_ns"]),
            event=describe(event, text),
        )
        for stretch in timeline
        if stretch["repetition"] == timeline[0]["repetition"]
        for event in stretch["happened"]
    ]
