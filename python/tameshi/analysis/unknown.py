"""Unknown settings: figures at their other levels, and the range that these span together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.stats.intervals import digits
from tameshi.core.spec_types import Summary
from tameshi.record.store import SealedRun

Bounds = tuple[float, float]
Setting = tuple[str, str]
"""Name of an unknown setting, and a level that is not the assumed one."""


@dataclass(frozen=True)
class Tried:
    """Value of a figure with one unknown setting at another level."""

    name: str
    level: str
    value: float


def settings_of(study: Summary) -> dict[str, Any]:
    """Return the unknown settings of a study as results.json holds them; empty without any."""
    if not study.unknown:
        return {}
    return {"unknown": [each.model_dump(mode="json") for each in study.unknown]}


def assumed(runs: Iterable[SealedRun]) -> list[SealedRun]:
    """Return the runs with every unknown setting at its assumed level."""
    return [run for run in runs if not run.spec.unknown]


def others(runs: Iterable[SealedRun]) -> dict[Setting, list[SealedRun]]:
    """Return the other runs by the setting and level that they try, in order."""
    found: dict[Setting, list[SealedRun]] = {}
    for run in runs:
        for setting in (run.spec.unknown or {}).items():
            found.setdefault(setting, []).append(run)
    return found


def add(
    cells: Sequence[Mapping[str, Any]], tried: Iterable[Mapping[str, Any]], setting: Setting
) -> None:
    """Add the values of tried cells to the estimates of results.json that they belong to.

    A level is tried once: the value is the estimate's, moved as the first repetition is. Cells that
    are invalid are left out.
    """
    there = {(_place(cell), _figure(each)): each for cell in cells for each in cell["estimates"]}
    for cell in tried:
        if cell["verdict"]["level"] == "invalid":
            continue
        for each in cell["estimates"]:
            estimate = there.get((_place(cell), _figure(each)))
            pair = (estimate or {}).get("by_repetition", {}).get("0")
            if estimate is not None and each["value"] is not None and pair:
                moved = estimate["value"] * each["value"] / pair
                value = {"name": setting[0], "level": setting[1], "value": digits(moved)}
                estimate.setdefault("unknown", []).append(value)


def _place(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    return (cell["world"], cell["phase"], tuple(cell["levels"].items()))


def _figure(estimate: Mapping[str, Any]) -> tuple[str, str, str]:
    return (estimate["metric"], estimate["subject"], estimate["window"])


def read(entry: Mapping[str, Any]) -> tuple[Tried, ...]:
    """Return the tried values of an estimate of results.json."""
    return tuple(Tried(**each) for each in entry.get("unknown") or ())


def of_ratio(top: Iterable[Tried], bottom: Iterable[Tried]) -> tuple[Tried, ...]:
    """Return the ratio of two figures at each level that both were tried at."""
    below = {(each.name, each.level): each.value for each in bottom if each.value > 0}
    return tuple(
        Tried(each.name, each.level, each.value / below[each.name, each.level])
        for each in top
        if (each.name, each.level) in below
    )


def moves(value: float, tried: Iterable[Tried]) -> dict[str, Bounds]:
    """Return the factors, least and greatest, that each setting moves a value by; 1 is among
    them."""
    found: dict[str, Bounds] = {}
    for each in tried:
        if value > 0 and each.value > 0:
            low, high = found.get(each.name, (1.0, 1.0))
            found[each.name] = (min(low, each.value / value), max(high, each.value / value))
    return found


def widened(value: float, model: Bounds | None, tried: Iterable[Tried]) -> Bounds | None:
    """Return the model error with the unknown settings: independent errors, added in quadrature.

    None without both.
    """
    factors = list(moves(value, tried).values())
    if not factors:
        return model
    if model and min(model) > 0:
        factors.append((model[0] / value, model[1] / value))
    low = math.hypot(*(math.log(min(low, 1.0)) for low, _ in factors))
    high = math.hypot(*(math.log(max(high, 1.0)) for _, high in factors))
    return value * math.exp(-low), value * math.exp(high)
