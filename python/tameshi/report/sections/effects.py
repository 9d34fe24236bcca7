"""Effects of changes: ratios between levels, and between phases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis.stats import intervals, ratios
from tameshi.analysis.stats.estimates import MOVING
from tameshi.report.sections.outages import outages_of
from tameshi.report.sections.sustainable_load import breaks_limit
from tameshi.report.view.key_figures import MEAN, is_chief, model_of, side_of
from tameshi.report.view.points import (
    Axis,
    Levels,
    Name,
    Point,
    View,
    family_of,
    freeze,
    is_kind,
    is_side_metric,
    level_on,
    level_words,
    number,
    without,
)

FEW_LEVELS = 3
LIFE, LATENCY = "life", "latency"
"""Additional measures of an answer."""
COMMIT = "commit"
"""Operation of committing streams, and the measure of an effect on commits alone."""
ALL = "all"
"""Operation of a sum of several."""
Rates = Mapping[Levels, Point]
Pairs = Sequence[tuple[Point, Point]]


@dataclass(frozen=True)
class Effect:
    """Effect of a level of an axis on a program's rate, relative to another level.

    For scans it is the mean time, because a phase holds few whole ones: `measure` tells which.
    `ratio` is the geometric mean over the cells that differ in nothing else, `low` and `high` are
    their extremes. `model` is the model error, equal in all cells. `pair` holds both values if the
    effect rests on two, and `sampling` the 95 % interval of their ratio. `cell` names the only
    cell, or the program of several.
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
    sampling: tuple[float, float] | None = None


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
            results += _of_levels(view, phase, _latencies(view, world, phase))
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
            made = _made(world, phase, levels, LIFE, first["life_years"])
            if model := first.get("model", {}).get("life_years"):
                bounds = (model["low"], model["high"])
                made = replace(made, model=bounds, outside_model=not model["inside_range"])
            lives[levels] = made
    return lives


def _latencies(view: View, world: str, phase: str) -> dict[Levels, Point]:
    """Return the mean latency of all reads and writes, weighted by their number."""
    by_levels: dict[Levels, dict[tuple[str, str], dict[str, float]]] = {}
    for point in view.in_phase(phase):
        if point.world == world and point.operation in ("read", "write"):
            stream = by_levels.setdefault(point.levels, {})
            stream.setdefault((point.subject, point.operation), {})[point.measure] = point.value
    means = {}
    for levels, streams in by_levels.items():
        known = [sums for sums in streams.values() if sums.get("iops") and MEAN in sums]
        if known:
            rate = sum(sums["iops"] for sums in known)
            mean = sum(sums["iops"] * sums[MEAN] for sums in known) / rate
            means[levels] = _made(world, phase, levels, MEAN, mean)
    return means


def _made(world: str, phase: str, levels: Levels, measure: str, value: float) -> Point:
    """Return a point derived from several estimates, without interval."""
    return Point(
        world=world,
        phase=phase,
        levels=levels,
        subject="",
        operation=ALL,
        measure=measure,
        value=value,
        low=None,
        high=None,
        runs=0,
        method="",
        degrees=None,
        scale=None,
        operations=None,
        model=None,
        outside_model=False,
        sound=True,
    )


def work_effects(view: View, world: str) -> list[Effect]:
    """Return effects of axes and phases on operations of storages.

    Numeric axes are compared from end to end; of many names, the maximum and the minimum. More
    operations with more arrivals are no finding. A level with phases of its own is judged by those
    alone.
    """
    rates = _work(view, world)
    results = []
    for axis in (axis for axis in view.axes if axis.varies == "across" and not axis.offered):
        there = [lv for lv in axis.levels if any((axis.name, lv) in p.levels for p in rates)]
        if axis.numeric:
            there = sorted(there, key=lambda level: number(level) or 0.0)
            there = [*there[:1], *there[1:][-1:]]
        here = []
        for level in there[1:]:
            keyed = {
                lv: {
                    (point.phase, point.subject, without(point.levels, axis)): point
                    for point in rates
                    if level_on(point.levels, axis) == lv
                }
                for lv in (there[0], level)
            }
            pairs = _paired(keyed[level], keyed[there[0]])
            first, other = ({phase for phase, *_ in keyed[lv]} for lv in (there[0], level))
            if pairs and other <= first:
                here.append(_effect("", axis.name, there[0], level, pairs))
        here.sort(key=lambda effect: effect.ratio)
        results += here if len(here) <= FEW_LEVELS else [here[-1], here[0]]
    return results + _phase_effects(view, rates)


