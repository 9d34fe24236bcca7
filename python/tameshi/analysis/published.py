"""Published figures next to ours: lists, units, derived figures, model error.

A figure's interval excludes sampling error. It combines errors of comparable known figures with the
uncertainty of the parameters (`data/evidence/uncertainty.toml`; see docs/predictions.md for the
method).
"""

from __future__ import annotations

import csv
import functools
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi.core.data import EVIDENCE, PUBLISHED
from tameshi.core.spec_types import Published, Summary

Cell = Mapping[str, Any]
Found = Mapping[str, float | None]

SIMULATED, EMULATED = "simulated", "emulated"
UNITS = {
    "IOPS": 1.0,
    "tx/s": 1.0,
    "query/s": 1.0,
    "threads": 1.0,
    "GB/s": 1e9,
    "MB/s": 1e6,
    "MiB/s": 2**20,
    "kB": 1e3,
    "KB/s": 1e3,
    "s": 1e9,
    "ms": 1e6,
    "us": 1e3,
    "%": 0.01,
    "512B blocks": 1.0,
}
"""Factors from the lists' units to those of our metrics: 1/s, B/s, ns, shares."""
QUANTILE = 1.645
"""Quantile of the normal distribution for a 90 % interval."""
REPEATED = 1.04
"""Largest ratio between published figures of the same experiment."""
HIT_RATIO = "server.hit_ratio"
PAIRED: Mapping[str, Callable[[float, float], float]] = {
    "more_than": lambda one, other: one - other,
    "ratio_to": lambda one, other: one / other,
    "gain_over": lambda one, other: one / other - 1,
}
"""Derivations from the values of two cells."""
TOGETHER = ("read", "write")
WHOLE = "all"
"""Window of a phase including its ramp."""
RAMPED = "ramp_included"
"""Derivation of a figure that includes the ramp."""


@dataclass(frozen=True)
class Listed:
    """Line of the lists: its unit, and its value if known."""

    unit: str
    value: float | None


@dataclass(frozen=True)
class Uncertainty:
    """Class of figures: comparable ones, and the uncertainty of their parameters."""

    comparable: Sequence[str]
    parameters: float
    because: str
    relative_to: Mapping[str, str] = field(default_factory=dict)
    """By figure, a known figure of the same kind; ours is scaled to it."""
    at_least: Mapping[str, str | float] = field(default_factory=dict)
    at_most: Mapping[str, str | float] = field(default_factory=dict)
    """By figure, its upper bound: a known figure of the same unit, or a number in that unit."""


@functools.cache
def listed() -> Mapping[str, Listed]:
    """Return every line of both lists by its id."""
    lines = {}
    for name in ("to-predict.csv", "calibration.csv"):
        with (PUBLISHED / name).open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                lines[row["id"]] = Listed(row["unit"], _number(row.get("value")))
    return lines


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


@functools.cache
def uncertainties() -> Mapping[str, Uncertainty]:
    """Return the class of each figure that has one, by its id."""
    table = tomllib.loads((EVIDENCE / "uncertainty.toml").read_text(encoding="utf-8"))
    classes: dict[str, Uncertainty] = {}
    for entry in table["class"].values():
        share = float(entry["parameters"].removesuffix("%")) / 100
        relative, least, most = (
            entry.get(key, {}) for key in ("relative_to", "at_least", "at_most")
        )
        one = Uncertainty(entry["comparable"], share, entry["because"], relative, least, most)
        classes |= {figure: one for figure in entry["figures"]}
    return classes


def published(
    study: Summary, cells: Sequence[Cell], lines: Mapping[str, Listed] | None = None
) -> list[dict[str, Any]]:
    """Return the study's published figures and ours, in the lists' units; null if unknown.

    Simulated figures come first, then emulated ones. `lines`: other lists than the package's, by
    id. The quick part of a study predicts nothing: its windows, drives and repetitions differ, and
    its error is unknown.
    """
    lines = listed() if lines is None else lines
    by_world = {
        world: [cell for cell in cells if cell["world"] == world] for world in (SIMULATED, EMULATED)
    }
    worlds = [world for world, own in by_world.items() if own] or [SIMULATED]
    rows = {
        world: [
            {"world": world, **_row(study, figure, by_world[world], lines.get(figure.id))}
            for figure in study.published or ()
        ]
        for world in worlds
    }
    if not study.quick:
        _predict(rows.get(SIMULATED, []))
    return [row for own in rows.values() for row in own]


