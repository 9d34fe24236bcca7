"""Effects of changes: ratios between levels, and between phases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.report.sections.outages import outages_of
from tameshi.report.view.combined import ALL, mean_latencies, one_of
from tameshi.report.view.key_figures import MEAN, is_chief, model_of
from tameshi.report.view.points import (
    Axis,
    Levels,
    Name,
    Point,
    View,
    family_of,
    freeze,
    is_kind,
    level_on,
    level_words,
    number,
    without,
)

LIFE, LATENCY = "life", "latency"
"""Additional measures of an answer."""
Rates = Mapping[Levels, Point]
Pairs = Sequence[tuple[Point, Point]]


@dataclass(frozen=True)
class Effect:
    """Effect of a level of an axis on a program's rate, relative to another level.

    For scans it is the mean time, because a phase holds few whole ones: `measure` tells which.
    `ratio` is the geometric mean over the cells that differ in nothing else, `low` and `high` are
    their extremes. `model` is the model error, equal in all cells. `pair` holds both values if the
    effect rests on two. `cell` names the only cell, or the program of several.
    """

    phase: str
    axis: str
    first: str
    level: str
    ratio: float
    low: float
    high: float
    model: tuple[float, float] | None
    measure: str = "rate"
    pair: tuple[Point, Point] | None = None
    cell: Name = ()


def effects(view: View, world: str, most: int) -> list[Effect]:
    """Return effects of levels and phases on programs, and on the study's further measures.

    Phases are compared cell by cell up to `most` effects.
    """
    results: list[Effect] = []
    by_phase = {phase: rates for phase in view.phases if (rates := _rates(view, world, phase))}
    broken = {(c["phase"], freeze(c["levels"])) for c in _cells(view, world) if outages_of(c)}
    # The rate of a cell with an outage reflects the outage, not the levels.
    unbroken = [phase for phase in by_phase if phase not in {at for at, _ in broken}]
    for phase in unbroken or by_phase:
        rates = by_phase[phase]
        kept = {levels: rate for levels, rate in rates.items() if (phase, levels) not in broken}
        results += _of_levels(view, phase, kept or rates)
    results += _of_phases(view, by_phase, most)
    measures = view.answer.get("tell") or ()
    if LIFE in measures:
        for phase in view.phases:
            results += _of_levels(view, phase, _lives(view, world, phase))
    if LATENCY in measures:
        for phase in (phase for phase in view.phases if phase not in by_phase):
            results += _of_levels(view, phase, mean_latencies(view, world, phase))
    return results


def few(candidates: Sequence[Effect], most: int) -> list[Effect]:
    """Return at most `most` effects in order: the greatest of each axis before any second one."""
    ranked: dict[tuple[str, str, str], list[Effect]] = {}
    for effect in sorted(candidates, key=lambda effect: -abs(math.log(effect.ratio))):
        ranked.setdefault((effect.measure, effect.phase, effect.axis), []).append(effect)
    places = {
        id(effect): place for ranking in ranked.values() for place, effect in enumerate(ranking)
    }
    chosen = sorted(candidates, key=lambda effect: places[id(effect)])[:most]
    return [effect for effect in candidates if effect in chosen]


def _cells(view: View, world: str) -> Iterator[dict[str, Any]]:
    return (cell for cell in view.cells if cell["world"] == world)


def _rates(view: View, world: str, phase: str) -> dict[Levels, Point]:
    """Return the chief figures of a phase's programs by levels."""
    return {
        point.levels: point
        for point in view.in_phase(phase)
        if point.world == world and point.operation == "transaction" and point.value > 0
        if is_chief(point) and not is_kind(point.key)
    }


