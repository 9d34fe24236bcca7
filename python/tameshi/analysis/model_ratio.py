"""Model error of a ratio of two figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tameshi.analysis import drive_error
from tameshi.analysis.stats import ratios
from tameshi.analysis.stats.intervals import digits

Bounds = tuple[float, float]
Model = Mapping[str, Any]
"""Model error of a figure as of results.json; empty: it has none."""


def of(metric: str, top: tuple[float, Model], bottom: tuple[float, Model]) -> Bounds | None:
    """Return the model error of a ratio of two values with theirs; None without any.

    Two figures of drives have the error of such pairs, others that of the less certain side.
    """
    (above, model), (below, other) = top, bottom
    if above > 0 and below > 0:
        own = drive_error.of_ratio(metric, above / below, model, other)
        if own:
            return own
    return ratios.of_models((above, _bounds(model)), (below, _bounds(other)))


def _bounds(model: Model) -> Bounds | None:
    return (model["low"], model["high"]) if "low" in model else None


def of_figures(above: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the same for two figures of results.json, in its form."""
    sides = ((each["value"], each.get("model") or {}) for each in (above, other))
    error = of(above["metric"], *sides)
    return error and {"low": digits(error[0]), "high": digits(error[1])}
