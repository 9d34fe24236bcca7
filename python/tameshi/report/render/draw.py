"""Drawing of figure data with plotly; colours are CSS variables that the page resolves per
theme."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tameshi.core.units import format_tick
from tameshi.report.view.figures import Figure, Panel, Scale, Series
from tameshi.report.words.text import CROSS, Text, modelled

# Colours, markers and dashes have coprime periods, so that pairs repeat late.
COLOURS = 7
RAMP = 9
_MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")
_CROSSED = "circle-x-open"
"""Symbol of points of invalid cells."""
_MEASURE_DASHES = ("solid", "dot", "dash")
_CURVE_DASHES = ("solid", "dash", "dashdot", "longdash", "dot")
_PANEL_HEIGHT = {1: 300, 2: 240}
_LARGE, _SMALL = 9, 6
"""Sizes of markers."""
_BAND = 0.13
_BAND_OPACITY = 0.3
# Model error is broad and pale, sampling error narrow and strong.
_MODEL_WIDTH, _MODEL_OPACITY, _MODEL_BAND_OPACITY = 9, 0.28, 0.13
_BAR_GAP = 0.35
_LINE = 14
# Kinds with vertical categories, and the height of one in pixels.
_FLAT = ("bar", "dot", "stack", "range")
_BAR_STEP, _STACK_STEP = 46, 26
_MANY_BARS = 12
# Height of a grid plot besides its categories: ticks and their label.
_BELOW_GRID = 86
# Least total width of a grid's plots, width of a tick label's letter, and gap between labels.
_GRID_WIDTH, _LETTER, _LABEL_GAP = 720, 7.5, 8
_DECADES_WITH_STEPS = 2.5


def draw(figure: Figure, text: Text) -> dict[str, Any]:
    """Return the figure as plotly's `{"data": [...], "layout": {...}}`, ready for JSON."""
    rows = math.ceil(len(figure.panels) / figure.columns)
    plot = _subplots(figure, rows, text)
    listed: set[str] = set()
    for place, panel in enumerate(figure.panels):
        where = {"row": place // figure.columns + 1, "col": place % figure.columns + 1}
        for number, series in enumerate(panel.series):
            for edge in _band(figure, series, text):
                plot.add_trace(edge, **where)
            for edge in _model(figure, series, text, number, len(panel.series)):
                plot.add_trace(edge, **where)
            trace = _trace(figure, panel, number, text)
            name = str(trace.name)
            shows = name not in listed and series.dash == 0
            key = _key(figure, series, trace) if shows else None
            trace.update(legendgroup=name, showlegend=shows and key is None)
            listed |= {name} if series.dash == 0 else set()
            plot.add_trace(trace, **where)
            if key is not None:
                plot.add_trace(key, **where)
        _lines(plot, figure, panel, text, where)
    # A single level still needs its label.
    ramped = any(s.ramp is not None for panel in figure.panels for s in panel.series)
    _layout(plot, figure, rows, single=len(listed) < (1 if ramped else 2))
    _axes(plot, figure, rows, text)
    drawn: dict[str, Any] = plot.to_plotly_json()
    drawn["layout"].pop("template", None)
    return {"data": drawn["data"], "layout": drawn["layout"]}


def _subplots(figure: Figure, rows: int, text: Text) -> Any:
    """Return the grid; places without a panel stay empty."""
    flat = figure.kind in _FLAT
    places = range(rows * figure.columns)
    cells: list[dict[str, Any] | None] = [{} if i < len(figure.panels) else None for i in places]
    spacing = 0.2 / rows if rows > 1 else 0
    if flat and rows > 1:
        spacing = _BELOW_GRID / (rows * (_body(figure) + _BELOW_GRID))
    return make_subplots(
        rows=rows,
        cols=figure.columns,
        specs=[cells[i : i + figure.columns] for i in places[:: figure.columns]],
        shared_xaxes=False if flat else "all",
        shared_yaxes="all" if figure.common or flat else False,
        horizontal_spacing=0.03 if figure.common or flat else 0.09,
        vertical_spacing=spacing,
        subplot_titles=[_title(panel, text) for panel in figure.panels],
    )


def _body(figure: Figure) -> int:
    """Return the height of a flat plot's categories, in pixels."""
    count = len(figure.x.categories)
    narrow = figure.kind == "stack" or count > _MANY_BARS or figure.columns > 1
    return (_STACK_STEP if narrow else _BAR_STEP) * count


def _lines(plot: Any, figure: Figure, panel: Panel, text: Text, where: dict[str, int]) -> None:
    """Return the lines across a plot.

    On a logarithmic axis plotly places labels, unlike lines, by the logarithm.
    """
    line = {"color": "var(--rule)", "width": 1.2, "dash": "dot"}

    def placed(scale: Scale, at: float) -> float:
        return math.log10(at) if scale.log else at

    # Bars would hide the lines between them.
    above = figure.kind == "range"
    for number, (at, label) in enumerate(panel.marks):
        plot.add_vline(at, line=line, **where)
        plot.add_annotation(
            x=placed(figure.x, at),
            y=1,
            yref="y domain",
            text=escape(text.phrase(label), quote=False),
            textangle=0 if above else -90,
            showarrow=False,
            xshift=0 if above else -8,
            yshift=_LINE * (number % 2) if above else 0,
            yanchor="bottom" if above else "top",
            **where,
        )
    for at, label in panel.bounds:
        plot.add_hline(at, line=line, **where)
        plot.add_annotation(
            x=0.02,
            xref="x domain",
            y=placed(figure.y, at),
            text=escape(text.phrase(label), quote=False),
            showarrow=False,
            yshift=8,
            **where,
        )


def _title(panel: Panel, text: Text) -> str:
    return escape(text.names(panel.name), quote=False)


def _layout(plot: Any, figure: Figure, rows: int, single: bool) -> None:
    flat = figure.kind in _FLAT
    body = rows * _PANEL_HEIGHT.get(rows, 210)
    if flat:
        body = rows * _body(figure) + (rows - 1) * _BELOW_GRID + 30
    font = {"family": "var(--font)", "size": 13, "color": "var(--ink)"}
    plot.update_layout(
        template=None,
        height=body + (70 if single else 110),
        margin={
            "l": 8,
            "r": 16,
            "t": 34 if figure.panels[0].name or figure.kind == "range" else 8,
            "b": 60 if single else 100,
        },
        font=font,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        hoverlabel={
            "bgcolor": "var(--paper)",
            "bordercolor": "var(--rule)",
            "font": font,
            "align": "left",
        },
        hovermode="closest",
        barmode={"stack": "stack", "range": "overlay"}.get(figure.kind, "group"),
        bargap=_BAR_GAP,
        showlegend=not single,
        legend={
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 0,
            "yref": "container",
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
        },
    )
    plot.update_annotations(font={**font, "size": 13}, xanchor="center")


def _axes(plot: Any, figure: Figure, rows: int, text: Text) -> None:
    places = _place_axis(figure.x, text)
    if figure.kind in _FLAT:
        plot.update_yaxes(**(places | {"range": [len(figure.x.categories) - 0.5, -0.5]}))
        for i, panel in enumerate(figure.panels):
            row, col = i // figure.columns + 1, i % figure.columns + 1
            plot.update_xaxes(**_value_axis(figure, (panel,), text), row=row, col=col)
            if col > 1:
                plot.update_yaxes(showticklabels=False, row=row, col=col)
        return
    plot.update_xaxes(**places)
    for i, panel in enumerate(figure.panels):
        row, col = i // figure.columns + 1, i % figure.columns + 1
        panels = figure.panels if figure.common else (panel,)
        plot.update_yaxes(**_value_axis(figure, panels, text), row=row, col=col)
        # A grid labels its outer edge only.
        if col > 1:
            plot.update_yaxes(title=None, showticklabels=not figure.common, row=row, col=col)
        below = i + figure.columns < len(figure.panels)
        plot.update_xaxes(showticklabels=not below, row=row, col=col)
        if below:
            plot.update_xaxes(title=None, row=row, col=col)


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


def _place_axis(scale: Scale, text: Text) -> dict[str, Any]:
    """Return the axis of levels, percentiles, seconds or categories."""
    axis = _axis(scale, text)
    if scale.categories:
        labels = [escape(text.names(name), quote=False) for name in scale.categories]
        axis |= {"tickvals": list(range(len(labels))), "ticktext": labels}
        axis |= {"tickcolor": "rgba(0,0,0,0)", "showline": False}
    elif scale.ticks:
        axis |= {
            "tickvals": [value for value, _ in scale.ticks],
            "ticktext": [escape(label, quote=False) for _, label in scale.ticks],
        }
    return axis


def _value_axis(figure: Figure, panels: tuple[Panel, ...], text: Text) -> dict[str, Any]:
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
    if figure.kind == "dot" and figure.columns > 1:
        inside = [tick for tick in ticks if low <= tick <= high] or ticks
        ticks = fitting_ticks(inside, scale, axis["range"], _GRID_WIDTH / figure.columns)
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


def fitting_ticks(ticks: list[float], scale: Scale, ends: list[float], width: float) -> list[float]:
    """Return evenly chosen ticks whose labels fit an axis of `width` pixels.

    On a logarithmic axis powers of ten come first, if there are two.
    """

    def apart(chosen: list[float]) -> bool:
        placed = [math.log10(tick) if scale.log else tick for tick in chosen]
        at = [(place - ends[0]) / (ends[1] - ends[0]) * width for place in placed]
        halves = [len(format_tick(scale.kind, tick)) * _LETTER / 2 for tick in chosen]
        sides = zip(pairwise(at), pairwise(halves), strict=True)
        return all(b - a >= half + other + _LABEL_GAP for (a, b), (half, other) in sides)

    tens = [tick for tick in ticks if scale.log and math.log10(tick).is_integer()]
    choices = [ticks, *([tens] if len(tens) > 1 else [])]
    choices += [choices[-1][::step] for step in range(2, len(ticks) + 1)]
    return next(filter(apart, choices), ticks[:1])


def log_ticks(low: float, high: float) -> list[float]:
    """Return decades that cover a range, with 2 and 5 between them if they are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if math.log10(high / low) < _DECADES_WITH_STEPS else (1,)
    return [step * 10.0**power for power in range(first, last + 1) for step in steps]


def binary_log_ticks(low: float, high: float) -> list[float]:
    """Return about five powers of two that cover a range, for bytes."""
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    step = math.ceil((last - first) / 5) or 1
    return [2.0**power for power in range(first, last + step, step)]


def binary_ticks(high: float) -> list[float]:
    """Return round ticks from zero in KiB, MiB or GiB, by the greatest value."""
    unit = 1024.0 ** math.floor(math.log(high, 1024)) if high >= 1 else 1.0
    return [unit * tick for tick in linear_ticks(high / unit)]


def linear_ticks(high: float, low: float = 0.0) -> list[float]:
    """Return about five round ticks from zero above `low`."""
    if high <= low:
        return []
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    return [step * i for i in range(math.ceil(high / step - 1e-9) + 1)]


def _trace(figure: Figure, panel: Panel, number: int, text: Text) -> Any:
    series, together = panel.series[number], len(panel.series)
    hover = list(_hover(figure, panel, series, text))
    # Measures of one series share its legend entry and differ by dash.
    name = series.name[:-1] if series.dash or _has_twin(figure, series) else series.name
    common: dict[str, Any] = {
        "name": escape(text.names(name), quote=False),
        "customdata": hover,
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    colour = _colour(series)
    if figure.kind in ("bar", "stack", "range"):
        return go.Bar(
            **common,
            **_lengths(figure, series),
            y=series.x,
            orientation="h",
            marker={
                "color": colour,
                "pattern": {
                    "shape": "/" if series.style % 2 else "",
                    "fillmode": "overlay",
                    "fgcolor": "var(--paper)",
                    "solidity": 0.2,
                },
            },
            error_x=None if figure.kind == "range" else _whiskers(series, "var(--ink)"),
        )
    plain = _symbol(series)
    size = _LARGE if figure.kind == "dot" else _SMALL
    marker: dict[str, Any] = {"color": colour, "symbol": plain, "size": size}
    if any(faults is not None for faults in series.faults):
        marker["symbol"] = [plain if faults is None else _CROSSED for faults in series.faults]
        marker["size"] = [size if faults is None else _LARGE for faults in series.faults]
    if figure.kind == "dot":
        shifted = [x + _offset(figure, number, together) for x in series.x]
        whiskers = _whiskers(series, colour)
        return go.Scatter(
            **common, x=series.y, y=shifted, mode="markers", marker=marker, error_x=whiskers
        )
    return _line_trace(figure, series, common, marker, colour)


def _key(figure: Figure, series: Series, trace: Any) -> Any | None:
    """Return a trace for the legend alone if some points are invalid; None without any.

    The legend shows the first point's symbol, which is that of a sound point unless all are
    invalid.
    """
    if isinstance(trace, go.Bar) or not any(faults is not None for faults in series.faults):
        return None
    same = [
        faults
        for panel in figure.panels
        for each in panel.series
        if (each.name, each.dash) == (series.name, series.dash)
        for faults in each.faults or (None,)
    ]
    void = all(faults is not None for faults in same)
    symbol = _CROSSED if void else _symbol(series)
    key = go.Scatter(x=[None], y=[None], mode=trace.mode, line=trace.line, name=trace.name)
    key.update(legendgroup=trace.name, showlegend=True, hoverinfo="skip")
    return key.update(marker={"color": _colour(series), "symbol": symbol, "size": _SMALL})


def _symbol(series: Series) -> str:
    return _MARKERS[series.style % len(_MARKERS)] + ("-open" if series.dash else "")


def _lengths(figure: Figure, series: Series) -> dict[str, Any]:
    """Return bars from zero to their values, or from their lower bound to their upper one."""
    if figure.kind != "range":
        return {"x": series.y}
    ends = [(low or 0.0, high or 0.0) for low, high in zip(series.low, series.high, strict=True)]
    return {"x": [high - low for low, high in ends], "base": [low for low, _ in ends]}


def _line_trace(
    figure: Figure, series: Series, common: dict[str, Any], marker: dict[str, Any], colour: str
) -> Any:
    smooth = _smooth(figure, series)
    return go.Scatter(
        **common,
        x=series.x,
        y=series.y,
        mode=_mode(figure, smooth),
        marker=marker,
        line={
            "color": colour,
            "width": 1.8,
            "dash": _dash(series, smooth),
            "shape": "vh" if figure.kind == "step" else "linear",
        },
        error_y=None if smooth else _whiskers(series, colour),
    )


def _mode(figure: Figure, smooth: bool) -> str:
    if figure.kind == "scatter":
        return "markers"
    return "lines" if smooth else "lines+markers"


def _smooth(figure: Figure, series: Series) -> bool:
    return not series.low or figure.kind == "step"


def _band(figure: Figure, series: Series, text: Text) -> Iterator[Any]:
    """Return the filled band between the edges of several runs, below their line."""
    if figure.kind == "step" and series.low:
        yield from _filled(figure, series, (series.low, series.high), _BAND_OPACITY, text)


def _model(figure: Figure, series: Series, text: Text, number: int, together: int) -> Iterator[Any]:
    """Return the model error: a band along a line, a broad stroke at a point."""
    if not series.modelled:
        return
    ends = [model or (None, None) for model in series.models]
    if figure.kind not in _FLAT and _smooth(figure, series):
        edges = tuple(low for low, _ in ends), tuple(high for _, high in ends)
        yield from _filled(figure, series, edges, _MODEL_BAND_OPACITY, text)
        return
    places = [place for x in series.x for place in [x + _offset(figure, number, together)] * 3]
    along = [value for low, high in ends for value in (low, high, None)]
    flat, plain = figure.kind in _FLAT, figure.kind == "bar"
    yield go.Scatter(
        x=along if flat else places,
        y=places if flat else along,
        mode="lines",
        line={"width": _MODEL_WIDTH, "color": "var(--ink)" if plain else _colour(series)},
        opacity=_MODEL_OPACITY,
        hoverinfo="skip",
        showlegend=False,
        legendgroup=escape(text.names(series.name), quote=False),
    )


def _offset(figure: Figure, number: int, together: int) -> float:
    """Return the offset of one of several series in its category."""
    step = {"dot": 2 * _BAND, "bar": (1 - _BAR_GAP) / together, "range": 2 * _BAND}
    return (number - (together - 1) / 2) * step.get(figure.kind, 0.0)


def _filled(
    figure: Figure,
    series: Series,
    edges: tuple[tuple[float | None, ...], tuple[float | None, ...]],
    opacity: float,
    text: Text,
) -> Iterator[Any]:
    for values, fill in zip(edges, (None, "tonexty"), strict=True):
        yield go.Scatter(
            x=series.x,
            y=values,
            mode="lines",
            line={"width": 0, "shape": "vh" if figure.kind == "step" else "linear"},
            fill=fill,
            fillcolor=f"{_colour(series)[:-1]}_{round(255 * opacity):02x})",
            hoverinfo="skip",
            showlegend=False,
            legendgroup=escape(text.names(series.name), quote=False),
        )


def _dash(series: Series, smooth: bool) -> str:
    """Return the dash: by measure, or for curves without markers by style."""
    if not smooth:
        return _MEASURE_DASHES[series.dash % len(_MEASURE_DASHES)]
    return "solid" if series.ramp is not None else _CURVE_DASHES[series.style % len(_CURVE_DASHES)]


def _has_twin(figure: Figure, series: Series) -> bool:
    return any(
        s.dash and s.style == series.style and s.name[:-1] == series.name[:-1]
        for panel in figure.panels
        for s in panel.series
    )


def _colour(series: Series) -> str:
    if series.ramp is not None:
        return f"var(--r{round(series.ramp * (RAMP - 1))})"
    return f"var(--c{series.style % COLOURS})"


def _whiskers(series: Series, colour: str) -> dict[str, Any] | None:
    if not any(low is not None for low in series.low):
        return None
    triples = list(zip(series.y, series.low, series.high, strict=True))
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else max(high - y, 0) for y, _, high in triples],
        "arrayminus": [0 if low is None else max(y - low, 0) for y, low, _ in triples],
        "thickness": 1.2,
        "width": 3,
        "color": colour,
    }


def _hover(figure: Figure, panel: Panel, series: Series, text: Text) -> Iterator[str]:
    """Return the hover text of each point; a level of a panel includes the panel's name."""
    labels, scale = dict(figure.x.ticks), panel.y or figure.y
    panel_name = panel.name if series.ramp is not None else ()
    name = escape(text.names((*panel_name, *series.name)), quote=False)
    for i, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        if figure.x.categories:
            place = text.names(figure.x.categories[int(x)])
        else:
            place = f"{text.phrase(figure.x.label)} {labels.get(x, f'{x:.4g}')}"
        value = format_hover(scale.kind, series, i, y, text, ranged=figure.kind == "range")
        words = f"<b>{name}</b><br>{escape(place, quote=False)}<br>{escape(value, quote=False)}"
        faults = series.faults[i] if series.faults else None
        yield words if faults is None else f"{words}<br>{escape(_fault(faults, text), quote=False)}"


def _fault(faults: Sequence[Mapping[str, Any]], text: Text) -> str:
    """Return the verdict of an invalid point with its reasons."""
    reasons = text("list.short").join(text.reasons(faults))
    return text("note.crossed", sign=CROSS, reasons=reasons)


def format_hover(
    kind: str, series: Series, i: int, value: float, text: Text, *, ranged: bool = False
) -> str:
    """Return a value with its intervals, or the value alone for curves and time series."""
    bare = ranged or not series.low
    low, high = (value, value) if bare else (series.low[i], series.high[i])
    value_shown = text.shown(kind, value, low, high, 0)
    value_shown = modelled(value_shown, kind, value, series.models[i] if series.models else None)
    return value_shown.value + text.aside(value_shown, bare=bare, noted=True)
