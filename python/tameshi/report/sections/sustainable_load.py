"""Sustainable load: sentences, key figures and table of a search for the highest rate under a
limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tameshi.report.view.key_figures import Fact
from tameshi.report.view.points import Point, View, freeze, level_words
from tameshi.report.view.tables import Column, Row, Table, level_name
from tameshi.report.words.text import Shown, Text, format_interval, format_value

Found = Mapping[str, Any]
COLUMNS = ("maximum", "ceiling", "highest", "between", "confidence", "knee", "rates")


def limited(view: View) -> list[Found]:
    """Return the searches with a limit."""
    return [found for found in view.searches if found["limit_ns"] is not None]


def breaks_limit(view: View, point: Point) -> bool:
    """Return whether a searched stream's point exceeds its limit."""
    return (point.world, point.phase, point.levels, point.subject) in view.beyond_limits


def within_limit(view: View, facts: Sequence[Fact]) -> list[Fact]:
    """Return key figures within the search's limit, without peaks over its own rates."""
    if not limited(view):
        return list(facts)
    offered = {axis.name for axis in view.axes if axis.offered}
    kept = [
        replace(fact, found={w: p for w, p in fact.found.items() if not breaks_limit(view, p)})
        for fact in facts
        if fact.kind != "peak" or fact.axis not in offered
    ]
    return [fact for fact in kept if fact.found]


def told(view: View, text: Text, world: str, most: int) -> list[str]:
    """Return the highest rate of each cell of a search; of more than `most`, maximum and
    minimum."""
    here = [found for found in limited(view) if found["world"] == world]
    if len(here) <= most:
        return [_said(found, text) for found in here]
    ranked = sorted(here, key=lambda found: float(found["value"] or found["high"] or 0.0))
    others = text("item.others", count=str(len(here) - 2))
    return [_said(ranked[-1], text), _said(ranked[0], text), others]


def figures(view: View, text: Text) -> list[tuple[str, dict[str, Shown]]]:
    """Return the key figures of the searches: label, and rate by world."""
    rows: dict[str, dict[str, Shown]] = {}
    for found in limited(view):
        operation, _, measure = str(found["metric"]).partition(".")
        head = text(
            "row.limit",
            name=text.names((found["stream"], *level_words(freeze(found["levels"])))),
            operation=text.name(operation),
            measure=text.measure(measure),
            limit=format_value("latency", found["limit_ns"]),
        )
        rows.setdefault(head, {})[found["world"]] = _figure(found, text)
    return list(rows.items())


def _figure(found: Found, text: Text) -> Shown:
    """Return the rate, or the bound on one side."""
    value, low, high = (found.get(key) for key in ("value", "low", "high"))
    key, rate = _key_and_rate(value, low, high)
    if rate is None:
        return Shown(text("cell.none"))
    told = format_value("rate", rate)
    if low is None or high is None:
        return Shown(text(f"cell.limit{key}", rate=told))
    note = text("note.no_interval") if found.get("confidence") is None else ""
    return Shown(told, format_interval("rate", rate, low, high), note)


def _said(found: Found, text: Text) -> str:
    value, low, high = (found.get(key) for key in ("value", "low", "high"))
    operation, _, measure = str(found["metric"]).partition(".")
    key, rate = _key_and_rate(value, low, high)
    return text(
        f"item.limit{key}",
        name=text.names((found["stream"], *level_words(freeze(found["levels"])))),
        operation=text.name(operation),
        measure=text.measure(measure),
        limit=format_value("latency", found["limit_ns"]),
        rate="" if rate is None else format_value("rate", rate),
        aside=_aside(found, text) if key == "" else "",
    )


def _key_and_rate(
    value: float | None, low: float | None, high: float | None
) -> tuple[str, float | None]:
    """Return the sentence's key by the bounded sides, and its rate."""
    if low is None:
        return ("_unknown", None) if high is None else ("_never", high)
    return ("_always", low) if high is None else ("", value)


def _aside(found: Found, text: Text) -> str:
    """Return the bounds, marked if runs had no interval."""
    parts: Sequence[str] = [
        format_interval("rate", found["value"], found["low"], found["high"]),
        *([text("note.no_interval")] if found.get("confidence") is None else []),
    ]
    return f" ({'; '.join(parts)})"


def table(view: View, text: Text) -> Table | None:
    """Return a row per cell of the search; None without a search."""
    rows = [Row(_search_name(found, text), _search_cells(found, text)) for found in view.searches]
    columns = (Column(text("column.load")), *(Column(text(f"column.{key}")) for key in COLUMNS))
    if not rows:
        return None
    return Table("limits", text("table.limits"), columns, tuple(rows), text("note.limits"))


def _search_name(found: Mapping[str, Any], text: Text) -> str:
    levels = (level_name(text, *pair) for pair in found["levels"].items())
    return text.names((found["stream"], text.world(found["world"]), *levels))


def _search_cells(found: Mapping[str, Any], text: Text) -> tuple[Shown, ...]:
    none = text("cell.none")

    def rate(key: str) -> str:
        value = found.get(key)
        return none if value is None else format_value("rate", value)

    limit = none
    if found["limit_ns"] is not None:
        measure = text.measure(found["metric"].partition(".")[2])
        limit = text(
            "cell.below", measure=measure, limit=format_value("latency", found["limit_ns"])
        )
    bounded = found.get("low") is not None or found.get("high") is not None
    between = text("cell.between", low=rate("low"), high=rate("high")) if bounded else none
    confidence = found.get("confidence")
    return (
        Shown(rate("maximum")),
        Shown(limit),
        Shown(rate("value")),
        Shown(between),
        Shown(none if confidence is None else f"{confidence:.0%}"),
        Shown(rate("knee")),
        Shown(str(found["runs"])),
    )
