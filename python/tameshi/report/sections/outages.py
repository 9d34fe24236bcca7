"""Outages of a database's clients, and lost commits, by event."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.core.units import format_seconds
from tameshi.report.view.points import Name, View, freeze, level_words
from tameshi.report.words.text import Shown, Text

FIRST, SERVED, RECOVERED = "first_error_ns", "first_success_ns", "recovered_ns"
BLOWS = ("crash", "restart")
FEW = 3
"""Outages shown one by one; of more only the longest by each event."""


@dataclass(frozen=True)
class Outage:
    """Outage of a cell: time to the first success, and to 90 % of the rate.

    In nanoseconds from the first failure, by run; None if it did not happen. `cause` is the event
    and its kind.
    """

    name: Name
    cause: tuple[str, str]
    served: tuple[int | None, ...]
    recovered: tuple[int | None, ...]
    served_model: tuple[float, ...] = ()
    """Bounds of the model error, by run."""
    recovered_model: tuple[float, ...] = ()

    @property
    def longest(self) -> tuple[float, float]:
        """Times to the first success and to recovery, in the worst run."""
        times = (self.served, self.recovered)
        served, recovered = (max(math.inf if t is None else t for t in ends) for ends in times)
        return served, recovered


def outages_of(cell: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the outage events of a cell in all its runs."""
    return [event for event in cell.get("database") or () if event["kind"] == "outage"]


def outages(view: View, world: str) -> list[Outage]:
    """Return the outages of each cell by event, in the order of the cells."""
    broken = [cell for cell in view.cells if cell["world"] == world and outages_of(cell)]
    several = len({cell["phase"] for cell in broken}) > 1
    by_cell = []
    for cell in broken:
        by_cause: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for outage in outages_of(cell):
            by_cause.setdefault(_cause(outage, cell), []).append(outage)
        name = _name(cell, several)
        by_cell += [_outage(name, cause, events) for cause, events in by_cause.items()]
    return by_cell


def _name(cell: Mapping[str, Any], several: bool) -> Name:
    words = level_words(freeze(cell["levels"]))
    return (cell["phase"], *words) if several or not words else words


def _cause(outage: Mapping[str, Any], cell: Mapping[str, Any]) -> tuple[str, str]:
    """Return the event nearest to the first failure in the same run; empty without one."""
    begin, run = outage["outage"][FIRST], outage["repetition"]
    blows = [e for e in cell["database"] if e["kind"] in BLOWS and e["repetition"] == run]
    nearest = min(blows, key=lambda blow: abs(blow["t_ns"] - begin), default=None)
    return (nearest["event"], nearest.get("how", "restart")) if nearest else ("", "")


def _outage(name: Name, cause: tuple[str, str], events: Sequence[Mapping[str, Any]]) -> Outage:
    def since(key: str) -> tuple[int | None, ...]:
        outages = [event["outage"] for event in events]
        return tuple(o[key] - o[FIRST] if o[key] else None for o in outages)

    def model(key: str) -> tuple[float, ...]:
        summarise = [event["model"][key] for event in events if key in event.get("model", {})]
        return tuple(each[end] for each in summarise for end in ("low", "high"))

    times = since(SERVED), since(RECOVERED)
    return Outage(name, cause, *times, model(SERVED), model(RECOVERED))


def summarise(view: View, text: Text, world: str, most: int) -> list[str]:
    """Return each of a few outages, else the longest by each event; at most `most`, with the number
    of the others."""
    outages_here = outages(view, world)
    named = _causes(outages_here)
    by_cause: dict[tuple[str, str], list[Outage]] = {}
    for outage in outages_here:
        by_cause.setdefault(outage.cause, []).append(outage)
    sentences = []
    for cause, alike in by_cause.items():
        if len(outages_here) <= FEW or len(alike) == 1:
            sentences += [
                (_say(text, outage, (*outage.name, *named[cause])), outage) for outage in alike
            ]
            continue
        worst = max(alike, key=lambda outage: outage.longest)
        event = text.names(named[cause])
        by = text("item.outages_by", event=event) if event else ""
        more = text("item.outages", count=len(alike), by=by)
        sentences.append((more + _say(text, worst, worst.name), worst))
    longest = sorted(sentences, key=lambda one: one[1].longest, reverse=True)[:most]
    kept = [sentence for sentence, outage in sentences if (sentence, outage) in longest]
    if len(sentences) > most:
        kept[-1] += text("item.outages_more", count=len(sentences) - most)
    return kept


def _causes(outages_here: Sequence[Outage]) -> dict[tuple[str, str], Name]:
    """Return the shortest unique names of causes: the event, its kind, both or nothing.

    A cause without a recorded event has no name.
    """
    causes = list(dict.fromkeys(outage.cause for outage in outages_here))
    events, ways = (len({cause[part] for cause in causes}) for part in (0, 1))
    parts = slice(2)
    if len(causes) == 1:
        parts = slice(0)
    elif events == len(causes):
        parts = slice(1)
    elif ways == len(causes):
        parts = slice(1, 2)
    return {cause: tuple(filter(None, cause[parts])) for cause in causes}


def _say(text: Text, outage: Outage, name: Name) -> str:
    """Return outage and recovery times; of several runs their range."""

    def phrase(known: str, never: str, times: Sequence[int | None], model: Sequence[float]) -> str:
        ends = [t for t in times if t is not None]
        if len(ends) < len(times):
            return text(f"outage.{never}")
        bounds = Shown("", model=format_seconds(model)) if model else Shown("")
        return text(f"outage.{known}", time=format_seconds(ends) + text.aside(bounds, bare=True))

    served = phrase("for", "to_end", outage.served, outage.served_model)
    recovered = phrase("recovered", "unrecovered", outage.recovered, outage.recovered_model)
    return text("item.outage", name=text.names(name), served=served, recovered=recovered)


def lost(view: View, text: Text, world: str) -> list[str]:
    """Return the number of cells with lost acknowledged commits, and the greatest loss.

    A run's ledger counts once, though all its phases show it.
    """
    checked = {
        freeze(cell["levels"]): sum(event["ledger"]["lost"] for event in checks)
        for cell in view.cells
        if cell["world"] == world
        if (checks := [e for e in cell.get("database") or () if e.get("ledger")])
    }
    losing = [levels for levels, count in checked.items() if count]
    if not losing:
        return []
    worst = max(losing, key=lambda levels: checked[levels])
    key = "item.lost" if len(checked) > 1 else "item.lost_one"
    numbers = {"cells": len(losing), "all": len(checked), "count": f"{checked[worst]:,}"}
    return [text(key, name=text.names(level_words(worst)), **numbers)]
