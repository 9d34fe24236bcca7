"""Ticks of a plot's axes: round values, and those whose labels fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from tameshi.core.units import format_tick
from tameshi.report.view.figures import Scale

LETTER, LABEL_GAP = 7.5, 8
"""Width of a letter, and gap between labels, in pixels."""
DECADES_WITH_STEPS = 2.5


def fitting_ticks(
    ticks: list[float],
    scale: Scale,
    ends: list[float],
    width: float,
    labels: Mapping[float, str] | None = None,
) -> list[float]:
    """Return evenly chosen ticks whose labels fit an axis of `width` pixels.

    On a logarithmic axis powers of ten come first, if there are two. `labels`: of each tick, if
    they are not its values.
    """
    known = labels or {}

    def apart(chosen: list[float]) -> bool:
        placed = [math.log10(tick) if scale.log else tick for tick in chosen]
        at = [(place - ends[0]) / (ends[1] - ends[0]) * width for place in placed]
        words = (known.get(tick) or format_tick(scale.kind, tick) for tick in chosen)
        halves = [len(label) * LETTER / 2 for label in words]
        sides = zip(pairwise(at), pairwise(halves), strict=True)
        return all(b - a >= half + other + LABEL_GAP for (a, b), (half, other) in sides)

    tens = [tick for tick in ticks if scale.log and math.log10(tick).is_integer()]
    choices = [ticks, *([tens] if len(tens) > 1 else [])]
    choices += [choices[-1][::step] for step in range(2, len(ticks) + 1)]
    return next(filter(apart, choices), ticks[:1])


def log_ticks(low: float, high: float) -> list[float]:
    """Return decades that cover a range, with 2 and 5 between them if they are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if math.log10(high / low) < DECADES_WITH_STEPS else (1,)
    return [step * 10.0**power for power in range(first, last + 1) for step in steps]


def binary_log_ticks(low: float, high: float) -> list[float]:
    """Return about five powers of two that cover a range, for bytes."""
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    step = math.ceil((last - first) / 5) or 1
    return [2.0**power for power in range(first, last + step, step)]


def binary_ticks(high: float) -> list[float]:
    """Return round ticks from zero in KiB, MiB or GiB, by the greatest value."""
    unit = 1024.0 ** math.floor(math.log(high, 1024)) if high >= 1 else 1.0
    return [unit * tick for tick in linear_ticks(high / unit)]


def linear_ticks(high: float, low: float = 0.0) -> list[float]:
    """Return about five round ticks from zero above `low`."""
    if high <= low:
        return []
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    return [step * i for i in range(math.ceil(high / step - 1e-9) + 1)]
