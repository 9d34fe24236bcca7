"""First limit that a job exceeded.

fio would end the job; Tameshi's run continues, and the record decides.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator

from tameshi.fio.limits import Limits
from tameshi.fio.measured import NS, Direction, Measured

_SETTLED_NS = 2 * NS
"""Start of rate checks, after the begin of a job."""


def broken(limits: Limits, measured: Measured) -> tuple[int, str] | None:
    """Return fio's error number and a sentence for the first exceeded limit."""
    for place, word in enumerate(("read", "write", "trim")):
        direction = measured.direction(word)
        longest = max(direction.latencies.values, default=0)
        if limits.latency_ns and longest > limits.latency_ns:
            told = f"max_latency: a {word} took {longest} ns, more than {limits.latency_ns} ns"
            return errno.ETIMEDOUT, told
        least_bytes, least_ios = limits.bytes_per_second[place], limits.ios_per_second[place]
        if not least_bytes and not least_ios:
            continue
        for at_ns, ios, size in _rates(direction, limits.cycle_ns):
            if size < least_bytes:
                told = f"rate_min: {size:.0f} B/s, less than {least_bytes}"
            elif ios < least_ios:
                told = f"rate_iops_min: {ios:.1f} /s, fewer than {least_ios}"
            else:
                continue
            return errno.EIO, f"{told}, {at_ns / NS:.1f} s after the start ({word})"
    return None


def _rates(direction: Direction, cycle_ns: int) -> Iterator[tuple[int, float, float]]:
    """Yield times with operations and bytes per second since the previous check.

    As in fio, a check needs a completion and a full cycle.
    """
    since, ios, size = 0, 0, 0
    for end, (count, moved, _) in sorted(direction.samples.items()):
        ios, size = ios + count, size + moved
        if not count or end < _SETTLED_NS or end - since < cycle_ns:
            continue
        yield end, ios * NS / (end - since), size * NS / (end - since)
        since, ios, size = end, 0, 0
