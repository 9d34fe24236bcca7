"""Drawing of figure data with plotly; colours are CSS variables that the page resolves per
theme."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tameshi.report.render.axes import (
    FLAT,
    NARROW_WIDTH,
    lettered,
    place_axis,
    upright,
    value_axis,
)
from tameshi.report.render.plot_data import file_name, plot_csv
from tameshi.report.render.ticks import LETTER
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
# Height of a category in pixels.
_BAR_STEP, _STACK_STEP, _LINE_STEP = 46, 26, 20
_MANY_BARS = 12
# Height of a grid plot besides its categories: ticks and their label.
_BELOW_GRID = 86
# A phone's plot: letters in a line of a title, height of a line of the legend, width of its sign.
_TITLE_LETTERS, _LEGEND_LINE, _LEGEND_SIGN = 44, 20, 55


def draw(figure: Figure, text: Text) -> dict[str, Any]:
    """Return the figure as plotly's `data` and `layout`, ready for JSON.

    `narrow` is the layout for a phone, with all panels in one column; None if `layout` fits.
    """
    rows = math.ceil(len(figure.panels) / figure.columns)
    plot = _subplots(figure, rows, text)
    listed: dict[str, None] = {}
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
            listed |= {name: None} if series.dash == 0 else {}
            plot.add_trace(trace, **where)
            if key is not None:
                plot.add_trace(key, **where)
        _lines(plot, figure, panel, text, where)
    # A single level still needs its label.
    ramped = any(s.ramp is not None for panel in figure.panels for s in panel.series)
    legend = tuple(listed) if len(listed) >= (1 if ramped else 2) else ()
    _layout(plot, figure, rows, legend)
    _axes(plot, figure, text)
    drawn: dict[str, Any] = plot.to_plotly_json()
    drawn["layout"].pop("template", None)
    wide = figure.columns > 1 or figure.kind in FLAT or len(legend) > 1 or figure.x.ticks
    narrow = _narrowed(drawn["layout"], figure, legend, text) if wide else None
    return {"data": drawn["data"], "layout": drawn["layout"], "narrow": narrow}


def drawn(figure: Figure, text: Text) -> dict[str, Any]:
    """Return the figure as pages have it: title, hint, the plot, and its data to save."""
    title = text.phrase(figure.title)
    saved = {
        "title": escape(title, quote=False),
        "file": file_name(figure),
        "csv": plot_csv(figure, text),
    }
    return {
        "id": figure.id,
        "is_grid": figure.columns > 1,
        "title": title,
        "hint": " ".join(filter(None, map(text.phrase, figure.hints))),
        "plot": draw(figure, text) | saved,
    }


def _narrowed(
    layout: Mapping[str, Any], figure: Figure, legend: Sequence[str], text: Text
) -> dict[str, Any]:
    """Return a layout for a phone: the same axes below one another, with fewer and broken labels.

    Plain tables, because plotly's objects take as long for it as for the whole figure.
    """
    column, rows = replace(figure, columns=1), len(figure.panels)
    places = place_axis(figure, text, narrow=True)
    lines = max((str(label).count("<br>") + 1 for label in places.get("ticktext", ())), default=1)
    gap = _spacing(column, rows, lines)
    high = (1 - gap * (rows - 1)) / rows
    tops = [1 - row * (high + gap) for row in range(rows)]
    narrow = {**layout, **_size(column, rows, legend, lines, narrow=True)}
    flat = figure.kind in FLAT
    for row, (panel, top) in enumerate(zip(figure.panels, tops, strict=True)):
        x, y = (f"{axis}axis{row + 1 if row else ''}" for axis in "xy")
        panels = (panel,) if flat or not figure.common else figure.panels
        values = value_axis(column, panels, text, narrow=True)
        across, up = (values, upright(figure, places)) if flat else (places, values)
        is_labelled = flat or row == rows - 1
        narrow[x] = _moved(layout[x], across, (0.0, 1.0), is_labelled=is_labelled)
        narrow[y] = _moved(layout[y], up, (max(top - high, 0.0), top), is_labelled=True)
    narrow["annotations"] = _moved_titles(layout.get("annotations", ()), figure, tops, text)
    return narrow


def _moved(
    axis: Mapping[str, Any],
    drawn: Mapping[str, Any],
    domain: tuple[float, float],
    *,
    is_labelled: bool,
) -> dict[str, Any]:
    """Return an axis at another place of the plot."""
    kept = {key: axis[key] for key in ("anchor", "matches") if key in axis}
    new = {key: value for key, value in drawn.items() if value is not None}
    if not is_labelled:
        new.pop("title", None)
    return {**kept, **new, "domain": list(domain), "showticklabels": is_labelled}


def _moved_titles(
    annotations: Sequence[Mapping[str, Any]], figure: Figure, tops: Sequence[float], text: Text
) -> list[dict[str, Any]]:
    """Return annotations with the titles of panels, the only ones on paper, above them."""
    pairs = zip(figure.panels, tops, strict=True)
    titles = ((_title(panel, text, _TITLE_LETTERS), top) for panel, top in pairs)
    named = (each for each in titles if each[0])
    moved = []
    for annotation in annotations:
        if annotation.get("xref") == annotation.get("yref") == "paper":
            words, top = next(named)
            annotation = {**annotation, "text": words, "x": 0.5, "y": top}
        moved.append(dict(annotation))
    return moved


def _subplots(figure: Figure, rows: int, text: Text) -> Any:
    """Return the grid; places without a panel stay empty."""
    flat = figure.kind in FLAT
    places = range(rows * figure.columns)
    cells: list[dict[str, Any] | None] = [{} if i < len(figure.panels) else None for i in places]
    return make_subplots(
        rows=rows,
        cols=figure.columns,
        specs=[cells[i : i + figure.columns] for i in places[:: figure.columns]],
        shared_xaxes=False if flat else "all",
        shared_yaxes="all" if figure.common or flat else False,
        horizontal_spacing=0.03 if figure.common or flat else 0.09,
        vertical_spacing=_spacing(figure, rows),
        subplot_titles=[_title(panel, text) for panel in figure.panels],
    )


def _spacing(figure: Figure, rows: int, lines: int = 1) -> float:
    """Return the gap between rows of plots, as a share of their height."""
    if figure.kind in FLAT and rows > 1:
        return _BELOW_GRID / (rows * (_body(figure, lines) + _BELOW_GRID))
    return 0.2 / rows if rows > 1 else 0.0


def _body(figure: Figure, lines: int) -> int:
    """Return the height of a flat plot's categories of `lines` lines each, in pixels."""
    count = len(figure.x.categories)
    narrow = figure.kind == "stack" or count > _MANY_BARS or figure.columns > 1
    return max(_STACK_STEP if narrow else _BAR_STEP, _LINE_STEP * lines) * count


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