def _of_levels(view: View, phase: str, rates: Rates) -> Iterator[Effect]:
    """Yield the study's comparisons; else the ends of numeric axes, and names with the first."""
    compared = view.answer.get("levels") or {}
    chosen = bool(compared or view.answer.get("phases"))
    for axis in view.axes:
        there = [lv for lv in axis.levels if any((axis.name, lv) in levels for levels in rates)]
        if axis.numeric:
            there = sorted(there, key=lambda level: number(level) or 0.0)
            there = [*there[:1], *there[1:][-1:]]
        beside = compared.get(axis.name, {}) if chosen else {level: there[0] for level in there[1:]}
        pairs = {level: _alike(rates, axis, first, level) for level, first in beside.items()}
        # In a question, some pools exist for few storages only: their means are not comparable.
        least = max(map(len, pairs.values()), default=0) if view.asked is not None else 1
        for level, first in beside.items():
            if len(pairs[level]) < max(least, 1):
                continue
            programs = dict.fromkeys(top.subject for top, _ in pairs[level])
            for program in programs:
                own = [pair for pair in pairs[level] if pair[0].subject == program]
                name = (program,) if len(programs) > 1 else ()
                yield _effect(phase, axis.name, first, level, own, name)


def _of_phases(view: View, by_phase: Mapping[str, Rates], most: int) -> Iterator[Effect]:
    """Yield the study's comparisons of phases."""
    compared = {
        phase: first
        for phase, first in (view.answer.get("phases") or {}).items()
        if phase in by_phase and first in by_phase
    }
    alike = {
        phase: [
            levels
            for levels, top in by_phase[phase].items()
            if levels in by_phase[first] and _comparable(top, by_phase[first][levels])
        ]
        for phase, first in compared.items()
    }
    apart = sum(map(len, alike.values())) <= most
    for phase, first in compared.items():
        pairs = [(by_phase[phase][levels], by_phase[first][levels]) for levels in alike[phase]]
        groups = [[pair] for pair in pairs] if apart else [pairs]
        for group in (group for group in groups if group):
            name = level_words(group[0][0].levels) if apart else ()
            yield _effect(phase, "phase", first, phase, group, name)


def _lives(view: View, world: str, phase: str) -> dict[Levels, Point]:
    """Return the life in years of the drive that wears out first."""
    lives = {}
    for cell in _cells(view, world):
        worn = [each for each in cell.get("endurance") or () if each["life_years"]]
        if cell["phase"] == phase and worn:
            levels, first = freeze(cell["levels"]), min(worn, key=lambda each: each["life_years"])
            made = one_of(world, phase, levels, LIFE, first["life_years"])
            if model := first.get("model", {}).get("life_years"):
                bounds = (model["low"], model["high"])
                made = replace(made, model=bounds, outside_model=not model["inside_range"])
            lives[levels] = made
    return lives


def _effect(phase: str, axis: str, first: str, level: str, pairs: Pairs, cell: Name = ()) -> Effect:
    factors = [top.value / bottom.value for top, bottom in pairs]
    models = [model for pair in pairs if (model := model_of(*pair))]
    model = None
    if len(models) == len(pairs):
        model = _mean([low for low, _ in models]), _mean([high for _, high in models])
    spread = _mean(factors), min(factors), max(factors)
    pair = pairs[0] if len(pairs) == 1 else None
    top = pairs[0][0]
    measure = LATENCY if (top.operation, top.measure) == (ALL, MEAN) else family_of(top.measure)
    return Effect(phase, axis, first, level, *spread, model, measure, pair, cell)


def _mean(factors: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(math.fsum(map(math.log, factors)) / len(factors))


def _alike(rates: Rates, axis: Axis, first: str, level: str) -> list[tuple[Point, Point]]:
    """Return pairs of cells that differ in this axis alone."""
    base = {without(lv, axis): rate for lv, rate in rates.items() if level_on(lv, axis) == first}
    there = {without(lv, axis): rate for lv, rate in rates.items() if level_on(lv, axis) == level}
    pairs = ((rate, base[other]) for other, rate in there.items() if other in base)
    return [pair for pair in pairs if _comparable(*pair)]


def _comparable(top: Point, bottom: Point) -> bool:
    """Return whether two figures are of one program."""
    return top.subject == bottom.subject
