"""Formats of amounts, times and rates, with their units."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Least size, divisor, unit.
_COUNT = ((0, 1, ""), (1e3, 1e3, " k"), (1e6, 1e6, " M"), (1e9, 1e9, " G"))
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi")
_SCALES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "rate": _COUNT,
    "number": _COUNT,
    "bandwidth": ((0, 1, " B/s"), (1e3, 1e3, " kB/s"), (1e6, 1e6, " MB/s"), (1e9, 1e9, " GB/s")),
    "latency": ((0, 1, " ns"), (1e3, 1e3, " µs"), (1e6, 1e6, " ms"), (1e9, 1e9, " s")),
    "bytes": tuple((1024.0**n if n else 0, 1024.0**n, f" {u}B") for n, u in enumerate(_BINARY)),
    "capacity": (
        (0, 1e3, " kB"),
        (1e6, 1e6, " MB"),
        (1e9, 1e9, " GB"),
        (1e12, 1e12, " TB"),
        (1e15, 1e15, " PB"),
    ),
    "power": ((0, 1e-3, " mW"), (1, 1, " W"), (1e3, 1e3, " kW")),
    "temperature": ((0, 1, " °C"),),
    "ratio": ((0, 1, " ×"),),
    "share": ((0, 0.01, " %"),),
}
_DIGITS = 3
_SI_DIGITS = 4
_SI_PREFIXES = (
    (1e9, "G"),
    (1e6, "M"),
    (1e3, "k"),
    (1.0, ""),
    (1e-3, "m"),
    (1e-6, "µ"),
    (1e-9, "n"),
)
_GIB = 1 << 30
_EXACT = {"GB": 10**9, "MiB": 1 << 20, "MB": 10**6, "KiB": 1 << 10}
_QUARTER_GIB = _GIB // 4


def _scaled(kind: str, value: float) -> tuple[float, str, int]:
    """Return divisor, suffix and decimals that show `value` with three significant digits.

    A value that rounds to the first of a scale belongs to it: 1023.7 MiB are 1.00 GiB.
    """
    size = abs(value)
    reached = (s for s in reversed(_SCALES[kind]) if round(size / s[1], _DIGITS) >= s[0] / s[1])
    _, divisor, suffix = next(reached)
    shown = float(f"{size / divisor:.{_DIGITS - 1}e}")
    decimals = _DIGITS - 1 - math.floor(math.log10(shown)) if shown else 0
    return divisor, suffix, min(max(decimals, 0), 6)


def format_value(kind: str, value: float) -> str:
    """Return a value with its unit and three significant digits: `12.3 k`, `187 MB/s`."""
    divisor, suffix, decimals = _scaled(kind, value)
    return f"{value / divisor:.{decimals}f}{suffix}"


def format_tick(kind: str, value: float) -> str:
    """Return a round value for an axis, without trailing zeros."""
    _, divisor, suffix = next(s for s in reversed(_SCALES[kind]) if abs(value) >= s[0])
    return f"{value / divisor:.6g}{suffix}"


def format_interval(kind: str, value: float, low: float, high: float) -> str:
    """Return `11.9–12.8`, in the scale and with the decimals of its value."""
    divisor, _, decimals = _scaled(kind, value)
    return f"{low / divisor:.{decimals}f}–{high / divisor:.{decimals}f}"


def format_seconds(times_ns: Sequence[float]) -> str:
    """Return `1.53–24.90 s`, or one time if all print alike."""
    ends = [f"{time / 1e9:.2f} s" for time in (min(times_ns), max(times_ns))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0].removesuffix(' s')}–{ends[1]}"


def format_wait(ns: float) -> str:
    """Return a time to wait, to the second or the minute: `90 s`, `45 min`, `2.5 h`."""
    seconds = ns / 1e9
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def format_si(number: float, unit: str) -> str:
    """Return a number with an SI prefix and four digits: `1.2 GB/s`, `8.333 ms`, `950/s`."""
    size, prefix = next(
        (p for p in _SI_PREFIXES if round(number / p[0], _SI_DIGITS) >= 1), _SI_PREFIXES[3]
    )
    gap = "" if unit == "/s" and not prefix else " "
    return f"{number / size:.{_SI_DIGITS}g}{gap}{prefix}{unit}"


def format_exact_bytes(size: int) -> str:
    """Return bytes without rounding: `8 GiB`, `1.25 GiB`, `8 GB`, `512 MiB`, `513 B`."""
    if size % _QUARTER_GIB == 0 and size >= _GIB:
        return f"{size / _GIB:g} GiB"
    for unit, worth in _EXACT.items():
        if size % worth == 0:
            return f"{size // worth} {unit}"
    return f"{size} B"
