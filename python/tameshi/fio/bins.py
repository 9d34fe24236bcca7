"""fio's latency bins, filled exactly from the record's histograms, and statistics over them.

fio has 64 bins per octave (6 bits of mantissa) in 29 groups, and names a bin by its middle. A
bucket of an HDR histogram with three digits has a power of two as its width, starts at a multiple
of the width, and its width is at most 1/1024 of its values. Each bucket thus lies within one of
fio's bins, and nothing is estimated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

BITS = 6
VALUES = 1 << BITS
GROUPS = 29
BINS = GROUPS * VALUES

Counts = Iterable[tuple[int, int]]
"""Pairs of value (ns) and count."""


def bin_of(value_ns: int) -> int:
    """Return the number of a value's bin; numbers continue beyond fio's last group."""
    bits = value_ns.bit_length() - 1
    if bits <= BITS:
        return value_ns
    shift = bits - BITS
    return ((shift + 1) << BITS) + ((value_ns >> shift) & (VALUES - 1))


def middle_of(number: int) -> int:
    """Return the value (ns) that names a bin."""
    if number < 2 * VALUES:
        return number
    shift = (number >> BITS) - 1
    width = 1 << shift
    return (1 << (shift + BITS)) + (number % VALUES) * width + width // 2


@dataclass
class Latencies:
    """Latencies (ns) of one kind of operation; the sum is exact, values as precise as buckets."""

    sum_ns: int = 0
    values: Counter[int] = field(default_factory=Counter)

    def add(self, counts: Counts) -> None:
        """Add counts."""
        for value, count in counts:
            self.values[value] += count

    def merge(self, other: Latencies) -> None:
        """Add the latencies of another job."""
        self.sum_ns += other.sum_ns
        self.values.update(other.values)

    @property
    def count(self) -> int:
        """Return the number of operations."""
        return self.values.total()

    @property
    def mean(self) -> float:
        """Return the exact mean."""
        return self.sum_ns / self.count if self.count else 0.0

    @property
    def deviation(self) -> float:
        """Return the standard deviation with n - 1, as fio does."""
        if self.count < 2:
            return 0.0
        mean = sum(value * count for value, count in self.values.items()) / self.count
        square = sum(count * (value - mean) ** 2 for value, count in self.values.items())
        return math.sqrt(square / (self.count - 1))

    def bins(self) -> dict[int, int]:
        """Return the counts of fio's non-empty bins by their numbers."""
        counts: Counter[int] = Counter()
        for value, count in self.values.items():
            counts[bin_of(value)] += count
        return dict(sorted(counts.items()))

    def percentiles(self, wanted: Sequence[float]) -> dict[float, int]:
        """Return the middle of the bin that reaches each percentage."""
        bins = list(self.bins().items())
        middles = {}
        reached, place = 0, -1
        for percent in wanted:
            needed = math.ceil(percent / 100 * self.count)
            while bins and reached < max(needed, 1) and place + 1 < len(bins):
                place += 1
                reached += bins[place][1]
            middles[percent] = middle_of(bins[place][0]) if bins else 0
        return middles

    def shares(self) -> dict[str, dict[str, float]]:
        """Return percentages of operations by latency, as in fio's three tables."""
        counts = {table: dict.fromkeys(names, 0) for table, names in _TABLES.items()}
        for value, count in self.values.items():
            table, name = _place(value)
            counts[table][name] += count
        total = self.count or 1
        return {
            table: {name: round(100 * count / total, 6) for name, count in names.items()}
            for table, names in counts.items()
        }


_STEPS = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
_TABLES: Mapping[str, Sequence[str]] = {
    "latency_ns": [str(step) for step in _STEPS],
    "latency_us": [str(step) for step in _STEPS],
    "latency_ms": [*(str(step) for step in _STEPS), "2000", ">=2000"],
}


def _place(value_ns: int) -> tuple[str, str]:
    """Return table and column of a latency; a column holds values below its name."""
    for table, unit_ns in (("latency_ns", 1), ("latency_us", 1000), ("latency_ms", 1_000_000)):
        for step in _STEPS:
            if value_ns < step * unit_ns:
                return table, str(step)
    return "latency_ms", "2000" if value_ns < 2_000_000_000 else ">=2000"
