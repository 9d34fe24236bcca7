"""A device model that can be fitted: its parameters, and how a profile spells them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi.core.reasons import Reason, reason

NS = 1_000_000_000
Values = Mapping[str, float]
Leaf = tuple[Any, str]
"""A profile's value, and the parameter that sets it; empty: nothing here tells it."""


@dataclass(frozen=True)
class Parameter:
    """One number that is fitted, always above zero."""

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
    """What may come out so many times less or more than it starts with, within what is allowed."""
    least, most = bounds
    start = min(max(start, least), most)
    low, high = max(start / times[0], least), min(start * times[1], most)
    return Parameter(key, unit, start, low, high)


@dataclass(frozen=True)
class Model:
    """A kind of device with some of its values free."""

    name: str
    kind: str
    """The model's key in a profile."""
    parameters: Sequence[Parameter]
    build: Callable[[Values], dict[str, Any]]
    """The model's table for given parameters: values as `Leaf`, at their keys."""
    untold: Sequence[Reason] = field(default_factory=tuple)
    """What these cells cannot tell, whatever the fit."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where values come from that no parameter sets, by key; of others, from outside."""

    def device(self, values: Values) -> dict[str, Any]:
        """The device as a profile has it, without real sources."""
        return {self.kind: _sourced(self.build(values))}


KNOWN_CAPACITY = "the size of what was measured"
UNKNOWN_CAPACITY = reason("capacity_unknown", "capacity")


@dataclass(frozen=True)
class Capacity:
    """A device's bytes as a profile has them."""

    size_bytes: int
    source: str
    untold: tuple[Reason, ...] = ()


def capacity_of(known: int | None, used: int, template: tuple[str, int] | None = None) -> Capacity:
    """The device's bytes where they are known; else a template's, and what was used at least."""
    if known is not None:
        return Capacity(max(known, used), KNOWN_CAPACITY)
    name, size = template or ("", 0)
    if size >= used:
        return Capacity(size, f"not known: of profile {name}", (UNKNOWN_CAPACITY,))
    source = "not known: as much as was worked on, and the device may have more"
    return Capacity(used, source, (UNKNOWN_CAPACITY,))


def _sourced(tree: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, tuple):
            found[key] = {"value": value[0], "source": "candidate"}
        else:
            found[key] = _sourced(value)
    return found


def time_text(ns: float) -> str:
    """A time as a profile has it: whole nanoseconds, at most four digits that count."""
    whole = round(ns)
    if whole >= 10_000:
        step = 10 ** (len(str(whole)) - 4)
        whole = round(whole / step) * step
    for unit, worth in (("ms", 1_000_000), ("us", 1_000)):
        if whole >= worth:
            return f"{whole / worth:.6f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{whole} ns"


def rate_text(per_second: float) -> str:
    """A rate as a profile has it, to four digits that count."""
    whole = max(round(per_second), 1)
    step = 10 ** max(len(str(whole)) - 4, 0)
    return f"{round(whole / step) * step} /s"
