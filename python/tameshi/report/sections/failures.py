"""Storages that stopped serving within a phase, with their times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.core.units import format_seconds
from tameshi.report.view.points import View, freeze, level_words
from tameshi.report.words.text import Text

Stopped = dict[tuple[str, str], list[float]]
"""Times in the runs of a cell, by storage and kind of finding."""


def summarise(view: View, text: Text, world: str, most: int) -> list[str]:
    """Return a sentence per failed storage and cell; of more than `most`, the number of the
    others."""
    broken = [
        (cell, stopped)
        for cell in view.cells
        if cell["world"] == world and (stopped := _stopped(cell))
    ]
    several = sum(cell["world"] == world for cell in view.cells) > 1
    sentences = [
        text(f"item.{key}", storage=text.name(storage), time=format_seconds(times_ns))
        + (text("item.failed_in", name=_name(cell, text)) if several else "")
        for cell, stopped in broken
        for (storage, key), times_ns in stopped.items()
    ]
    more = len(sentences) - most
    return [*sentences[:most], text("item.failed_more", count=more)] if more > 0 else sentences


def _stopped(cell: Mapping[str, Any]) -> Stopped:
    times: Stopped = {}
    for finding in cell.get("findings", ()):
        if finding["code"] == "dead":
            ((figure, at_ns),) = finding["figures"].items()
            key = "failed" if figure == "failed_ns" else "stopped"
            times.setdefault((finding["subject"], key), []).append(at_ns)
    return times


def _name(cell: Mapping[str, Any], text: Text) -> str:
    return text.names((cell["phase"], *level_words(freeze(cell["levels"]))))
