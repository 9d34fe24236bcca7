"""Figure data: the plots of a study as plain frozen values; draw.py draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.core.units import format_value
from tameshi.report.view.key_figures import MEAN, P99
from tameshi.report.view.points import (
    LATENCY,
    Axis,
    Levels,
    Name,
    Point,
    View,
    family_of,
    freeze,
    is_kind,
    kind_of,
    level_on,
    level_words,
    moves_large_blocks,
    number,
    only_stream,
    series_names,
    series_of,
    unique,
    without,
    without_parts,
)
from tameshi.report.view.points import Series as SeriesKey
from tameshi.report.words.text import Phrase

# Ratio of values beyond which points on a logarithmic axis replace bars.
BAR_RANGE = 20.0
LOG_RANGE = 8.0
Bounds = tuple[float, float] | None
PhaseSeries = tuple[str, SeriesKey]
MOST_LINES = 8
"""Lines of a sweep that one plot can show distinctly."""
MOST_PANELS = 24
"""Panels of distributions in one figure; the hint states omitted cells."""
MOST_ROWS = 120
"""Rows of a plot; with more of them the tables suffice."""
# Name that the planner gives to a search's axis of rates.
_RATE_AXIS = "rate"


@dataclass(frozen=True)
class Scale:
    """Axis of a plot: label, format of values, ticks."""

    label: Phrase
    kind: str
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    categories: tuple[Name, ...] = ()


@dataclass(frozen=True)
class Series:
    """Line, bar or row of points; `low` and `high` bound each value with an interval.

    `models` bounds each value by its model error, None without a model. `faults`: reasons of each
    invalid point, None for a sound one. `style` picks colour and marker, `dash` the dashes; `ramp`,
    from 0 to 1, replaces the colour by one of an ordered scale.
    """

    name: Name
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    style: int = 0
    dash: int = 0
    ramp: float | None = None
    models: tuple[Bounds, ...] = ()
    faults: tuple[tuple[Mapping[str, Any], ...] | None, ...] = ()
    words: tuple[str, ...] = ()
    """Sentence of each point, in place of its place and value."""

    @property
    def modelled(self) -> bool:
        """True if a value has a model error."""
        return any(self.models)


@dataclass(frozen=True)
class Panel:
    """Plot of a grid; `y` is its own scale of values, if the figure has no common one."""

    name: Name
    series: tuple[Series, ...]
    marks: tuple[tuple[float, Phrase], ...] = ()
    """Positions on the x axis, with labels."""
    bounds: tuple[tuple[float, Phrase], ...] = ()
    """Limits on the y axis."""
    y: Scale | None = None


@dataclass(frozen=True)
class Figure:
    """Plots in a grid, on one scale if `common`; `kind`: `line`, `step`, `scatter`, `bar`, `stack`,
    `dot`, or `range`, bars from `low` to `high`."""

    id: str
    title: Phrase
    hint: Phrase
    kind: str
    x: Scale
    y: Scale
    panels: tuple[Panel, ...]
    columns: int = 1
    common: bool = True
    notes: tuple[Phrase, ...] = ()
    """Phrases after the hint: omitted content."""
    whiskers: str = ""
    """Key of the whiskers' meaning; empty without sampling intervals."""

    @property
    def hints(self) -> tuple[Phrase, ...]:
        """Return the reading hints; whiskers and models only if a value has them."""
        lows = (low for panel in self.panels for series in panel.series for low in series.low)
        bounded = self.whiskers and any(low is not None for low in lows)
        whiskers = (Phrase(self.whiskers),) if bounded else ()
        model = (Phrase("hint.model"),) if self.modelled else ()
        return (self.hint, *whiskers, *self.notes, *model)

    @property
    def modelled(self) -> bool:
        """True if a value has a model error."""
        return any(series.modelled for panel in self.panels for series in panel.series)


def figures(
    view: View,
    percentiles: Sequence[Mapping[str, Any]] = (),
) -> list[Figure]:
    """Return the figures of a study's cells in order; those over time are in `time_figures`."""
    swept = [(phase, axis) for phase in view.phases if (axis := view.sweep_axis(phase))]
    plain = [phase for phase in view.phases if view.sweep_axis(phase) is None]
    plots: list[Figure] = []
    for phase, axis in swept:
        plots += [f for f in (rate_sweep(view, phase, axis), latency_sweep(view, phase, axis)) if f]
        plots += percentile_grid(view, phase, axis, percentiles)
    plots += bars(view, plain)
    return plots + percentile_lines(view, plain, percentiles)