def _work(view: View, world: str) -> list[Point]:
    """Return commits of streams that always commit, and the sum of reads, writes and trims of
    others.

    Operations count together, because a change may turn one kind into another.
    """
    done: dict[bool, dict[tuple[Levels, str, str], list[Point]]] = {True: {}, False: {}}
    for point in view.points:
        commits = (point.operation, point.measure) == (COMMIT, "rate")
        moves = point.operation in MOVING and point.measure == "iops"
        is_work = (commits or moves) and point.value > 0 and point.world == world
        if is_work and not is_side_metric(point) and not breaks_limit(view, point):
            points = done[commits].setdefault((point.levels, point.phase, point.subject), [])
            points.append(point)
    both = {subject for *_, subject in done[False].keys() - done[True].keys()}
    kinds = {
        key: done[True][key] if key in done[True] and key[2] not in both else points
        for key, points in (done[True] | done[False]).items()
    }
    return [points[0] if len(points) == 1 else _together(points) for points in kinds.values()]


def _together(kinds: Sequence[Point]) -> Point:
    """Return a stream's operations of all kinds, summed in each run because they are correlated."""
    one = kinds[0]
    made = _made(one.world, one.phase, one.levels, one.measure, sum(p.value for p in kinds))
    made = replace(made, subject=one.subject, runs=one.runs)
    runs = [run for run in one.by_repetition if all(run in p.by_repetition for p in kinds)]
    by_run = {run: sum(p.by_repetition[run] for p in kinds) for run in runs}
    if len(by_run) < 2:
        return replace(made, by_repetition=by_run)
    each = list(by_run.values())
    interval = intervals.of_runs(each)
    made = replace(made, value=intervals.centre(each), by_repetition=by_run, method=interval.method)
    return replace(made, low=interval.low, high=interval.high, degrees=interval.degrees)


def _phase_effects(view: View, rates: Sequence[Point]) -> list[Effect]:
    """Yield effects of each later phase relative to the first with the same stream and cells."""
    by_phase: dict[str, dict[Any, Point]] = {phase: {} for phase in view.phases}
    for point in rates:
        by_phase[point.phase][point.subject, point.levels] = point
    phases = [phase for phase in view.phases if view.sweep_axis(phase) is None and by_phase[phase]]
    results = []
    for later in phases[1:]:
        pairs = _paired(by_phase[later], by_phase[phases[0]])
        if pairs and len(pairs) == len(by_phase[later]):
            results.append(_effect("", "phase", phases[0], later, pairs))
    return results


def _paired(above: Mapping[Any, Point], below: Mapping[Any, Point]) -> list[tuple[Point, Point]]:
    return [(point, below[key]) for key, point in above.items() if key in below]


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
    if all(point.operation == COMMIT for point, _ in pairs):
        measure = COMMIT
    sampling = _sampled(*pair) if pair else None
    return Effect(phase, axis, first, level, *spread, model, measure, pair, cell, sampling)


def _sampled(top: Point, bottom: Point) -> tuple[float, float] | None:
    """Return the interval of a ratio of two figures of one study in one world."""
    _, interval = ratios.ratio(side_of(top), side_of(bottom), paired=True)
    return (interval.low, interval.high) if interval.low and interval.high else None


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
