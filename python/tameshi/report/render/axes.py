"""Axes of plots, with ticks in the report's own units, as plotly takes them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from tameshi.core.units import format_tick
from tameshi.report.render.ticks import (
    binary_log_ticks,
    binary_ticks,
    fitting_ticks,
    linear_ticks,
    log_ticks,
)
from tameshi.report.view.figures import Figure, Panel, Scale
from tameshi.report.words.text import Text

FLAT = ("bar", "dot", "stack", "range")
"""Kinds with vertical categories."""
_GRID_WIDTH = 720
"""Least total width of a grid's plots, in pixels."""
NARROW_WIDTH = 330
"""Width of a phone's plot, in pixels."""
_NARROW_FLAT_WIDTH, _CATEGORY_LETTERS = 190, 18
"""Width of a phone's plot next to the names of its categories, and letters in a line of these."""


def lettered(words: str, letters: int | None) -> str:
    """Return words as plotly takes them, in lines of `letters` letters at most."""
    lines = textwrap.wrap(words, letters, break_long_words=False) if letters else [words]
    return "<br>".join(escape(line, quote=False) for line in lines)


def upright(figure: Figure, places: Mapping[str, Any]) -> dict[str, Any]:
    """Return the axis of categories from top to bottom."""
    return {**places, "range": [len(figure.x.categories) - 0.5, -0.5]}


def _axis(scale: Scale, text: Text) -> dict[str, Any]:
    label = text.phrase(scale.label)
    return {
        "type": "log" if scale.log else "linear",
        "title": {"text": escape(label, quote=False), "standoff": 10, "font": {"size": 13}}
        if label
        else None,
        "automargin": True,
        "gridcolor": "var(--grid)",
        "linecolor": "var(--rule)",
        "tickcolor": "var(--rule)",
        "showline": True,
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 4,
        "tickangle": 0,
    }


def place_axis(figure: Figure, text: Text, *, narrow: bool = False) -> dict[str, Any]:
    """Return the axis of levels, percentiles, seconds or categories."""
    scale = figure.x
    axis = _axis(scale, text)
    if scale.categories:
        letters = _CATEGORY_LETTERS if narrow else None
        labels = [lettered(text.names(name), letters) for name in scale.categories]
        axis |= {"tickvals": list(range(len(labels))), "ticktext": labels}
        axis |= {"tickcolor": "rgba(0,0,0,0)", "showline": False}
    elif scale.ticks:
        shown = _fewer(scale) if narrow else scale.ticks
        axis |= {
            "tickvals": [value for value, _ in shown],
            "ticktext": [escape(label, quote=False) for _, label in shown],
        }
    return axis


def _fewer(scale: Scale) -> list[tuple[float, str]]:
    """Return evenly chosen ticks of an axis whose labels fit a phone."""
    ticks = sorted(scale.ticks)
    low, high = (math.log10(at) if scale.log else at for at, _ in (ticks[0], ticks[-1]))
    if high <= low:
        return ticks
    labels = dict(ticks)
    kept = fitting_ticks([at for at, _ in ticks], scale, [low, high], NARROW_WIDTH, labels)
    return [(at, labels[at]) for at in kept]


def value_axis(
    figure: Figure, panels: tuple[Panel, ...], text: Text, *, narrow: bool = False
) -> dict[str, Any]:
    """Return the axis of values, with ticks in the report's own units."""
    scale = panels[0].y or figure.y
    axis = _axis(scale, text)
    low, high = _span(panels, scale.log)
    if figure.kind == "stack":
        high = max(_heights(panels), default=high)
    if scale.log:
        # Even a flat curve gets a tick.
        wide, middle = max(math.log10(high / low), 0.5), math.log10(high * low) / 2
        ticks = binary_log_ticks(low, high) if scale.kind == "bytes" else log_ticks(low, high)
        axis["range"] = [middle - 0.58 * wide, middle + 0.58 * wide]
    else:
        ticks = binary_ticks(high) if scale.kind == "bytes" else linear_ticks(high)
        axis["range"] = [0, high * 1.08 or 1]
    if figure.kind in ("dot", "step") and scale.kind == "share" and high > low:
        # Shares close to 1 would all lie at the edge.
        edge = 0.08 * (high - low)
        ticks = [tick for tick in linear_ticks(high, low) if tick >= low - edge]
        axis["range"] = [low - edge, high + edge]
    if figure.kind == "range":
        marked = [at for panel in panels for at, _ in panel.marks]
        low, high = min([low, *marked]), max([high, *marked])
        axis["range"] = [low - 0.05 * (high - low), high + 0.05 * (high - low)]
    crowded = figure.kind in FLAT if narrow else figure.kind == "dot" and figure.columns > 1
    if crowded:
        first, last = axis["range"] if narrow else (low, high)
        first, last = (10**first, 10**last) if narrow and scale.log else (first, last)
        inside = [tick for tick in ticks if first <= tick <= last] or ticks
        width = _NARROW_FLAT_WIDTH if narrow else _GRID_WIDTH / figure.columns
        ticks = fitting_ticks(inside, scale, axis["range"], width)
    axis |= {"tickvals": ticks, "ticktext": [format_tick(scale.kind, v) for v in ticks]}
    return axis


def _span(panels: tuple[Panel, ...], log: bool) -> tuple[float, float]:
    values = [
        value
        for panel in panels
        for s in panel.series
        for value in (
            *(*s.y, *s.low, *s.high, *(at for at, _ in panel.bounds)),
            *(end for model in s.models if model for end in model),
        )
        if value is not None and (value > 0 or not log)
    ]
    return (min(values), max(values)) if values else (1.0, 10.0)


def _heights(panels: tuple[Panel, ...]) -> Iterator[float]:
    """Return the sums of a stacked bar's parts."""
    for panel in panels:
        totals: dict[float, float] = {}
        for series in panel.series:
            for place, value in zip(series.x, series.y, strict=True):
                totals[place] = totals.get(place, 0.0) + (value or 0.0)
        yield from totals.values()