def sweep_scale(axis: Axis) -> Scale:
    """Return a scale with the axis's levels as ticks."""
    values = [(number(level) or 0.0, level) for level in axis.levels]
    lowest, highest = min(v for v, _ in values), max(v for v, _ in values)
    log = lowest > 0 and highest / lowest >= LOG_RANGE
    return Scale(Phrase("axis.name", {"name": axis.name}), "number", log, tuple(values))


def _line(points: Sequence[Point], axis: Axis, name: Name, style: int, dash: int = 0) -> Series:
    placed = [(number(level_on(p.levels, axis)) or 0.0, p) for p in points]
    return of_points(name, sorted(placed, key=lambda place: place[0]), style, dash)


def of_points(
    name: Name, placed: Sequence[tuple[float, Point]], style: int = 0, dash: int = 0
) -> Series:
    """Return points at their places, with both intervals."""
    return Series(
        name,
        tuple(x for x, _ in placed),
        tuple(p.value for _, p in placed),
        tuple(p.low for _, p in placed),
        tuple(p.high for _, p in placed),
        style,
        dash,
        models=tuple(p.drawn_band for _, p in placed),
        faults=tuple(None if p.sound else p.faults for _, p in placed),
    )


def _marks(view: View, world: str) -> tuple[tuple[float, Phrase], ...]:
    """Return a world's knees and highest rates under the limit."""
    marks = []
    for search in view.searches:
        if search["world"] != world:
            continue
        if search.get("knee") is not None:
            marks.append((float(search["knee"]), Phrase("mark.knee")))
        if search.get("value") is not None:
            confidence, rate = search.get("confidence"), float(search["value"])
            fields = {"rate": format_value("rate", rate)}
            if confidence is None:
                marks.append((rate, Phrase("mark.highest", fields)))
            else:
                fields["confidence"] = f"{confidence:.0%}"
                marks.append((rate, Phrase("mark.highest_sure", fields)))
    return tuple(marks)


def _bounds(view: View, world: str) -> tuple[tuple[float, Phrase], ...]:
    """Return the latency limits of a world's searches."""
    limits = {
        float(search["limit_ns"])
        for search in view.searches
        if search["world"] == world and search.get("limit_ns")
    }
    return tuple(
        (ns, Phrase("mark.limit", {"limit": format_value("latency", ns)})) for ns in sorted(limits)
    )


def _sweep_panels(view: View, phase: str, axis: Axis, measures: Sequence[str]) -> tuple[Panel, ...]:
    """Return a panel per world and, of many series, per first level; colours by series, dashes by
    measure."""
    points = view.in_phase(phase)
    by_series = series_of(points, axis)
    panels = []
    for group, names in _grouped(series_names(points, axis)):
        for world in view.worlds:
            lines = []
            for style, (key, name) in enumerate(names.items()):
                for dash, measure in enumerate(measures):
                    wanted = (world, measure)
                    chosen = [
                        p for p in by_series[key] if (p.world, family_of(p.measure)) == wanted
                    ]
                    suffix = (measure.rpartition(".")[2],) if len(measures) > 1 else ()
                    if chosen:
                        lines.append(_line(chosen, axis, name + suffix, style, dash))
            if lines:
                panels.append(Panel((world, *group), tuple(lines)))
    return tuple(panels)


def _grouped(names: Mapping[SeriesKey, Name]) -> list[tuple[Name, dict[SeriesKey, Name]]]:
    """Return series grouped by as few first levels as possible, without those levels."""
    depth = 0
    while True:
        groups: dict[Name, dict[SeriesKey, Name]] = {}
        for key, name in names.items():
            levels_above = level_words(key[0][:depth])
            groups.setdefault(levels_above, {})[key] = name[len(levels_above) :] or name
        deepest = max((len(key[0]) for key in names), default=0)
        if depth >= deepest or all(len(group) <= MOST_LINES for group in groups.values()):
            return list(groups.items())
        depth += 1


def rate_sweep(view: View, phase: str, axis: Axis) -> Figure | None:
    """Return operations per second over a numeric axis."""
    panels = _sweep_panels(view, phase, axis, ("rate",))
    return _sweep_figure(view, f"rate-{phase}", "rate", phase, axis, panels)


