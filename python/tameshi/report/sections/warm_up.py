"""Warm-up of databases: the minutes until hit ratio and rate reach their steady values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tameshi.report.view.points import Name, View, freeze, level_words
from tameshi.report.view.tables import Answer, Clause
from tameshi.report.view.time_figures import HITS, RATE
from tameshi.report.words.text import Text

MINUTE_S = 60.0
SHORTEST_S = 300.0
"""Shortest run with a word about its warm-up."""
FEWEST = 12
"""Intervals that a steady value needs: the mean of their last quarter."""
LATEST = 0.75
"""Share of a run after which a quantity that still changes has no steady value."""
SMOOTHED = 5
"""Intervals of a moving mean."""
HITS_WITHIN, RATE_WITHIN = 0.01, 0.1
MOST_NAMES = 3


@dataclass(frozen=True)
class WarmUp:
    """Time in seconds until a cell's quantity stays near its steady value; None: it never does."""

    name: Name
    after_s: float | None

    @property
    def is_long(self) -> bool:
        """True if the warm-up takes minutes."""
        return self.after_s is None or self.after_s > MINUTE_S


def answers(view: View, series: Sequence[Mapping[str, Any]], text: Text) -> list[Answer]:
    """Return a line for each phase of minutes that begins with a cold buffer pool."""
    lines: dict[str, list[Clause]] = {}
    for entry in series:
        if entry.get("quantity") != HITS or not _is_long(entry):
            continue
        phase = str(entry["name"]).removesuffix(f", {HITS}")
        names = _names(view, str(entry["world"]), phase)
        hits = [*_warm_ups(entry, HITS, names)]
        if not any(each.is_long for each in hits):
            continue
        rates = next((other for other in series if _is_beside(other, entry, phase)), None)
        said = [_sentence("hits", hits, text)]
        said += [_sentence("rate", [*_warm_ups(rates, RATE, names)], text)] if rates else []
        sentence = text.sentence(text("list.separator").join(filter(None, said)))
        world = str(entry["world"])
        clause = Clause(world, text.world(world), sentence)
        lines.setdefault(phase, []).append(clause)
    topic = text("answer.warm_up")
    several = len(view.phases) > 1
    return [
        Answer(
            text("answer.in_phase", topic=topic, phase=text.name(phase)) if several else topic,
            tuple(clauses),
        )
        for phase, clauses in lines.items()
        if any(clause.sentence for clause in clauses)
    ]


def _is_long(entry: Mapping[str, Any]) -> bool:
    return len(entry["t_s"]) >= FEWEST and entry["t_s"][-1] >= SHORTEST_S


def _is_beside(other: Mapping[str, Any], entry: Mapping[str, Any], phase: str) -> bool:
    """Return whether an entry is the rate of another's world and phase."""
    return (other["world"], other["name"]) == (entry["world"], f"{phase}, {RATE}")


def _names(view: View, world: str, phase: str) -> dict[str, Name]:
    """Return each cell's name by the key of its lines."""
    here = [freeze(c["levels"]) for c in view.cells if (c["world"], c["phase"]) == (world, phase)]
    keys = (" ".join(label for _, label in levels) or phase for levels in here)
    return {key: level_words(levels) for key, levels in zip(keys, here, strict=True)}


def _warm_ups(
    entry: Mapping[str, Any], quantity: str, names: Mapping[str, Name]
) -> Iterator[WarmUp]:
    """Yield the warm-up of each cell with enough intervals."""
    for name, values in entry["values"].items():
        known = [(t, v) for t, v in zip(entry["t_s"], values, strict=True) if v is not None]
        if len(known) >= FEWEST:
            times_s, kept = [t for t, _ in known], [value for _, value in known]
            yield _warm_up(names.get(name, (name,)), times_s, kept, quantity)


def _warm_up(
    name: Name, times_s: Sequence[float], values: Sequence[float], quantity: str
) -> WarmUp:
    steady = fmean(values[-(len(values) // 4) :])
    smooth = values if quantity == HITS else _smoothed(values)
    within = HITS_WITHIN if quantity == HITS else RATE_WITHIN * steady
    near = [abs(value - steady) <= within for value in smooth]
    first = next((i for i in range(len(near), 0, -1) if not near[i - 1]), 0)
    done = first < len(near) and times_s[first] <= LATEST * times_s[-1]
    return WarmUp(name, times_s[first] if done else None)


def _smoothed(values: Sequence[float]) -> list[float]:
    """Return the mean of each value and those around it."""
    half = SMOOTHED // 2
    return [fmean(values[max(i - half, 0) : i + half + 1]) for i in range(len(values))]


def _sentence(quantity: str, cells: Sequence[WarmUp], text: Text) -> str:
    """Return the shortest and the longest time, and the cells without a steady value."""
    done = sorted((c.after_s, c.name) for c in cells if c.after_s is not None)
    parts = []
    if done:
        (first, name), (last, other) = done[0], done[-1]
        times = {"first": _minutes(first, text), "last": _minutes(last, text)}
        ends = {"name": text.names(name), "other": text.names(other)}
        if len(cells) == 1:
            after = text("warm_up.same", time=times["last"])
        elif times["first"] == times["last"]:
            after = text("warm_up.after", time=times["last"], **ends)
        else:
            after = text("warm_up.span", **times, **ends)
        parts.append(text(f"warm_up.near_{quantity}", after=after))
    rising = [text.names(c.name) for c in cells if c.after_s is None]
    if rising:
        names, more = text("list.short").join(rising[:MOST_NAMES]), len(rising) - MOST_NAMES
        if more > 0:
            names = text("warm_up.more", names=names, count=more)
        parts.append(text("warm_up.rising", names=names))
    return text("list.separator").join(parts)


def _minutes(time_s: float, text: Text) -> str:
    return text("warm_up.minutes", minutes=f"{max(time_s / MINUTE_S, 1):.0f}")
