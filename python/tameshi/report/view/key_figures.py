"""Key figures of a study, chosen from axes, phases and measures: peaks, floors, interference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis import model_ratio, unknown
from tameshi.analysis.stats import ratios
from tameshi.analysis.stats.intervals import Interval
from tameshi.report.view.points import (
    Axis,
    Name,
    Point,
    Series,
    View,
    family_of,
    freeze,
    is_kind,
    level_on,
    lowest_level,
    moves_large_blocks,
    series_names,
    series_of,
    without_parts,
)

MEDIAN, MEAN, P99 = "latency.p50", "latency.mean", "latency.p99"
SCAN = "scan"


@dataclass(frozen=True)
class Ratio:
    """Ratio of two estimates, with its interval if both have one."""

    value: float
    low: float | None
    high: float | None
    runs: int
    model: tuple[float, float] | None = None


@dataclass(frozen=True)
class KeyFigure:
    """Key figure in each world: `kind` is `peak` or `floor` of a sweep, or `plain`."""

    kind: str
    phase: str
    name: Name
    operation: str
    measure: str
    axis: str
    by_world: Mapping[str, Point]


@dataclass(frozen=True)
class PhasePair:
    """Stream in two phases, the second with more streams running."""

    first: str
    second: str
    name: Name
    by_world: Mapping[str, tuple[Point, Point]]


def ratio_of(view: View, top: Point, bottom: Point) -> Ratio | None:
    """Return the study's own ratio, either way up, else one from the two estimates."""
    metric = f"{top.operation}.{top.measure}"
    model = model_of(top, bottom)
    for entry in view.ratios:
        if (entry["metric"], entry.get("subject", "")) != (metric, top.subject):
            continue
        sampling = entry.get("sampling") or {}
        low, high = sampling.get("low"), sampling.get("high")
        runs = int(sampling.get("runs") or 0)
        if _sides(entry, top, bottom):
            return Ratio(entry["value"], low, high, runs, model)
        if _sides(entry, bottom, top) and entry["value"] > 0:
            low, high = (1 / high if high else None, 1 / low if low else None)
            return Ratio(1 / entry["value"], low, high, runs, model)
    value, interval = ratios.ratio(side_of(top), side_of(bottom), paired=False)
    if value is None or value <= 0:
        return None
    return Ratio(value, interval.low, interval.high, interval.runs, model)


def model_of(top: Point, bottom: Point) -> tuple[float, float] | None:
    """Return the model error of a ratio, with the unknown settings."""
    metric = f"{top.operation}.{top.measure}"
    model = model_ratio.of(metric, (top.value, top.told_model), (bottom.value, bottom.told_model))
    tried = unknown.of_ratio(top.tried, bottom.tried)
    return unknown.widened(top.value / bottom.value, model, tried) if tried else model


def _sides(entry: Mapping[str, Any], top: Point, bottom: Point) -> bool:
    """Return whether an entry of results.json is the ratio of these two."""
    return all(
        (side.get("phase", entry["phase"]), side["world"], freeze(side["levels"]))
        == (point.phase, point.world, point.levels)
        for side, point in ((entry["numerator"], top), (entry["denominator"], bottom))
    )


def side_of(point: Point) -> ratios.Side:
    """Return a point as a side of a ratio."""
    interval = Interval(point.low, point.high, point.runs, point.method, point.degrees)
    return ratios.Side(point.value, interval, point.by_repetition)


def sweep_figures(view: View, phase: str, axis: Axis) -> list[KeyFigure]:
    """Return each series' peak over the axis, and its latency at the lowest level."""
    points = view.in_phase(phase)
    lowest = lowest_level(axis)
    by_series = series_of(points, axis)
    peaks, floors = [], []
    for key, name in series_names(points, axis).items():
        if is_kind(key):
            continue
        name = _program(name, key)
        series = by_series[key]
        rate = _natural_rate(view, series)
        if rate:
            best = {w: _peak(ps) for w, ps in _by_world(series, rate).items()}
            peaks.append(KeyFigure("peak", phase, name, key[2], rate, axis.name, best))
        at_floor = [p for p in series if level_on(p.levels, axis) == lowest]
        for measure in _first_of(at_floor, (MEDIAN, MEAN)) + _first_of(at_floor, (P99,)):
            by_world = {w: ps[0] for w, ps in _by_world(at_floor, measure).items()}
            floors.append(KeyFigure("floor", phase, name, key[2], measure, axis.name, by_world))
    return peaks + floors


