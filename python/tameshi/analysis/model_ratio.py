"""Model error of a ratio of two figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.analysis import database_error, drive_error
from tameshi.analysis.stats import ratios
from tameshi.analysis.stats.intervals import digits

Bounds = tuple[float, float]
Model = Mapping[str, Any]
"""Model error of a figure as of results.json; empty: it has none."""


def of(metric: str, top: tuple[float, Model], bottom: tuple[float, Model]) -> Bounds | None:
    """Return the model error of a ratio of two values with theirs; None without any.

    Two figures of drives, or of a database, have the error of such pairs, others that of the less
    certain side.
    """
    (above, model), (below, other) = top, bottom
    sides = (above, _bounds(model)), (below, _bounds(other))
    if above > 0 and below > 0:
        of_drives = drive_error.of_ratio(metric, above / below, model, other)
        if of_drives:
            return of_drives
        own = database_error.of_ratio(metric, above / below, model, other)
        if own:
            return own[0], _reachable(own[1], *sides)
    return ratios.of_models(*sides)


def _reachable(high: float, top: ratios.Modelled, bottom: ratios.Modelled) -> float:
    """Return the upper end of a ratio, at most what both sides' own intervals reach: a rate of an
    open loop is bounded."""
    (above, bounds), (below, others) = top, bottom
    if not (bounds and others and others[0] > 0):
        return high
    return min(high, max(bounds[1] / others[0], above / below))


def _bounds(model: Model) -> Bounds | None:
    return (model["low"], model["high"]) if "low" in model else None


def of_figures(above: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the same for two figures of results.json, in its form."""
    sides = ((each["value"], each.get("model") or {}) for each in (above, other))
    error = of(above["metric"], *sides)
    return error and {"low": digits(error[0]), "high": digits(error[1])}
