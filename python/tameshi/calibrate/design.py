"""Measuring study: cells, held-out cells, and run times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

STORAGE = "disk"
NAME = "calibrate"
OVERHEAD_S = 1.0
"""Time of a run without its measurement: start of the worker, reading of the record."""
LEAST_S, MOST_S = 0.3, 20.0
SHORTEST_RAMP_S = 0.1
INTERVALS = 20
"""Intervals per run: the fewest that show a drift. Each interval end takes processor time that
delays the disk."""
WRITE_BYTES = 4 << 30
"""Bytes after which the run of a write cell ends."""


@dataclass(frozen=True)
class Wanted:
    """Cell to measure."""

    pattern: str
    reads: int
    """Share of reads in per cent."""
    block_kib: int
    depth: int
    sync: bool = False
    held_out: bool = False

    @property
    def name(self) -> str:
        """Return the name of the cell's level in the study."""
        what = {100: "read", 0: "write"}.get(self.reads, f"{self.reads}-{100 - self.reads}")
        what = "sync-write" if self.sync else what
        size = f"{self.block_kib >> 10}m" if self.block_kib >= 1024 else f"{self.block_kib}k"
        return f"{self.pattern}-{what}-{size}-{self.depth}"


def _sweep(
    pattern: str, reads: int, block_kib: int, depths: dict[int, bool], *, sync: bool = False
) -> Iterator[Wanted]:
    for depth, held_out in depths.items():
        yield Wanted(pattern, reads, block_kib, depth, sync, held_out)


def _cells() -> Iterator[Wanted]:
    """Yield the cells.

    Fitted are the smallest and largest depth of each length, and of 4 KiB some between. Held out
    are the depths between them, lengths between fitted ones, and nearly all mixes. For writes with
    a sync each, a length and depths between the fitted ones are held out.
    """
    for reads in (100, 0):
        small = {1: False, 2: True, 4: False, 8: True, 16: False, 32: True, 64: False}
        yield from _sweep("random", reads, 4, small)
        yield from _sweep("random", reads, 16, {1: False, 4: True, 8: True, 32: False})
        yield from _sweep("random", reads, 64, {1: False, 4: True, 16: False})
        yield from _sweep("random", reads, 256, {2: True, 8: True})
        yield from _sweep("sequential", reads, 4, {1: False})
        yield from _sweep("sequential", reads, 1024, {1: False, 4: True, 16: False})
    yield from _sweep("random", 70, 4, {4: True, 16: False, 32: True})
    yield from _sweep("random", 70, 16, {8: True})
    yield from _sweep("sequential", 0, 4, {1: False}, sync=True)
    yield from _sweep("random", 0, 4, {16: False}, sync=True)
    yield from _sweep("random", 0, 64, {1: False}, sync=True)
    yield from _sweep("random", 0, 16, {1: True, 4: True}, sync=True)


CELLS = tuple(_cells())
QUICK = tuple(
    cell
    for cell in CELLS
    if cell.block_kib in (4, 64) and cell.depth in (1, 4, 16, 32) and cell.pattern == "random"
    if not cell.sync
) + tuple(cell for cell in CELLS if cell.sync and cell.pattern == "sequential")
HELD_OUT = {cell.name for cell in CELLS if cell.held_out}


def run_seconds(cells: int, repetitions: int, budget_s: float) -> float:
    """Return the measuring time per run for this total time."""
    each = budget_s / (cells * repetitions) - OVERHEAD_S
    return min(max(each, LEAST_S), MOST_S)


def least_budget(cells: int, repetitions: int) -> float:
    """Return the shortest total time in seconds for all cells."""
    return cells * repetitions * (LEAST_S + OVERHEAD_S)


def study_text(size_bytes: int, seconds: float, repetitions: int, *, quick: bool) -> str:
    """Return the measuring study as a file; each cell is a run, repetitions come in shuffled
    blocks."""
    ramp = max(seconds / 6, SHORTEST_RAMP_S)
    interval_ms = max(int(seconds * 1000 / INTERVALS), 5)
    lines = [
        'title = "Calibration"',
        'question = "What does this disk do, cell by cell?"',
        "",
        f"[storage.{STORAGE}]",
        f'size = "{size_bytes} B"',
        "",
        "[workload.stream.s]",
        "",
        "[phase.cell]",
        'workload = ["stream.s"]',
        "over = []",
        f'until = {{ time = "{_ms(seconds + ramp)} ms" }}',
        "",
        "[run]",
        f'interval = "{interval_ms} ms"',
        f"repetitions = {repetitions}",
        "seed = 5",
        "",
    ]
    for cell in QUICK if quick else CELLS:
        lines += [f"[axis.cell.{cell.name}.workload.stream.s]", *_stream(cell, size_bytes)]
        lines += [f"[axis.cell.{cell.name}.phase.cell]"]
        if cell.reads < 100:
            lines += [f'until = {{ time = "{_ms(seconds)} ms", amount = "{WRITE_BYTES} B" }}']
        else:
            lines += [f'ramp = "{_ms(ramp)} ms"']
        lines += [""]
    return "\n".join(lines)


def _stream(cell: Wanted, size_bytes: int) -> list[str]:
    lines = [
        f'pattern = "{cell.pattern}"',
        f'read = "{cell.reads} %"',
        f'block_size = "{cell.block_kib} KiB"',
        f"queue_depth = {cell.depth}",
    ]
    if cell.sync:
        lines.append("sync = { fdatasync = { every = 1 } }")
    return lines


def _ms(seconds: float) -> int:
    return max(round(seconds * 1000), 1)