def _peak(points: Sequence[Point]) -> Point:
    """Return the maximum of valid points; of all, if none is valid."""
    sound = [point for point in points if point.sound]
    return max(sound or points, key=lambda point: point.value)


def plain_figures(view: View, phase: str) -> list[KeyFigure]:
    """Return rate or bandwidth, and latency, of each series of a phase without a numeric axis.

    A committing stream is named if others commit as well.
    """
    points = view.in_phase(phase)
    kept = {p.key for p in without_parts(points)}
    committing = Counter(levels for levels, _, operation in kept if operation == "commit")
    key_figures = []
    for key, name in series_names(points, None).items():
        levels, subject, operation = key
        if key not in kept or is_kind(key):
            continue
        name = _program(name, key)
        series = [p for p in points if p.key == key]
        rate = MEAN if subject == SCAN else _natural_rate(view, series)
        measures = [rate] if rate else []
        if subject == SCAN:
            measures = _first_of(series, (MEAN,))
        elif operation == "commit":
            if committing[levels] == 1:
                name = tuple(part for part in name if part != subject) or (operation,)
            measures += _first_of(series, (MEAN,)) + _first_of(series, (P99,))
        elif operation == "transaction":
            measures += _first_of(series, (P99,))
        elif rate != "bandwidth":
            measures += _first_of(series, (P99, MEAN))
        for measure in measures:
            by_world = {w: ps[0] for w, ps in _by_world(series, measure).items()}
            key_figures.append(KeyFigure("plain", phase, name, operation, measure, "", by_world))
    return key_figures


def _program(name: Name, key: Series) -> Name:
    """Return a lone program's own name in place of `transaction`."""
    return (key[1],) if name == ("transaction",) else name


def is_chief(point: Point) -> bool:
    """Return whether a point is its program's chief figure: the rate, for scans the mean time."""
    measure = point.measure
    return measure == MEAN if point.subject == SCAN else family_of(measure) == "rate"


def phase_pairs(view: View) -> list[PhasePair]:
    """Return streams that run alone in one phase and with others in a later one."""
    plain = [phase for phase in view.phases if view.sweep_axis(phase) is None]
    streams = {phase: {p.key for p in view.in_phase(phase)} for phase in plain}
    collected = []
    for i, first in enumerate(plain):
        for second in plain[i + 1 :]:
            if not streams[first] or not streams[first] < streams[second]:
                continue
            names = series_names(view.in_phase(first), None)
            for key in (p for p in names if p in streams[first]):
                pairs = _pairs(view, first, second, key)
                if pairs:
                    collected.append(PhasePair(first, second, names[key], pairs))
    return collected


def _pairs(
    view: View, first: str, second: str, key: tuple[object, str, str]
) -> dict[str, tuple[Point, Point]]:
    tails = [p for p in view.points if p.key == key and p.measure == P99]
    before = {p.world: p for p in tails if p.phase == first}
    after = {p.world: p for p in tails if p.phase == second}
    return {w: (before[w], after[w]) for w in view.worlds if w in before and w in after}


def _natural_rate(view: View, series: list[Point]) -> str | None:
    """Return `bandwidth` for large transfers, else the rate; None without either."""
    rates = _first_of(series, ("iops", "rate"))
    if not rates or any(moves_large_blocks(view, p) for p in series):
        rates = _first_of(series, ("bandwidth",)) or rates
    return rates[0] if rates else None


def _first_of(points: Iterable[Point], measures: tuple[str, ...]) -> list[str]:
    present = {p.measure for p in points}
    return [m for m in measures if m in present][:1]


def _by_world(points: Iterable[Point], measure: str) -> dict[str, list[Point]]:
    worlds: dict[str, list[Point]] = {}
    for point in points:
        if family_of(point.measure) == family_of(measure):
            worlds.setdefault(point.world, []).append(point)
    return worlds
