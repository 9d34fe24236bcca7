"""Check of direct requests against the sectors of the disks below their targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tameshi.core import compiled
from tameshi.core.environment import logical_block_bytes
from tameshi.core.errors import BadInput, refuse_all
from tameshi.core.spec_types import Access, PhaseStream, Plan


def refuse_partial_sectors(plan: Plan, paths: Mapping[str, Path]) -> None:
    """Raise `BadInput` for direct requests that are no whole sectors of their storage's disk."""
    sectors = {name: logical_block_bytes(path) or 1 for name, path in paths.items()}
    streams = [stream for run in plan.runs for phase in run.phases for stream in phase.streams]
    refuse_all(
        BadInput(
            f"direct requests begin and end at sectors of the disk, {sector} bytes each",
            key=f"workload.stream.{stream.name}.{key}",
            found=size,
            accepted=[f"multiples of {sector} B", 'access = "buffered"'],
        )
        for stream in streams
        for key, size in _direct_sizes(stream)
        if compiled.size_bytes(size) % (sector := sectors.get(stream.storage, 1))
    )


def _direct_sizes(of: PhaseStream) -> Iterator[tuple[str, str]]:
    """Yield key and size of each length and place of a stream's direct requests."""
    stream = of.stream
    if stream.access is Access.buffered or stream.call:
        return
    if not stream.block_size_mix and stream.block_size:
        yield "block_size", stream.block_size
    for key in ("block_size_mix", "write_block_size_mix"):
        yield from ((key, str(part.size)) for part in getattr(stream, key) or ())
    if stream.offset:
        yield "offset", stream.offset
