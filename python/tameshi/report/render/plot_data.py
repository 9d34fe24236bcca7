"""Data of a plot as CSV: a row per point, in base units."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.report.view.figures import Bounds, Figure, Series
from tameshi.report.words.text import Text

FIRST = "panel,series,"
"""Beginning of every file."""
_UNITS = {
    "rate": "1/s",
    "bandwidth": "B/s",
    "latency": "ns",
    "bytes": "B",
    "capacity": "B",
    "power": "W",
    "temperature": "°C",
}
_PERCENTILE = "axis.percentile"


def file_name(figure: Figure) -> str:
    """Return the name of a plot's file without its suffix."""
    return re.sub(r"[^\w.-]+", "-", figure.id).strip("-.") or "plot"


def plot_csv(figure: Figure, text: Text) -> str:
    """Return the points of a figure: place, value and unit, both intervals, reasons of doubt.

    Values have ten significant digits; what does not exist is empty.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            *("panel", "series", _place_name(figure, text), "value", "unit"),
            *("low", "high", "model_low", "model_high", "invalid"),
        ]
    )
    for panel in figure.panels:
        unit = _UNITS.get((panel.y or figure.y).kind, "1")
        for series in panel.series:
            names = [text.names(panel.name), text.names(series.name)]
            writer.writerows([*names, *row] for row in _rows(figure, series, unit, text))
    return out.getvalue()


def _place_name(figure: Figure, text: Text) -> str:
    """Return the header of the points' places."""
    if figure.x.categories:
        return "category"
    return text.phrase(figure.x.label) or "x"


def _rows(figure: Figure, series: Series, unit: str, text: Text) -> Iterator[list[str]]:
    """Yield a series' points without its name."""
    for i, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
        # Bars from one bound to another have no value of their own.
        value = "" if figure.kind == "range" else _number(y)
        low, high = _at(series.low, i), _at(series.high, i)
        model: Bounds = _at(series.models, i)
        model_low, model_high = model or (None, None)
        numbers = map(_number, (low, high, model_low, model_high))
        yield [_place(figure, x, text), value, unit, *numbers, _codes(_at(series.faults, i))]


def _at(values: Sequence[Any], index: int) -> Any:
    return values[index] if values else None


def _place(figure: Figure, x: float, text: Text) -> str:
    if figure.x.categories:
        return text.names(figure.x.categories[round(x)])
    if figure.x.label.key == _PERCENTILE:
        return f"{100 * (1 - 1 / x):.7g}"
    return _number(x)


def _codes(faults: Sequence[Mapping[str, Any]] | None) -> str:
    """Return the codes of the reasons for which a point is invalid; empty for a sound one."""
    return " ".join(dict.fromkeys(str(fault["code"]) for fault in faults or ()))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"
