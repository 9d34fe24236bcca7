"""Limits at which fio ends a job with an error: minimum rates and a maximum latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tameshi.fio import values
from tameshi.fio.jobfile import Setting


@dataclass(frozen=True)
class Limits:
    """Limits of a job, by direction; zero means no limit."""

    bytes_per_second: tuple[int, int, int]
    ios_per_second: tuple[int, int, int]
    cycle_ns: int
    latency_ns: int


def limits_of(settings: Mapping[str, Setting], kb_base: int) -> Limits:
    """Read the limits of a job."""

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
