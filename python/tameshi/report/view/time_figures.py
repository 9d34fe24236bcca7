"""Figures over time and over bytes written, and hit ratio against rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tameshi.core.units import format_tick
from tameshi.report.view.figures import LOG_RANGE, Figure, Panel, Scale, Series
from tameshi.report.view.points import Name, View, freeze, kind_of, level_words
from tameshi.report.words.text import Phrase

MODELS = "models"
"""Key of lines over time: model error by name and time."""
TIME, SECONDS = "time", "time"
UNITS = {"hours": (3600.0, 5 * 3600.0), "minutes": (60.0, 300.0), SECONDS: (1.0, -math.inf)}
"""Unit of a time axis: its length in seconds, and the shortest span that it is for."""
RATE, HITS = "statements", "hit_ratio"
STEPS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
"""Distances of ticks on an axis of shares."""
FEWEST_PAIRS = 5
"""Points that a plot of rate against hit ratio needs."""


def over_time(view: View, series: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Return time series: runs of one name and unit share a figure, with a panel per world."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    order = {world: place for place, world in enumerate(view.worlds)}

    def place(entry: Mapping[str, Any]) -> tuple[int, int]:
        return int(entry.get("part", 0)), order.get(entry["world"], len(order))

    for entry in sorted(series, key=place):
        group = (str(entry["name"]), str(entry["unit_key"]), str(entry.get("over", TIME)))
        groups.setdefault(group, []).append(entry)
    return [
        Figure(
            f"series-{i}",
            _time_title(name, entries[0]),
            _time_hint(view, entries),
            "step",
            Scale(Phrase(f"axis.{_unit(entries) if over == TIME else over}"), "number"),
            _time_scale(unit),
            tuple(_time_panel(view, entry, _unit(entries)) for entry in entries),
            _time_columns(view, entries),
            common=False,
        )
        for i, ((name, unit, over), entries) in enumerate(groups.items())
    ]


def _unit(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the unit of the entries' time axis; amounts have none."""
    longest = max((t for entry in entries for t in entry["t_s"]), default=0.0)
    if any("over" in entry for entry in entries):
        return SECONDS
    return next(unit for unit, (_, least_s) in UNITS.items() if longest >= least_s)


