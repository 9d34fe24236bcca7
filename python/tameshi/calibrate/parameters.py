"""Device model for fitting: its parameters, and their form in a profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi.core.reasons import Reason, reason

NS = 1_000_000_000
Values = Mapping[str, float]
Leaf = tuple[Any, str]
"""Value of a profile with the parameter that sets it; empty if undetermined."""


@dataclass(frozen=True)
class Parameter:
    """Fitted number, always greater than zero."""

    key: str
    """Its place in the profile, below the model."""
    unit: str
    """`time` (ns), `rate` (1/s) or `factor` (of a whole distribution or list)."""
    start: float
    low: float
    high: float


def bounded(
    key: str, unit: str, start: float, times: tuple[float, float], bounds: tuple[float, float]
) -> Parameter:
    """Return a parameter within a factor of its start value, and within its bounds."""
    least, most = bounds
    start = min(max(start, least), most)
    low, high = max(start / times[0], least), min(start * times[1], most)
    return Parameter(key, unit, start, low, high)


@dataclass(frozen=True)
class Model:
    """Kind of device with some free values."""

    name: str
    kind: str
    """Key of the model in a profile."""
    parameters: Sequence[Parameter]
    build: Callable[[Values], dict[str, Any]]
    """Function from parameters to the model's table, with values as `Leaf`."""
    undetermined: Sequence[Reason] = field(default_factory=tuple)
    """Parameters that these cells cannot determine in any fit."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Sources of values without a parameter, by key; others come from outside."""

    def device(self, values: Values) -> dict[str, Any]:
        """Return the device in the form of a profile, without real sources."""
        return {self.kind: _sourced(self.build(values))}


KNOWN_CAPACITY = "the size of what was measured"
UNKNOWN_CAPACITY = reason("capacity_unknown", "capacity")


@dataclass(frozen=True)
class Capacity:
    """Device's bytes in the form of a profile."""

    size_bytes: int
    source: str
    undetermined: tuple[Reason, ...] = ()


def capacity_of(known: int | None, used: int, template: tuple[str, int] | None = None) -> Capacity:
    """Return the device's bytes if known, else a template's but at least the used ones."""
    if known is not None:
        return Capacity(max(known, used), KNOWN_CAPACITY)
    name, size = template or ("", 0)
    if size >= used:
        return Capacity(size, f"not known: of profile {name}", (UNKNOWN_CAPACITY,))
    source = "not known: the used part, and the device may have more"
    return Capacity(used, source, (UNKNOWN_CAPACITY,))


def _sourced(tree: Mapping[str, Any]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, tuple):
            table[key] = {"value": value[0], "source": "candidate"}
        else:
            table[key] = _sourced(value)
    return table


def time_text(ns: float) -> str:
    """Format a time for a profile: whole nanoseconds, at most four significant digits."""
    rounded = round(ns)
    if rounded >= 10_000:
        step = 10 ** (len(str(rounded)) - 4)
        rounded = round(rounded / step) * step
    for unit, worth in (("ms", 1_000_000), ("us", 1_000)):
        if rounded >= worth:
            return f"{rounded / worth:.6f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{rounded} ns"


def rate_text(per_second: float) -> str:
    """Format a rate for a profile, with four significant digits."""
    rounded = max(round(per_second), 1)
    step = 10 ** max(len(str(rounded)) - 4, 0)
    return f"{round(rounded / step) * step} /s"