def _title(panel: Panel, text: Text, letters: int | None = None) -> str:
    return lettered(text.names(panel.name), letters)


def _legend_lines(legend: Sequence[str], width: float) -> int:
    """Return the lines that the entries of a legend take; plotly gives all the widest one's."""
    widest = max(_LEGEND_SIGN + LETTER * len(name) for name in legend)
    return math.ceil(len(legend) / max(int(width / widest), 1))


def _size(
    figure: Figure, rows: int, legend: Sequence[str], lines: int = 1, *, narrow: bool = False
) -> dict[str, Any]:
    """Return height and margins in pixels."""
    body = rows * _PANEL_HEIGHT.get(rows, 210)
    if figure.kind in FLAT:
        body = rows * _body(figure, lines) + (rows - 1) * _BELOW_GRID + 30
    below = 100 if legend else 60
    if legend and narrow:
        below = 60 + _LEGEND_LINE * _legend_lines(legend, NARROW_WIDTH)
    above = 34 if figure.panels[0].name or figure.kind == "range" else 8
    return {"height": body + below + 10, "margin": {"l": 8, "r": 16, "t": above, "b": below}}


def _layout(plot: Any, figure: Figure, rows: int, legend: Sequence[str]) -> None:
    font = {"family": "var(--font)", "size": 13, "color": "var(--ink)"}
    plot.update_layout(
        template=None,
        **_size(figure, rows, legend),
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
        showlegend=bool(legend),
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


def _axes(plot: Any, figure: Figure, text: Text) -> None:
    places = place_axis(figure, text)
    if figure.kind in FLAT:
        plot.update_yaxes(**upright(figure, places))
        for i, panel in enumerate(figure.panels):
            row, col = i // figure.columns + 1, i % figure.columns + 1
            plot.update_xaxes(**value_axis(figure, (panel,), text), row=row, col=col)
            if col > 1:
                plot.update_yaxes(showticklabels=False, row=row, col=col)
        return
    plot.update_xaxes(**places)
    for i, panel in enumerate(figure.panels):
        row, col = i // figure.columns + 1, i % figure.columns + 1
        panels = figure.panels if figure.common else (panel,)
        plot.update_yaxes(**value_axis(figure, panels, text), row=row, col=col)
        # A grid labels its outer edge only.
        if col > 1:
            plot.update_yaxes(title=None, showticklabels=not figure.common, row=row, col=col)
        below = i + figure.columns < len(figure.panels)
        plot.update_xaxes(showticklabels=not below, row=row, col=col)
        if below:
            plot.update_xaxes(title=None, row=row, col=col)


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
    if figure.kind not in FLAT and _smooth(figure, series):
        edges = tuple(low for low, _ in ends), tuple(high for _, high in ends)
        yield from _filled(figure, series, edges, _MODEL_BAND_OPACITY, text)
        return
    places = [place for x in series.x for place in [x + _offset(figure, number, together)] * 3]
    along = [value for low, high in ends for value in (low, high, None)]
    flat, plain = figure.kind in FLAT, figure.kind == "bar"
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
        if series.words:
            yield f"<b>{name}</b><br>{escape(series.words[i], quote=False)}"
            continue
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
