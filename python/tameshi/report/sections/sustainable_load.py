"""Sustainable load: sentences, key figures and table of a search for the highest rate under a
limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tameshi.core.units import format_interval, format_value
from tameshi.report.view.key_figures import KeyFigure
from tameshi.report.view.points import Point, View, freeze, level_words
from tameshi.report.view.tables import Column, Row, Table, level_name
from tameshi.report.words.text import Shown, Text

Search = Mapping[str, Any]
COLUMNS = ("maximum", "ceiling", "highest", "between", "confidence", "knee", "rates")


def limited(view: View) -> list[Search]:
    """Return the searches with a limit."""
    return [search for search in view.searches if search["limit_ns"] is not None]


def breaks_limit(view: View, point: Point) -> bool:
    """Return whether a searched stream's point exceeds its limit."""
    return (point.world, point.phase, point.levels, point.subject) in view.beyond_limits


def within_limit(view: View, key_figures: Sequence[KeyFigure]) -> list[KeyFigure]:
    """Return key figures within the search's limit, without peaks over its own rates."""
    if not limited(view):
        return list(key_figures)
    offered = {axis.name for axis in view.axes if axis.offered}
    kept = [
        replace(
            key_figure,
            by_world={w: p for w, p in key_figure.by_world.items() if not breaks_limit(view, p)},
        )
        for key_figure in key_figures
        if key_figure.kind != "peak" or key_figure.axis not in offered
    ]
    return [key_figure for key_figure in kept if key_figure.by_world]


def summarise(view: View, text: Text, world: str, most: int) -> list[str]:
    """Return the highest rate of each cell of a search; of more than `most`, maximum and
    minimum."""
    here = [search for search in limited(view) if search["world"] == world]
    if len(here) <= most:
        return [_sentence(search, text) for search in here]
    ranked = sorted(here, key=lambda search: float(search["value"] or search["high"] or 0.0))
    others = text("item.others", count=str(len(here) - 2))
    return [_sentence(ranked[-1], text), _sentence(ranked[0], text), others]


def figures(view: View, text: Text) -> list[tuple[str, dict[str, Shown]]]:
    """Return the key figures of the searches: label, and rate by world."""
    rows: dict[str, dict[str, Shown]] = {}
    for search in limited(view):
        operation, _, measure = str(search["metric"]).partition(".")
        head = text(
            "row.limit",
            name=text.names((search["stream"], *level_words(freeze(search["levels"])))),
            operation=text.name(operation),
            measure=text.measure(measure),
            limit=format_value("latency", search["limit_ns"]),
        )
        rows.setdefault(head, {})[search["world"]] = _figure(search, text)
    return list(rows.items())


def _figure(search: Search, text: Text) -> Shown:
    """Return the rate, or the bound on one side."""
    value, low, high = (search.get(key) for key in ("value", "low", "high"))
    key, rate = _key_and_rate(value, low, high)
    if rate is None:
        return Shown(text("cell.none"))
    rate_shown = format_value("rate", rate)
    if low is None or high is None:
        return Shown(text(f"cell.limit{key}", rate=rate_shown))
    note = text("note.no_interval") if search.get("confidence") is None else ""
    return Shown(rate_shown, format_interval("rate", rate, low, high), note)


def _sentence(search: Search, text: Text) -> str:
    value, low, high = (search.get(key) for key in ("value", "low", "high"))
    operation, _, measure = str(search["metric"]).partition(".")
    key, rate = _key_and_rate(value, low, high)
    return text(
        f"item.limit{key}",
        name=text.names((search["stream"], *level_words(freeze(search["levels"])))),
        operation=text.name(operation),
        measure=text.measure(measure),
        limit=format_value("latency", search["limit_ns"]),
        rate="" if rate is None else format_value("rate", rate),
        aside=_aside(search, text) if key == "" else "",
    )


def _key_and_rate(
    value: float | None, low: float | None, high: float | None
) -> tuple[str, float | None]:
    """Return the sentence's key by the bounded sides, and its rate."""
    if low is None:
        return ("_unknown", None) if high is None else ("_never", high)
    return ("_always", low) if high is None else ("", value)


def _aside(search: Search, text: Text) -> str:
    """Return the bounds, marked if runs had no interval."""
    parts: Sequence[str] = [
        format_interval("rate", search["value"], search["low"], search["high"]),
        *([text("note.no_interval")] if search.get("confidence") is None else []),
    ]
    return f" ({'; '.join(parts)})"


def table(view: View, text: Text) -> Table | None:
    """Return a row per cell of the search; None without a search."""
    rows = [
        Row(_search_name(search, text), _search_cells(search, text)) for search in view.searches
    ]
    columns = (Column(text("column.load")), *(Column(text(f"column.{key}")) for key in COLUMNS))
    if not rows:
        return None
    return Table("limits", text("table.limits"), columns, tuple(rows), text("note.limits"))


def _search_name(search: Mapping[str, Any], text: Text) -> str:
    levels = (level_name(text, *pair) for pair in search["levels"].items())
    return text.names((search["stream"], text.world(search["world"]), *levels))


def _search_cells(search: Mapping[str, Any], text: Text) -> tuple[Shown, ...]:
    none = text("cell.none")

    def rate(key: str) -> str:
        value = search.get(key)
        return none if value is None else format_value("rate", value)

    limit = none
    if search["limit_ns"] is not None:
        measure = text.measure(search["metric"].partition(".")[2])
        limit = text(
            "cell.below", measure=measure, limit=format_value("latency", search["limit_ns"])
        )
    bounded = search.get("low") is not None or search.get("high") is not None
    between = text("cell.between", low=rate("low"), high=rate("high")) if bounded else none
    confidence = search.get("confidence")
    return (
        Shown(rate("maximum")),
        Shown(limit),
        Shown(rate("value")),
        Shown(between),
        Shown(none if confidence is None else f"{confidence:.0%}"),
        Shown(rate("knee")),
        Shown(str(search["runs"])),
    )