def _predict(rows: Sequence[dict[str, Any]]) -> None:
    """Scale simulated figures that are relative to a known one; bound those to be predicted."""
    off = {
        row["id"]: math.log(row["predicted"] / row["published"])
        for row in rows
        if row["published"] and row["predicted"] and row["predicted"] / row["published"] > 0
    }
    for row in rows:
        uncertainty = uncertainties().get(row["id"])
        if uncertainty and row["predicted"] is not None and row["id"] in uncertainty.relative_to:
            # Without its reference figure in the same study there is no prediction.
            known = off.get(uncertainty.relative_to[row["id"]])
            row["predicted"] = None if known is None else row["predicted"] / math.exp(known)
        if uncertainty and row["predicted"] is not None and row["published"] is None:
            width = QUANTILE * math.hypot(
                calibration_error(uncertainty.comparable, off), uncertainty.parameters
            )
            bounds = around(row["predicted"], width, share=row["metric"] == HIT_RATIO)
            low, high = within(row["id"], row["predicted"], sorted(bounds), uncertainty)
            row |= {"low": low, "high": high, "because": uncertainty.because}


def within(
    figure: str, predicted: float, bounds: Sequence[float], uncertainty: Uncertainty
) -> tuple[float, float]:
    """Return a figure's bounds, limited to its upper bound."""
    low, high = bounds
    least, most = (
        _known(limits.get(figure)) for limits in (uncertainty.at_least, uncertainty.at_most)
    )
    if least is not None:
        low = min(max(low, least / REPEATED), predicted)
    if most is not None:
        high = max(min(high, most * REPEATED), predicted)
    return low, high


def _known(limit: str | float | None) -> float | None:
    return listed()[limit].value if isinstance(limit, str) else limit


def around(predicted: float, width: float, *, share: bool) -> tuple[float, float]:
    """Return bounds at the same distance on the logarithm, or on the log odds for shares in per
    cent."""
    if not share:
        return predicted * math.exp(-width), predicted * math.exp(width)
    odds = predicted / max(100 - predicted, 1e-4)
    low, high = (100 * odds / (odds + math.exp(sign * width)) for sign in (1, -1))
    return low, high


def calibration_error(comparable: Iterable[str], off: Mapping[str, float]) -> float:
    """Return the root mean square of log(ours / published) over the known figures."""
    known = [off[figure] ** 2 for figure in comparable if figure in off]
    return math.sqrt(sum(known) / len(known)) if known else 0.0


def _row(
    study: Summary, figure: Published, cells: Sequence[Cell], line: Listed | None
) -> dict[str, Any]:
    factor = UNITS.get(line.unit, 1.0) if line else 1.0
    ours = _derived(study, figure, cells)
    return {
        "id": figure.id,
        "cell": _levels(figure.cell),
        "phase": figure.phase,
        "metric": figure.metric,
        "subject": figure.subject,
        "derived": _kind_of(figure),
        "window": figure.window,
        "unit": line.unit if line else None,
        "published": line.value if line else None,
        "predicted": None if ours["value"] is None else ours["value"] / factor,
        "low": None if ours["low"] is None else ours["low"] / factor,
        "high": None if ours["high"] is None else ours["high"] / factor,
        "because": None,
        "missing": list(_missing(line, figure, cells)),
    }


def _missing(line: Listed | None, figure: Published, cells: Sequence[Cell]) -> Iterator[str]:
    """Return why a figure has no comparison: no list has it, or no cell shows it."""
    if line is None:
        yield "list"
    levels = _levels(figure.cell)
    matching = [c for c in cells if _fits(c, figure.phase, levels) and c["estimates"]]
    values = (_value(cell, figure) or _only(None) for cell in matching)
    if matching and all(value["value"] is None for value in values):
        yield "value"


def _levels(cell: Mapping[str, Any]) -> dict[str, str]:
    return {axis: str(getattr(level, "root", level)) for axis, level in cell.items()}


def _only(value: float | None) -> Found:
    return {"value": value, "low": None, "high": None}


def _kind_of(figure: Published) -> str | None:
    """Return how cells derive the figure; None if it is a cell's metric."""
    derived = figure.model_dump(mode="json", by_alias=True)["derived"]
    return str(next(iter(derived))) if isinstance(derived, Mapping) else derived


