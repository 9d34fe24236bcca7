"""Figures of fio's JSON, each checked: what fio can't have written is refused by its place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.calibrate.cells import Figures
from tameshi.errors import BadInput

FEWEST = 20
"""Samples of a rate below which they tell no spread."""
MOST = 1e15
"""Beyond any rate per second and any latency in ns."""
LATENCIES = (("lat_ns", 1.0), ("clat_ns", 1.0), ("lat", 1e3), ("clat", 1e3))
"""What fio calls latencies, whole ones before those of completion, and the ns in its unit: fio 3
counts ns and says so, fio 2 counts µs."""
SHOWN = 60
"""Characters of a value that an error shows."""


@dataclass(frozen=True)
class Place:
    """A table in fio's JSON, and where it stands."""

    file: str
    job: str
    key: str
    table: Mapping[str, Any]

    def bad(self, key: str, message: str, *accepted: str) -> BadInput:
        """The error of one of the table's values."""
        found = json.dumps(self.table[key])[:SHOWN] if key in self.table else "no such key"
        where = f"{self.file}: job {self.job}" if self.job else self.file
        return BadInput(message, where=where, key=self.path(key), found=found, accepted=accepted)

    def path(self, key: str) -> str:
        """A key with those above it."""
        return f"{self.key}.{key}" if self.key else key

    def inside(self, key: str) -> Place | None:
        """A table in this one, if it is there."""
        if key not in self.table:
            return None
        if not isinstance(self.table[key], dict):
            raise self.bad(key, "this is no table", "a table, as fio writes it")
        return Place(self.file, self.job, self.path(key), self.table[key])

    def number(self, key: str, default: float | None = None) -> float:
        """A number that is not negative; `default` where there is none."""
        if key not in self.table and default is not None:
            return default
        value = number_of(self.table.get(key))
        if value is None or value < 0:
            raise self.bad(key, "this is no such number as fio writes", "a number, zero or more")
        return value

    def above_zero(self, key: str) -> float:
        """A number that says something was done."""
        value = self.number(key)
        if value == 0:
            raise self.bad(key, "requests were counted, and this is zero", "a number above zero")
        return value


def number_of(value: Any) -> float | None:
    """A JSON number that a device can have; None for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= MOST else None


def count_of(side: Place) -> float:
    """Requests that a direction counted, or their bytes where an old fio counts these alone."""
    return side.number("total_ios", side.number("io_bytes", 0.0))


def figures_of(side: Place) -> Figures | None:
    """One direction of one job; None where fio was told to keep no latencies.

    Of its percentiles those that fio lists: where whole latencies have none, those of completion.
    """
    rate = side.above_zero("iops")
    known = [(told, ns) for key, ns in LATENCIES if (told := side.inside(key)) is not None]
    if not known:
        message = "there are no latencies, which a fit needs"
        raise side.bad("lat_ns", message, "lat_ns or clat_ns of fio 3", "lat or clat of fio 2")
    recorded = [(told, ns) for told, ns in known if told.number("mean") > 0]
    if not recorded:
        return None
    mean, unit = recorded[0]
    listing = [(told, ns) for told, ns in recorded if told.table.get("percentile")]
    samples, deviation = side.number("iops_samples", 0.0), side.number("iops_stddev", 0.0)
    spread = 2 * deviation / rate / samples**0.5 if samples >= FEWEST else None
    return Figures(
        rate, mean.number("mean") * unit, quantiles_of(*(listing or recorded)[0]), spread
    )


def quantiles_of(told: Place, ns: float) -> Sequence[tuple[float, float]]:
    """Shares with the latencies that they take at most, from the least latency to the greatest."""
    listed = told.inside("percentile")
    points = []
    for key in listed.table if listed else ():
        percent = _percent(key)
        if listed is None or percent is None:
            raise told.bad("percentile", f"`{key}` is no percentile", "0 to 100")
        if percent > 0:  # fio 2 fills its list up with zeros
            points.append((percent / 100, listed.number(key) * ns))
    least, most = told.number("min") * ns, told.number("max") * ns
    return [(0.0, least), *sorted(points), (1.0, most)]


def _percent(text: str) -> float | None:
    try:
        percent = float(text)
    except ValueError:
        return None
    return percent if 0 <= percent <= 100 else None