def latency_sweep(view: View, phase: str, axis: Axis) -> Figure | None:
    """Return latency p50 (or mean) and p99 over a numeric axis.

    Over a search's rates, this is the load–latency curve with the limited latency, its limit, the
    highest rate under it, and the knee.
    """
    present = {p.measure for p in view.in_phase(phase)}
    centre = "latency.p50" if "latency.p50" in present else MEAN
    limited: tuple[str, ...] = ()
    if axis.name == _RATE_AXIS:
        limited = unique(str(search["metric"]).partition(".")[2] for search in view.searches)
    panels = _sweep_panels(view, phase, axis, unique((centre, P99, *limited)))
    if axis.name == _RATE_AXIS:
        panels = tuple(
            replace(p, marks=_marks(view, p.name[0]), bounds=_bounds(view, p.name[0]))
            for p in panels
        )
    return _sweep_figure(view, f"latency-{phase}", "latency", phase, axis, panels)


def _sweep_figure(
    view: View, figure_id: str, kind: str, phase: str, axis: Axis, panels: tuple[Panel, ...]
) -> Figure | None:
    if not panels:
        return None
    x = sweep_scale(axis)
    # Throughput and latency span decades if the load does.
    y = Scale(Phrase(f"axis.{kind}"), kind, log=x.log and _positive(panels))
    hint = f"hint.{kind}" if y.log and kind == "latency" else "hint.sweep"
    title = Phrase(f"figure.{kind}", {"phase": phase})
    stream = only_stream(view.in_phase(phase))
    return Figure(
        figure_id,
        title,
        Phrase(hint if y.log else "axis.none"),
        "line",
        x,
        y,
        panels,
        min(len(panels), max(len({panel.name[0] for panel in panels}), 2)),
        notes=(Phrase("hint.stream", {"stream": stream}),) if stream else (),
        whiskers="hint.whiskers",
    )


def _positive(panels: Iterable[Panel]) -> bool:
    return all(y > 0 for panel in panels for s in panel.series for y in s.y)


_NINES = ((0.5, "50"), (0.9, "90"), (0.99, "99"), (0.999, "99.9"), (0.9999, "99.99"))
_PERCENTILE = Scale(
    Phrase("axis.percentile"),
    "number",
    log=True,
    ticks=tuple((1 / (1 - q), label) for q, label in _NINES),
)


def _curve(
    view: View, entry: Mapping[str, Any], name: Name, style: int, ramp: float | None = None
) -> Series:
    """Return a latency distribution over x = 1 / (1 - q).

    The model error of latencies is one factor for all shares.
    """
    pairs = [(float(q), float(ns)) for q, ns in entry["percentiles"]]
    if any(q < 0 or q > 1 for q, _ in pairs):
        raise ValueError("percentiles are fractions between 0 and 1")
    kept = [(1 / (1 - q), ns) for q, ns in pairs if q < 1 and ns > 0]
    place = (freeze(entry["levels"]), str(entry.get("stream", "")), str(entry["operation"]))
    off = view.latency_models.get((entry["world"], entry["phase"], place))
    models = tuple((ns * off[0], ns * off[1]) for _, ns in kept) if off else ()
    x, y = tuple(x for x, _ in kept), tuple(y for _, y in kept)
    return Series(name, x, y, (), (), style, 0, ramp, models)


def percentile_grid(
    view: View, phase: str, axis: Axis, percentiles: Sequence[Mapping[str, Any]]
) -> list[Figure]:
    """Return distributions of a swept phase: worlds across, series down, a line per level.

    Panels without a distribution are left out.
    """
    entries = [e for e in percentiles if e["phase"] == phase]
    names = series_names(view.in_phase(phase), axis)
    worlds = [w for w in view.worlds if any(e["world"] == w for e in entries)]
    last = max(len(axis.levels) - 1, 1)
    drawn = []
    for key, name in names.items():
        for world in worlds:
            mine = {
                level_on(freeze(e["levels"]), axis): e
                for e in entries
                if e["world"] == world and _entry_key(e, axis) == key
            }
            lines = {
                level: _curve(view, mine[level], (axis.name, level), i, i / last)
                for i, level in enumerate(axis.levels)
                if level in mine
            }
            if lines:
                panel = Panel((world, *name), tuple(lines.values()))
                drawn.append((panel, [mine[level] for level in lines]))
    columns = max(len(worlds), 2)
    return _percentile_figure(view, (phase,), phase, "figure.percentiles", drawn, columns)