def _time_columns(view: View, entries: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of columns: worlds, or the parts of a split world."""
    parts = len(view.worlds) == 1 and any(entry.get("part") for entry in entries)
    if parts:
        return 3 if len(entries) == 3 else 2
    return min(len(entries), max(len(view.worlds), 1))


def _time_hint(view: View, entries: Sequence[Mapping[str, Any]]) -> Phrase:
    """Return the hint: the first run or all repetitions, and the band's meaning."""
    runs = [entry["runs"] for entry in entries if "runs" in entry]
    if not runs:
        cells = max(len(_alike(view, entry)) for entry in entries)
        one = cells > 1 and all(_one_of_cells(view, entry) for entry in entries)
        return Phrase("hint.series_cell", {"all": str(cells)}) if one else Phrase("hint.series")
    several = max(runs) > 1
    return Phrase("hint.series_runs", {"runs": str(max(runs))}) if several else Phrase("hint.cells")


def _alike(view: View, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of an entry's world and phase."""
    about = (entry["world"], entry["name"])
    return [cell for cell in view.cells if (cell["world"], cell["phase"]) == about]


def _one_of_cells(view: View, entry: Mapping[str, Any]) -> Name:
    """Return the cell of an entry without levels, if there are others."""
    if entry.get("levels") or len(_alike(view, entry)) < 2:
        return ()
    return level_words(freeze(entry.get("cell", {})))


def _time_panel(view: View, entry: Mapping[str, Any], unit: str) -> Panel:
    """Return one run's lines with event marks."""
    length_s = UNITS[unit][0]
    marks = tuple(
        (float(mark["t_s"]) / length_s, Phrase(f"mark.{mark['kind']}"))
        for mark in entry.get("marks", ())
    )
    lines = _time_lines(entry, length_s)
    name = (entry["world"], *entry.get("levels", ()), *_one_of_cells(view, entry))
    return Panel(name, lines, marks, y=_wide_scale(entry, lines))


def _wide_scale(entry: Mapping[str, Any], lines: Sequence[Series]) -> Scale | None:
    """Return a logarithmic scale if a wide model error would flatten the lines."""
    ends = [end for line in lines for model in line.models if model for end in model]
    scale = _time_scale(str(entry["unit_key"]))
    wide = bool(ends) and scale.kind != "share" and max(ends) > LOG_RANGE * min(ends) > 0
    lowest = min((y for line in lines for y in line.y), default=0.0)
    return replace(scale, log=True) if wide and lowest > 0 else None


def _time_title(name: str, entry: Mapping[str, Any]) -> Phrase:
    if "quantity" in entry:
        phase = name.removesuffix(f", {entry['quantity']}")
        return Phrase(f"figure.over_time_{entry['quantity']}", {"phase": phase})
    if "over" in entry:
        return Phrase(f"figure.over_{entry['over']}", {"name": name})
    return Phrase("figure.series", {"name": name})


def _time_lines(entry: Mapping[str, Any], length_s: float) -> tuple[Series, ...]:
    """Return steps, each from the previous interval's end; the first from zero."""
    ends = [float(t) / length_s for t in entry["t_s"]]
    # A commit is a write and its sync, so their lines would coincide.
    committing = {n.removesuffix(" commit") for n in entry["values"] if n.endswith(" commit")}
    kept = [n for n in entry["values"] if n.removesuffix(" write") not in committing]
    lines: list[Series] = []
    for name in kept:
        places = [i for i, value in enumerate(entry["values"][name]) if value is not None]
        if places:
            style = entry.get("styles", {}).get(name, len(lines))
            lines.append(_steps(entry, name, ends, places, style))
    return tuple(lines)


def _steps(
    entry: Mapping[str, Any], name: str, ends: Sequence[float], places: Sequence[int], style: int
) -> Series:
    """Return times, values, bounds over runs, and model bounds."""

    def column_of(key: str, wanted: bool) -> tuple[Any, ...]:
        column = entry.get(key, {}).get(name) if wanted else None
        values = [column[i] for i in places] if column else []
        return (*values[:1], *values)

    several = entry.get("runs", 1) > 1
    words = entry["names"][name] if "names" in entry else tuple(name.split())
    bounds = column_of("low", several), column_of("high", several)
    times = (0.0, *(ends[i] for i in places))
    return Series(
        words, times, column_of("values", True), *bounds, style, models=column_of(MODELS, True)
    )


def _time_scale(unit: str) -> Scale:
    if unit == "share":
        return Scale(Phrase("axis.hit_ratio"), "share")
    if unit == "bytes":
        return Scale(Phrase("axis.bytes"), unit)
    kind = "latency" if unit.startswith("latency") else kind_of(unit)
    return Scale(Phrase(f"axis.{kind}"), kind)


def hits_and_rates(view: View, series: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Return the rate of statements against the hit ratio, a point per interval of each cell."""
    rates, hits = (_by_place(series, quantity) for quantity in (RATE, HITS))
    panels: dict[str, list[Panel]] = {}
    for (world, phase, part), entry in rates.items():
        lines = tuple(_against(entry, hits.get((world, phase, part), {})))
        if lines:
            name = (world, *entry.get("levels", ()))
            panels.setdefault(phase, []).append(Panel(name, lines))
    return [
        Figure(
            f"hits-{phase}",
            Phrase("figure.hits_and_rates", {"phase": phase}),
            Phrase("hint.hits_and_rates"),
            "scatter",
            Scale(Phrase("axis.hit_ratio"), "share", ticks=_shares(each)),
            Scale(Phrase("axis.statements"), "rate"),
            tuple(each),
            len(each) if len(each) <= 3 else 2,
        )
        for phase, each in panels.items()
    ]


def _by_place(
    series: Sequence[Mapping[str, Any]], quantity: str
) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Return a quantity's lines by world, phase and part."""
    return {
        (entry["world"], _phase(entry), int(entry.get("part", 0))): entry
        for entry in series
        if entry.get("quantity") == quantity
    }


def _phase(entry: Mapping[str, Any]) -> str:
    return str(entry["name"]).removesuffix(f", {entry['quantity']}")


def _against(rates: Mapping[str, Any], hits: Mapping[str, Any]) -> Iterator[Series]:
    """Yield each cell's rates against its hit ratios at the same times."""
    places = {t: i for i, t in enumerate(hits.get("t_s", ()))}
    for number, (name, values) in enumerate(rates["values"].items()):
        known = hits.get("values", {}).get(name, ())
        pairs = [
            (known[places[t]], value)
            for t, value in zip(rates["t_s"], values, strict=True)
            if known and value is not None and t in places and known[places[t]] is not None
        ]
        if len(pairs) >= FEWEST_PAIRS:
            words = rates["names"][name] if "names" in rates else tuple(name.split())
            style = rates.get("styles", {}).get(name, number)
            x, y = zip(*pairs, strict=True)
            yield Series(tuple(words), x, y, style=style)


def _shares(panels: Sequence[Panel]) -> tuple[tuple[float, str], ...]:
    """Return round ticks for the hit ratios of the panels."""
    shares = [x for panel in panels for line in panel.series for x in line.x]
    span = max(shares) - min(shares)
    step = next((step for step in STEPS if span > 2 * step), STEPS[-1])
    first = math.floor(min(shares) / step)
    ticks = [(first + i) * step for i in range(12)]
    return tuple((tick, format_tick("share", round(tick, 6))) for tick in ticks if tick <= 1)