def _derived(study: Summary, figure: Published, cells: Sequence[Cell]) -> Found:
    """Return the value derived from the cells that a figure names."""
    levels, derived = _levels(figure.cell), figure.model_dump(mode="json", by_alias=True)["derived"]
    fitting = [cell for cell in cells if _fits(cell, figure.phase, levels)]
    if derived is None:
        return next((v for c in fitting if (v := _value(c, figure)) is not None), _only(None))
    if derived == RAMPED:
        ramped = (_ramp_included(cell, figure) for cell in fitting)
        return next((ramped_value for ramped_value in ramped if ramped_value), _only(None))
    if derived == "most":
        ramped_value = [v for c in fitting if (v := _value(c, figure)) is not None]
        return max(ramped_value, key=lambda v: v["value"] or 0.0, default=_only(None))
    ((kind, given),) = derived.items()
    if kind in PAIRED:
        other = [c for c in cells if _fits(c, figure.phase, {**levels, **given["cell"]})]
        pair = [next((_value(c, figure) for c in side), None) for side in (fitting, other)]
        values = [each["value"] for each in pair if each and each["value"] is not None]
        if len(values) < 2 or (kind != "more_than" and not values[1]):
            return _only(None)
        return _only(PAIRED[kind](*values))
    bound = _share(given["within" if kind == "same_up_to" else "beyond"])
    apart = _apart(study, figure, fitting, given["axis"], given["whatever"])
    if kind == "same_up_to":
        same = [level for level, spread in apart if spread <= bound]
        return _only(_before(apart, same))
    return _only(next((level for level, spread in apart if spread >= bound), None))


def _ramp_included(cell: Cell, figure: Published) -> Found | None:
    """Return the mean from the start of the ramp, by completions after it; None if unknown."""
    rate, weighted = figure.metric.replace(".latency.mean", ".rate"), []
    for window in (WHOLE, cell["phase"]):
        values = {e["metric"]: e["value"] for e in _estimates(cell, figure.subject, window)}
        seconds = cell.get("windows", {}).get(window)
        if seconds is None or not values.keys() >= {rate, figure.metric}:
            return None
        weighted.append((values[figure.metric], values[rate] * seconds))
    (mean, completed), (_, counted) = weighted
    return _only(mean * completed / counted)


def _before(apart: Sequence[tuple[float, float]], same: Sequence[float]) -> float | None:
    """Return the last level before the first that differs."""
    last = None
    for level, _ in apart:
        if level not in same:
            break
        last = level
    return last


def _share(written: Any) -> float:
    return float(str(written).removesuffix("%")) / 100


def _apart(
    study: Summary, figure: Published, cells: Sequence[Cell], axis: str, whatever: str
) -> list[tuple[float, float]]:
    """Return by level of the axis, in order, how far the levels of the other axis differ."""
    by_level: dict[float, dict[str, float]] = {}
    for cell in cells:
        value = (_value(cell, figure) or _only(None))["value"]
        if value is not None:
            place = by_level.setdefault(float(cell["levels"][axis]), {})
            place[cell["levels"][whatever]] = value
    known = {other.name: len(other.levels) for other in study.axes}
    complete = {k: v for k, v in by_level.items() if len(v) == known[whatever]}
    return [(k, 1 - min(v.values()) / max(v.values())) for k, v in sorted(complete.items())]


def _fits(cell: Cell, phase: str | None, levels: Mapping[str, str]) -> bool:
    fits = phase in (None, cell["phase"])
    return fits and all(cell["levels"].get(axis) == level for axis, level in levels.items())


def _value(cell: Cell, figure: Published) -> Found | None:
    """Return a cell's metric with its sampling interval; `all` and `per` derive one without
    interval."""
    window = figure.window or cell["phase"]
    if figure.per:
        chosen = _estimates(cell, None, window)
        parts = [
            next((e["value"] for e in chosen if e["metric"] == metric), None)
            for metric in (figure.metric, figure.per)
        ]
        return _only(parts[0] / parts[1]) if parts[0] is not None and parts[1] else None
    chosen = _estimates(cell, figure.subject, window)
    by_metric = {e["metric"]: e for e in chosen}
    operation, _, measure = figure.metric.partition(".")
    if operation != "all":
        estimate = by_metric.get(figure.metric)
        if estimate is None:
            return None
        bounds = {key: estimate["sampling"].get(key) for key in ("low", "high")}
        return {"value": estimate["value"], **bounds}
    return _together(chosen, measure)


def _estimates(cell: Cell, subject: str | None, window: str) -> list[Cell]:
    """Yield estimates over a window, of one subject or of all."""
    chosen = (e for e in cell["estimates"] if e["window"] == window)
    return [e for e in chosen if subject in (None, e.get("subject"))]


def _together(cells: Sequence[Cell], measure: str) -> Found | None:
    """Return reads and writes of all streams as one: rates add up, the rest is weighted by them."""
    by_metric = {(each.get("subject"), each["metric"]): each["value"] for each in cells}
    parts = [
        (by_metric.get((subject, f"{operation}.iops"), 0.0), value)
        for (subject, metric), value in by_metric.items()
        for operation in TOGETHER
        if metric == f"{operation}.{measure}"
    ]
    if not parts:
        return None
    if measure in ("iops", "bandwidth"):
        return _only(sum(value for _, value in parts))
    return _only(sum(rate * value for rate, value in parts) / sum(rate for rate, _ in parts))
