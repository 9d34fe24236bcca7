"""How far the model of a simulated database may be off, in plots: whiskers of cells, bands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.report.figures import BANDED, Figure, Panel, Scale, Series
from tameshi.report.points import View, freeze
from tameshi.report.text import Phrase

WORLD = "simulated"
RATE, HITS = "statement.rate", "server.hit_ratio"
METRICS = {
    "statements": RATE,
    "hit_ratio": HITS,
    "reads": "server.read_rate",
    "writes": "server.write_rate",
}
"""The estimate whose interval belongs to a quantity over time."""
MOST_BANDS = 4
"""More bands in one plot would hide each other."""
_LOG_RANGE = 8.0


def figures(view: View) -> list[Figure]:
    """Of each simulated cell of databases the statements a second, in the model's interval."""
    told = [(cell, estimate) for cell in view.cells if (estimate := _estimate(cell, RATE))]
    if not told:
        return []
    phases = len({cell["phase"] for cell, _ in told}) > 1
    names = [
        (*([cell["phase"]] if phases else []), *(level for _, level in freeze(cell["levels"])))
        for cell, _ in told
    ]
    lows, highs = (tuple(estimate["model"][end] for _, estimate in told) for end in ("low", "high"))
    series = Series(
        (WORLD,),
        tuple(float(place) for place in range(len(told))),
        tuple(estimate["value"] for _, estimate in told),
        lows,
        highs,
    )
    log = max(highs) > _LOG_RANGE * min(lows) > 0
    categories = tuple(
        name or (cell["phase"],) for name, (cell, _) in zip(names, told, strict=True)
    )
    return [
        Figure(
            "modelled",
            Phrase("figure.modelled"),
            Phrase("hint.modelled"),
            "dot",
            Scale(Phrase("axis.none"), "number", categories=categories),
            Scale(Phrase("axis.rate"), "rate", log),
            (Panel((), (series,)),),
        )
    ]


def banded(view: View, series: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Lines over time of simulated databases with bounds as far off as the model may be.

    The bounds of several runs are widened by it. Plots of many lines stay as they are.
    """
    return [_banded(view, entry) for entry in series]


def _banded(view: View, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    quantity = entry.get("quantity")
    if entry["world"] != WORLD or quantity is None or len(entry["values"]) > MOST_BANDS:
        return entry
    phase = str(entry["name"]).removesuffix(f", {quantity}")
    by_name = {
        " ".join(level for _, level in freeze(cell["levels"])) or phase: cell
        for cell in view.cells
        if cell["world"] == WORLD and cell["phase"] == phase
    }
    lows, highs = {}, {}
    for name in entry["values"]:
        estimate = _estimate(by_name.get(name), METRICS[quantity])
        if estimate is None:
            return entry
        lows[name], highs[name] = (
            [
                _moved(value, estimate, end, share=quantity == "hit_ratio")
                for value in entry[end][name]
            ]
            for end in ("low", "high")
        )
    return {**entry, "low": lows, "high": highs, BANDED: True}


def _estimate(cell: Mapping[str, Any] | None, metric: str) -> Mapping[str, Any] | None:
    """A cell's estimate with an interval of the model; of the program as a whole."""
    if cell is None or cell["world"] != WORLD:
        return None
    found = [e for e in cell["estimates"] if e["metric"] == metric and e.get("model")]
    whole = [e for e in found if "." not in e["subject"]]
    return next(iter(whole or found), None)


def _moved(
    value: float | None, estimate: Mapping[str, Any], end: str, *, share: bool
) -> float | None:
    """A value as far off as the model's bound is off the estimate; a share by its odds."""
    if value is None:
        return None
    bound, middle = estimate["model"][end], estimate["value"]
    if not share:
        return float(value * bound / middle)
    if not 0 < value < 1:
        return float(value)
    return 1 / (1 + math.exp(-(_odds(value) + _odds(bound) - _odds(middle))))


def _odds(share: float) -> float:
    kept = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(kept / (1 - kept))
