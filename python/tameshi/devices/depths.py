"""What an array does by how many requests are outstanding, by simulation."""

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
from tameshi.devices.values import Array
from tameshi.devices.watching import Watch, unwatched

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CACHE_FILLS = 2
"""How often a cache's memory is written before writes are measured: what lasts is shown."""
SETTLING = 0.05
"""Share of the capacity of flash drives written before: until then they have more free blocks."""
INTERVALS = 10


@dataclass(frozen=True)
class ByDepth:
    """Random reads and writes of 4 KiB by how many are outstanding, and at which capacity scale."""

    scale: int
    reads: tuple[Measured, ...]
    writes: tuple[Measured, ...]


def by_depth(array: Array, watch: Watch = unwatched) -> ByDepth:
    """Simulate an array: some seconds, a minute for many flash drives; nothing left behind."""
    scale = _scale(array)
    extra = {"arrays": [array.file], **array.beside}
    rows = simulated(array.name, _study(array, scale), extra, watch)

    def of(kind: str) -> tuple[Measured, ...]:
        names = ((depth, f"{kind}_{depth}") for depth in DEPTHS)
        return tuple(measured(str(depth), intervals_of(rows, name)) for depth, name in names)

    return ByDepth(scale, of("read"), of("write"))


def _scale(array: Array) -> int:
    """A power of two that leaves some gigabytes in all, and some pages of each block."""
    if array.model != "flash":
        return 1
    pages = int(array.device["nand"]["pages_per_block"]["value"])
    most, wanted = max(pages // PAGES_LEFT, 1), max(array.capacity_bytes // SIMULATED_BYTES, 1)
    return int(1 << (min(most, wanted).bit_length() - 1))


def _study(array: Array, scale: int) -> str:
    """The study that asks: reads, what fills a cache, writes."""
    lines = ['title = "What an array does"', 'question = "What does it do at which depth?"']
    lines += ["[storage.array]", f'array = "{array.name}"']
    if array.model == "flash":
        lines += [f"scale = {scale}", 'written = "steady"']
    # Disks need longer than flash for as many requests.
    ramp, time = (1000, 5000) if array.model == "hdd" else (20, 200)
    phases = [*_phases("read", ramp, time), *_fill(array), *_phases("write", ramp, time)]
    return "\n".join([*lines, *phases, "[run]", f'interval = "{time // INTERVALS} ms"', ""])


def _phases(kind: str, ramp: int, time: int) -> Iterator[str]:
    # The most first: what little is outstanding leaves flash time to reclaim ahead of what follows.
    for depth in reversed(DEPTHS):
        name = f"{kind}_{depth}"
        yield f"[workload.stream.{name}]\nqueue_depth = {depth}"
        yield f'read = "{100 if kind == "read" else 0} %"'
        yield f'[phase.{name}]\nworkload = ["stream.{name}"]'
        yield f'ramp = "{ramp} ms"\nuntil.time = "{ramp + time} ms"'


def _fill(array: Array) -> Iterator[str]:
    """Random writes until caches hold as many as they ever do, and flash reclaims as it will."""
    memory = sum(compiled.size_bytes(v.value) for v in array.values if v.key.endswith("memory"))
    amount = CACHE_FILLS * memory
    if array.model == "flash":
        amount += int(array.capacity_bytes * SETTLING)
    if amount:
        yield f'[workload.stream.fill]\nqueue_depth = {DEPTHS[-1]}\nread = "0 %"'
        yield f'[phase.fill]\nworkload = ["stream.fill"]\nuntil.amount = "{amount} B"'
