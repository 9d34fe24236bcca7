"""Behaviour of an array by queue depth, by simulation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tameshi.core import compiled
from tameshi.devices.behaviour import (
    PAGES_LEFT,
    SIMULATED_BYTES,
    Measured,
    intervals_of,
    measured,
    simulated,
)
from tameshi.devices.progress import Watch, ignore_progress
from tameshi.devices.values import Array

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CACHE_FILLS = 2
"""Cache capacities written before writes are measured, for sustained rates."""
SETTLING = 0.05
"""Share of the capacity of flash drives written before: below it, they have more free blocks."""
INTERVALS = 10


@dataclass(frozen=True)
class ByDepth:
    """Random reads and writes of 4 KiB by queue depth, and the capacity scale."""

    scale: int
    reads: tuple[Measured, ...]
    writes: tuple[Measured, ...]


def by_depth(array: Array, watch: Watch = ignore_progress) -> ByDepth:
    """Simulate an array for some seconds, or a minute for many flash drives, without files."""
    scale = _scale(array)
    extra = {"arrays": [array.file], **array.beside}
    rows = simulated(array.name, _study(array, scale), extra, watch)

    def of(kind: str) -> tuple[Measured, ...]:
        names = ((depth, f"{kind}_{depth}") for depth in DEPTHS)
        return tuple(measured(str(depth), intervals_of(rows, name)) for depth, name in names)

    return ByDepth(scale, of("read"), of("write"))


def _scale(array: Array) -> int:
    """Return a power of two that leaves some gigabytes in all, and some pages per block."""
    if array.model != "flash":
        return 1
    pages = int(array.device["nand"]["pages_per_block"]["value"])
    most, wanted = max(pages // PAGES_LEFT, 1), max(array.capacity_bytes // SIMULATED_BYTES, 1)
    return int(1 << (min(most, wanted).bit_length() - 1))


def _study(array: Array, scale: int) -> str:
    """Return the study: reads, cache-filling writes, measured writes."""
    lines = ['title = "What an array does"', 'question = "What does it do at which depth?"']
    lines += ["[storage.array]", f'array = "{array.name}"']
    if array.model == "flash":
        lines += [f"scale = {scale}", 'written = "steady"']
    # Disks need more time than flash for the same number of requests.
    ramp, time = (1000, 5000) if array.model == "hdd" else (20, 200)
    phases = [*_phases("read", ramp, time), *_fill(array), *_phases("write", ramp, time)]
    return "\n".join([*lines, *phases, "[run]", f'interval = "{time // INTERVALS} ms"', ""])


def _phases(kind: str, ramp: int, time: int) -> Iterator[str]:
    # Largest depth first: a small depth leaves flash time to reclaim ahead of the next phase.
    for depth in reversed(DEPTHS):
        name = f"{kind}_{depth}"
        yield f"[workload.stream.{name}]\nqueue_depth = {depth}"
        yield f'read = "{100 if kind == "read" else 0} %"'
        yield f'[phase.{name}]\nworkload = ["stream.{name}"]'
        yield f'ramp = "{ramp} ms"\nuntil.time = "{ramp + time} ms"'


def _fill(array: Array) -> Iterator[str]:
    """Return random writes that fill caches and start the reclaim of flash."""
    memory = sum(compiled.size_bytes(v.value) for v in array.values if v.key.endswith("memory"))
    amount = CACHE_FILLS * memory
    if array.model == "flash":
        amount += int(array.capacity_bytes * SETTLING)
    if amount:
        yield f'[workload.stream.fill]\nqueue_depth = {DEPTHS[-1]}\nread = "0 %"'
        yield f'[phase.fill]\nworkload = ["stream.fill"]\nuntil.amount = "{amount} B"'
