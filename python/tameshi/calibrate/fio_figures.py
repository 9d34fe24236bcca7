"""Checked figures of fio's JSON: impossible values are refused by their place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.calibrate.cells import Figures
from tameshi.core.errors import BadInput

FEWEST = 20
"""Least number of samples for a spread."""
MOST = 1e15
"""Upper bound on any rate per second and any latency in ns."""
LATENCIES = (("lat_ns", 1.0), ("clat_ns", 1.0), ("lat", 1e3), ("clat", 1e3))
"""Names of fio's latencies, total before completion, and the unit in ns: fio 3 counts ns, fio 2
counts µs."""
ROUNDING = 1 / 64
"""Relative error of fio's percentiles, which are bin values."""
UNIT = 1.0
"""Absolute error of fio's rounding to whole units."""
SHOWN = 60
"""Characters of a value shown in an error."""


@dataclass(frozen=True)
class Place:
    """Table in fio's JSON with its place."""

    file: str
    job: str
    key: str
    table: Mapping[str, Any]

    def bad(self, key: str, message: str, *accepted: str) -> BadInput:
        """Return the error of one of the table's values."""
        found = json.dumps(self.table[key])[:SHOWN] if key in self.table else "no such key"
        where = f"{self.file}: job {self.job}" if self.job else self.file
        return BadInput(message, where=where, key=self.path(key), found=found, accepted=accepted)

    def path(self, key: str) -> str:
        """Return a key with its parents."""
        return f"{self.key}.{key}" if self.key else key

    def inside(self, key: str) -> Place | None:
        """Return a table inside this one, if it exists."""
        if key not in self.table:
            return None
        if not isinstance(self.table[key], dict):
            raise self.bad(key, "not a table", "a table, as fio writes it")
        return Place(self.file, self.job, self.path(key), self.table[key])

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number that is not negative, or `default` if it is absent."""
        if key not in self.table and default is not None:
            return default
        value = number_of(self.table.get(key))
        if value is None or value < 0:
            raise self.bad(key, "not a number that fio writes", "a number, zero or more")
        return value

    def above_zero(self, key: str) -> float:
        """Return a number greater than zero."""
        value = self.number(key)
        if value == 0:
            raise self.bad(key, "requests were counted, but this is zero", "a number above zero")
        return value


def number_of(value: Any) -> float | None:
    """Return a JSON number that a device can have, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= MOST else None


def count_of(side: Place) -> float:
    """Return the counted requests of a direction, or the bytes of an old fio."""
    return side.number("total_ios", side.number("io_bytes", 0.0))


def figures_of(side: Place) -> Figures | None:
    """Return the figures of one direction of a job; None if fio recorded no latencies.

    Percentiles are those that fio lists: total latencies, or else completion latencies.
    """
    rate = side.above_zero("iops")
    known = [(told, ns) for key, ns in LATENCIES if (told := side.inside(key)) is not None]
    if not known:
        message = "the latencies that a fit needs are missing"
        raise side.bad("lat_ns", message, "lat_ns or clat_ns of fio 3", "lat or clat of fio 2")
    recorded = [(told, ns) for told, ns in known if mean_of(told) > 0]
    if not recorded:
        return None
    mean, unit = recorded[0]
    listing = [(told, ns) for told, ns in recorded if told.table.get("percentile")]
    samples, deviation = side.number("iops_samples", 0.0), side.number("iops_stddev", 0.0)
    spread = 2 * deviation / rate / samples**0.5 if samples >= FEWEST else None
    quantiles = quantiles_of(*(listing or recorded)[0])
    return Figures(rate, mean_of(mean) * unit, quantiles, spread)


def mean_of(told: Place) -> float:
    """Return the mean of latencies, which lies between min and max if these are known."""
    mean = told.number("mean")
    if mean > 0 and {"min", "max"} <= told.table.keys():
        least, most = _ends(told)
        if not least - UNIT <= mean <= most + UNIT:
            raise told.bad("mean", "the mean is not between min and max", _between(least, most))
    return mean


def _ends(told: Place) -> tuple[float, float]:
    """Return the least and the greatest latency."""
    least, most = told.number("min"), told.number("max")
    if least > most:
        raise told.bad("min", "greater than max", f"{most:.15g} or less")
    return least, most


def _between(least: float, most: float) -> str:
    return f"{least:.15g} to {most:.15g}"


def quantiles_of(told: Place, ns: float) -> Sequence[tuple[float, float]]:
    """Return shares with their latency bounds, from min to max."""
    listed = told.inside("percentile")
    points = []
    least, most = _ends(told)
    for key in listed.table if listed else ():
        percent = _percent(key)
        if listed is None or percent is None:
            raise told.bad("percentile", f"`{key}` is not a percentile", "0 to 100")
        if percent > 0:  # fio 2 pads its list with zeros
            points.append((percent / 100, listed.number(key), key))
    if listed:
        _check(listed, sorted(points), least, most)
    within = [(share, min(max(value, least), most) * ns) for share, value, _ in sorted(points)]
    return [(0.0, least * ns), *within, (1.0, most * ns)]


def _check(
    listed: Place, points: Sequence[tuple[float, float, str]], least: float, most: float
) -> None:
    """Raise `BadInput` for percentiles that fall, or lie outside min and max."""
    before = 0.0
    for _, value, key in points:
        if not least * (1 - ROUNDING) - UNIT <= value <= most * (1 + ROUNDING) + UNIT:
            message = "this percentile is not between min and max"
            raise listed.bad(key, message, _between(least, most))
        if value < before:
            message = "less than the percentile below it"
            raise listed.bad(key, message, f"{before:.15g} or more")
        before = value


def _percent(text: str) -> float | None:
    try:
        percent = float(text)
    except ValueError:
        return None
    return percent if 0 <= percent <= 100 else None
