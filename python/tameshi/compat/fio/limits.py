"""Limits at which fio ends a job with an error: rates that are too low, a latency too long.

Here a run goes on, and the job is judged by its record.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tameshi.compat.fio import values
from tameshi.compat.fio.jobfile import Setting

if TYPE_CHECKING:
    from tameshi.compat.fio.measured import Direction, Measured

NS = 1_000_000_000
_SETTLED_NS = 2 * NS
"""A rate is not looked at before."""


@dataclass(frozen=True)
class Limits:
    """What a job must reach, by direction; zero: nothing."""

    bytes_per_second: tuple[int, int, int]
    ios_per_second: tuple[int, int, int]
    cycle_ns: int
    latency_ns: int

    def broken(self, measured: Measured) -> tuple[int, str] | None:
        """fio's error number, and a sentence, of the first limit that was not kept."""
        for place, word in enumerate(("read", "write", "trim")):
            direction = measured.direction(word)
            longest = max(direction.latencies.values, default=0)
            if self.latency_ns and longest > self.latency_ns:
                told = f"max_latency: a {word} took {longest} ns, more than {self.latency_ns} ns"
                return errno.ETIMEDOUT, told
            least_bytes, least_ios = self.bytes_per_second[place], self.ios_per_second[place]
            if not least_bytes and not least_ios:
                continue
            for at_ns, ios, size in _rates(direction, self.cycle_ns):
                if size < least_bytes:
                    told = f"rate_min: {size:.0f} B/s, less than {least_bytes}"
                elif ios < least_ios:
                    told = f"rate_iops_min: {ios:.1f} /s, fewer than {least_ios}"
                else:
                    continue
                return errno.EIO, f"{told}, {at_ns / NS:.1f} s after the begin ({word})"
        return None


def _rates(direction: Direction, cycle_ns: int) -> Iterator[tuple[int, float, float]]:
    """When, and how many operations and bytes per second since the look before.

    As fio looks: when something has completed, and a cycle has passed.
    """
    since, ios, size = 0, 0, 0
    for end, (count, moved, _) in sorted(direction.samples.items()):
        ios, size = ios + count, size + moved
        if not count or end < _SETTLED_NS or end - since < cycle_ns:
            continue
        yield end, ios * NS / (end - since), size * NS / (end - since)
        since, ios, size = end, 0, 0


def limits_of(settings: Mapping[str, Setting], kb_base: int) -> Limits:
    """The limits of a job."""

    def rates(key: str) -> tuple[int, int, int]:
        setting = settings.get(key)
        if setting is None:
            return 0, 0, 0
        read, write, trim = values.directions(setting)

        def rate(part: str) -> int:
            return values.size_of(setting, part, kb_base) if part else 0

        return rate(read), rate(write), rate(trim)

    cycle, longest = settings.get("rate_cycle"), settings.get("max_latency")
    return Limits(
        bytes_per_second=rates("rate_min"),
        ios_per_second=rates("rate_iops_min"),
        cycle_ns=(values.integer(cycle, 1) if cycle else 1000) * 1_000_000,
        latency_ns=values.time_us(longest, "us") * 1000 if longest else 0,
    )