def percentile_lines(
    view: View, phases: Sequence[str], percentiles: Sequence[Mapping[str, Any]]
) -> list[Figure]:
    """Return distributions of plain phases: a panel per world or, of many lines, per phase and
    first level."""
    keys: dict[PhaseSeries, Name] = {}
    groups: list[tuple[Name, dict[PhaseSeries, Name]]] = []
    for phase in phases:
        names = series_names(view.in_phase(phase), None)
        keys |= {(phase, key): (phase, *name) for key, name in names.items()}
        groups += [
            ((phase, *group), {(phase, key): name for key, name in inner.items()})
            for group, inner in _grouped(names)
        ]
    drawn = []
    for group, inner in groups if len(keys) > MOST_LINES else [((), keys)]:
        for world in view.worlds:
            entries = {
                (e["phase"], _entry_key(e, None)): e for e in percentiles if e["world"] == world
            }
            styles = {place: style for style, place in enumerate(inner) if place in entries}
            lines = [_curve(view, entries[at], inner[at], style) for at, style in styles.items()]
            if lines:
                panel = Panel((world, *group), tuple(lines))
                drawn.append((panel, [entries[at] for at in styles]))
    columns = max(len(view.worlds), 2 if len(keys) > MOST_LINES else 1)
    return _percentile_figure(view, phases, "plain", "figure.percentiles_plain", drawn, columns)


def _entry_key(entry: Mapping[str, Any], axis: Axis | None) -> tuple[Levels, str, str]:
    levels = without(freeze(entry["levels"]), axis)
    return levels, str(entry.get("stream", "")), str(entry["operation"])


def _percentile_figure(
    view: View,
    phases: Sequence[str],
    name: str,
    title: str,
    drawn: Sequence[tuple[Panel, Sequence[Mapping[str, Any]]]],
    columns: int,
) -> list[Figure]:
    """Return panels with a readable number of curves; None without any."""
    if not drawn:
        return []
    kept = drawn[:MOST_PANELS]
    shown = {(e["world"], e["phase"], freeze(e["levels"])) for _, curves in kept for e in curves}
    every = {
        (p.world, p.phase, p.levels)
        for p in view.points
        if p.phase in phases and p.measure.startswith(LATENCY)
    }
    counted = {"shown": str(len(shown)), "all": str(len(every))}
    return [
        Figure(
            f"percentiles-{name}",
            Phrase(title, {"phase": name}),
            Phrase("hint.percentiles"),
            "line",
            _PERCENTILE,
            Scale(Phrase("axis.latency"), "latency", log=True),
            tuple(panel for panel, _ in kept),
            min(columns, len(kept)),
            notes=(Phrase("hint.some_cells", counted),) if len(shown) < len(every) else (),
        )
    ]


def bars(view: View, phases: Sequence[str]) -> list[Figure]:
    """Return plain phases: rates, bandwidth of large transfers, and tail latency."""
    points = without_parts(p for phase in phases for p in view.in_phase(phase))
    rates = [
        p
        for p in points
        if family_of(p.measure) == "rate" and not moves_large_blocks(view, p)
        if not is_kind(p.key)
    ]
    wide = [p for p in points if p.measure == "bandwidth" and moves_large_blocks(view, p)]
    tails = [p for p in points if p.measure == P99]
    means = [p for p in points if p.measure == MEAN] if not tails else []
    chosen = (("rate", rates), ("bandwidth", wide), ("p99", tails), ("mean", means))
    plots = [_bar_figure(view, name, group) for name, group in chosen if group]
    return [figure for figure in plots if len(figure.x.categories) <= MOST_ROWS]


def _bar_figure(view: View, name: str, points: list[Point]) -> Figure:
    labels = {
        (phase, key): (phase, *label)
        for phase in unique(p.phase for p in points)
        for key, label in series_names(view.in_phase(phase), None).items()
    }
    places = list(dict.fromkeys((p.phase, p.key) for p in points))
    kind = kind_of(points[0].measure)
    ends = [end for p in points for end in (p.value, *(p.drawn_band or ()))]
    log = max(ends) > BAR_RANGE * min(ends) > 0
    series = []
    for style, world in enumerate(view.worlds):
        mine = {(p.phase, p.key): p for p in points if p.world == world}
        shown = [(i, mine[place]) for i, place in enumerate(places) if place in mine]
        if shown:
            series.append(of_points((world,), [(float(i), p) for i, p in shown], style))
    return Figure(
        f"bars-{name}",
        Phrase(f"figure.bars_{name}"),
        Phrase("hint.dots" if log else "axis.none"),
        "dot" if log else "bar",
        Scale(Phrase("axis.none"), "number", categories=tuple(labels[p] for p in places)),
        Scale(Phrase(f"axis.{kind}"), kind, log),
        (Panel((), tuple(series)),),
        whiskers="hint.whiskers",
    )
