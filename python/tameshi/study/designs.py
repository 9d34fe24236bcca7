"""Sampling designs: few points that cover the ranges of many settings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.core.errors import BadInput

DESIGNS = ("latin_hypercube", "sobol")
LOG = "log"
DIGITS = 4
"""Significant digits of a value, which is readable and the same on any machine."""
QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([^\d\s.].*)")
WHERE = "tameshi.samples"
Range = Sequence[Any]


@dataclass(frozen=True)
class _Scale:
    """Range of a setting: values from `low` to `high`, with a unit or none."""

    low: float
    high: float
    unit: str
    is_whole: bool
    is_log: bool

    def value(self, share: float) -> Any:
        """Return the value at a share of the range."""
        if self.is_log:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        if self.is_whole:
            value = min(max(round(value), self.low), self.high)
        number: Any = int(value) if self.is_whole else float(f"{value:.{DIGITS}g}")
        return f"{number} {self.unit}" if self.unit else number


def design(
    ranges: Mapping[str, Range], number: int, method: str, seed: int
) -> list[dict[str, Any]]:
    """Return points of a sampling design: each a value per place; raise `BadInput`.

    A range is `(low, high)` or `(low, high, "log")`: numbers, or quantities of the same unit. Whole
    ends give whole values.
    """
    if method not in DESIGNS:
        raise BadInput("unknown design", where=WHERE, found=str(method), accepted=DESIGNS)
    if not ranges:
        raise BadInput("a design has at least one range", where=WHERE)
    if number < 2:
        accepted = ["2 samples or more"]
        raise BadInput("too few samples", where=WHERE, found=str(number), accepted=accepted)
    if method == "sobol" and number & (number - 1):
        below = 1 << (number.bit_length() - 1)
        accepted = [f"{below}", f"{2 * below}"]
        message = "a Sobol design has a power of two as its number of samples"
        raise BadInput(message, where=WHERE, found=str(number), accepted=accepted)
    scales = {place: _scale(place, given) for place, given in ranges.items()}
    points = _points(method, len(scales), number, seed)
    return [
        {
            place: scale.value(float(share))
            for (place, scale), share in zip(scales.items(), point, strict=True)
        }
        for point in points
    ]


def _points(method: str, settings: int, number: int, seed: int) -> Any:
    from scipy.stats import qmc

    made: Callable[..., Any] = qmc.Sobol if method == "sobol" else qmc.LatinHypercube
    return made(settings, seed=seed).random(number)


def _scale(place: str, given: Range) -> _Scale:
    manner = given[2] if len(given) == 3 else None
    if isinstance(given, str) or len(given) not in (2, 3) or manner not in (None, LOG):
        raise _bad(place, given, "a range has a low and a high end")
    (low, unit, is_whole), (high, other, both_whole) = (_parsed(place, end) for end in given[:2])
    if unit != other:
        raise _bad(place, given, "both ends of a range have the same unit")
    if not low < high:
        raise _bad(place, given, "the low end of a range is below the high one")
    if manner == LOG and low <= 0:
        raise _bad(place, given, "a logarithmic range begins above zero")
    return _Scale(low, high, unit, is_whole and both_whole, manner == LOG)


def _parsed(place: str, end: Any) -> tuple[float, str, bool]:
    """Return number and unit of an end of a range, and whether the number is whole."""
    if isinstance(end, str) and (found := QUANTITY.fullmatch(end.strip())):
        return float(found[1]), found[2], "." not in found[1]
    if isinstance(end, bool | str) or not isinstance(end, int | float) or not math.isfinite(end):
        raise _bad(place, end, "this is no end of a range")
    return float(end), "", isinstance(end, int)


def _bad(place: str, found: Any, message: str) -> BadInput:
    accepted = ["(1, 64)", '("1 GiB", "64 GiB")', '("1 GiB", "64 GiB", "log")']
    return BadInput(message, where=WHERE, key=place, found=str(found), accepted=accepted)
