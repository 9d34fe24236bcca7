"""Losses at power cuts with weak capacitors, and flash life gained by read retry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.view.points import View, freeze, level_words
from tameshi.report.words.text import Text

Cell = Mapping[str, Any]


def cuts(view: View, text: Text, world: str) -> list[str]:
    """Return the hold-up times that save a drive's buffer, and the largest loss of the others.

    Returns nothing for drives without a capacitor or without buffered data.
    """
    by_storage: dict[str, list[tuple[Mapping[str, Any], Cell]]] = {}
    for cell, event in _cuts(view, world):
        by_storage.setdefault(event["storage"], []).append((event, cell))
    return [
        sentence
        for storage, power_cuts in by_storage.items()
        for sentence in _of_storage(text, storage, power_cuts)
    ]


def _cuts(view: View, world: str) -> Iterator[tuple[Cell, Mapping[str, Any]]]:
    for cell in (cell for cell in view.cells if cell["world"] == world):
        for stretch in cell.get("timeline", ()):
            for event in stretch["happened"]:
                if event["kind"] == "power_cut" and event.get("hold_up_ns"):
                    yield cell, event


def _of_storage(
    text: Text, storage: str, power_cuts: list[tuple[Mapping[str, Any], Cell]]
) -> Iterator[str]:
    saved = [event for event, _ in power_cuts if not event["lost_writes"]]
    lost = [(event, cell) for event, cell in power_cuts if event["lost_writes"]]
    needed = _times([event["flush_ns"] for event, _ in power_cuts])
    yield text("item.cut", storage=text.name(storage), time=needed)
    if saved:
        held = _times([event["hold_up_ns"] for event in saved])
        yield text("item.cut_saved", time=held)
    if lost:
        worst, cell = max(lost, key=lambda one: one[0]["lost_writes"])
        yield text(
            "item.cut_lost",
            time=_times([event["hold_up_ns"] for event, _ in lost]),
            writes=f"{worst['lost_writes']:,}",
            bytes=format_value("bytes", worst["lost_bytes"]),
            name=_name(text, cell),
        )


def _times(times_ns: list[float]) -> str:
    ends = (format_value("latency", end) for end in (min(times_ns), max(times_ns)))
    return " – ".join(dict.fromkeys(ends))


def retries(view: View, text: Text, world: str) -> list[str]:
    """Return the life that read retry adds, if some flash depends on it; first cell of each
    phase."""
    retried = [
        (cell, flash)
        for cell in view.cells
        if cell["world"] == world
        for flash in cell.get("endurance") or ()
        if flash.get("life_years_retried") is not None and flash.get("life_years") is not None
    ]
    by_it_alone = [
        (cell, flash)
        for cell, flash in retried
        if not flash["life_years"] and flash["life_years_retried"]
    ]
    if not by_it_alone:
        return []
    first, flash = retried[0]
    sentences = []
    if flash["life_years"]:
        lives = {key: text.life(flash[key]).value for key in ("life_years", "life_years_retried")}
        ratio = format_value("ratio", flash["life_years_retried"] / flash["life_years"])
        sentences.append(text("item.retry", name=_name(text, first), ratio=ratio, **lives))
    least, most = (
        choose(by_it_alone, key=lambda one: float(one[1]["life_years_retried"]))
        for choose in (min, max)
    )
    ends = {
        f"{end}{part}": retried
        for end, (cell, worn) in {"least": least, "most": most}.items()
        for part, retried in (
            ("", text.life(worn["life_years_retried"]).value),
            ("_in", _name(text, cell)),
        )
    }
    sentences.append(text("item.retry_alone" if least is most else "item.retry_range", **ends))
    return sentences


def _name(text: Text, cell: Cell) -> str:
    return text.names((cell["phase"], *level_words(freeze(cell["levels"]))))
