"""Display units of a profile's values."""

from __future__ import annotations

import re

from tameshi.core import compiled
from tameshi.core.units import format_si
from tameshi.devices.values import Value

COMMANDS = re.compile(r"(.*\.)?(controller\.(read|write)_rate|command_rate)")
"""Keys of rates that count commands; others count bytes."""
UNITS = {
    "_nj": (1e-9, "J"),
    "_mw": (1e-3, "W"),
    "_mk_per_w": (1e-3, "K/W"),
    "_mj_per_k": (1e-3, "J/K"),
}
"""Ends of keys whose values are plain numbers: the unit's size, and the unit."""
MINUTE_NS = 60e9
WHOLE_NS = 1000
"""Time in ns from which a larger unit is used."""


def display_value(value: Value) -> str:
    """Format a value: `1.2 GB/s`, `1 M/s`, `8.333 ms (7200/min)`, `4 µJ`, else unchanged."""
    last = value.key.rpartition(".")[2]
    if rate := re.fullmatch(r"(\d+) /s", value.value):
        commands = COMMANDS.fullmatch(value.key)
        return format_si(float(rate[1]), "/s" if commands else "B/s")
    if last == "rate" and value.value.endswith("B"):
        return f"{value.value}/s"
    if last == "revolution":
        ns = compiled.nanoseconds(value.value)
        return f"{format_si(ns / 1e9, 's')} ({MINUTE_NS / ns:.0f}/min)"
    if (time := re.fullmatch(r"(\d+) ns", value.value)) and int(time[1]) >= WHOLE_NS:
        return format_si(int(time[1]) / 1e9, "s")
    for end, (size, unit) in UNITS.items():
        if last.endswith(end) and value.value.isdigit():
            return format_si(int(value.value) * size, unit)
    return value.value
