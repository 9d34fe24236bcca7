"""Measured cells: a stream, its figures, and the exclusion of contradictory or held-out cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tameshi.core import compiled
from tameshi.core.reasons import Reason, reason
from tameshi.core.spec_types import SizeShare, StreamSpec

WHOLE = 100.0
KINDS = ("read", "write")
"""Operations that a stream requests; syncs and commits follow from them."""
SYNC = "sync"

MOST_OUTSTANDING = 1.1
"""Upper bound on outstanding requests, as a multiple of the depth: requests in flight at the start
of counting count whole, and times are rounded."""
LEAST_OUTSTANDING = 0.5
"""Lower bound on outstanding requests, as a multiple of the depth: below it, the machine did not
keep the disk busy, or the unit is wrong."""


@dataclass(frozen=True)
class Figures:
    """One kind of operation in one cell: rate per second, latencies in ns."""

    rate: float
    mean_ns: float
    quantiles: Sequence[tuple[float, float]] = ()
    """Share of operations and its latency bound; rising."""
    spread: float | None = None
    """Half the width of the rate's 95 % interval, as a share of the rate; None if unknown."""

    def quantile(self, share: float) -> float | None:
        """Return the latency of a listed share."""
        near = (value for listed, value in self.quantiles if abs(listed - share) < 1e-9)
        return next(near, None)


@dataclass(frozen=True)
class Cell:
    """Stream and its figures; `held_out` keeps it out of every fit."""

    name: str
    stream: Mapping[str, Any]
    """Stream as in a run's spec, without the storage."""
    size_bytes: int
    """Size of the stream's storage."""
    operations: Mapping[str, Figures]
    held_out: bool = False
    findings: Sequence[Reason] = field(default_factory=tuple)
    """Reasons to doubt that the figures are the disk's."""

    @property
    def spec(self) -> StreamSpec:
        """Return the stream with its defaults."""
        return StreamSpec.model_validate(self.stream)

    @property
    def depth(self) -> int:
        """Return the outstanding requests of all jobs."""
        return int(self.spec.queue_depth or 1) * int(self.spec.jobs or 1)

    @property
    def block_bytes(self) -> int:
        """Return the mean length of a request."""
        mix, of_writes = self.spec.block_size_mix, self.spec.write_block_size_mix

        def mean(mix: Sequence[SizeShare]) -> float:
            return sum(compiled.size_bytes(m.size) * share_of(m.share) for m in mix)

        reads = mean(mix) if mix else compiled.size_bytes(self.spec.block_size or "4 KiB")
        writes = mean(of_writes) if of_writes else reads
        return round(reads * self.reads + writes * (1 - self.reads))

    @property
    def reads(self) -> float:
        """Return the share of reads."""
        return share_of(self.spec.read or "100 %")

    @property
    def syncs(self) -> bool:
        """Return whether writes must be durable."""
        return self.spec.sync is not None

    @property
    def pattern(self) -> str:
        """Return `random`, `sequential`, or the name of the stream's pattern.

        For a device, a random permutation of blocks is random.
        """
        pattern = self.spec.pattern
        if isinstance(pattern, str):
            return "random" if pattern == "shuffled" else pattern
        return next(iter(pattern.model_dump(exclude_none=True)), "") if pattern else "random"

    @property
    def rate(self) -> float:
        """Return reads and writes per second."""
        return sum(self.operations[kind].rate for kind in KINDS if kind in self.operations)

    @property
    def spread(self) -> float | None:
        """Return the relative half width of the rate's interval, for the kind with the most
        operations."""
        kinds = [self.operations[kind] for kind in KINDS if kind in self.operations]
        return max(kinds, key=lambda figures: figures.rate).spread if kinds else None

    @property
    def outstanding(self) -> float:
        """Return the mean number of requests in flight by Little's law: rates times mean
        latencies."""
        kinds = [self.operations[kind] for kind in (*KINDS, SYNC) if kind in self.operations]
        return sum(figures.rate * figures.mean_ns for figures in kinds) / 1e9

    @property
    def between_ns(self) -> float:
        """Return the time between a completion and the next request, which the machine spends.

        By Little's law: the part of `depth` over the rate that latencies don't explain. A simulated
        device with the measured rate holds requests longer than measured by this time.
        """
        return max(self.depth - self.outstanding, 0.0) * 1e9 / self.rate

    @property
    def distrust(self) -> Reason | None:
        """Return a contradiction between rate, latencies and depth; None if there is none."""
        least, most = self.depth * LEAST_OUTSTANDING, self.depth * MOST_OUTSTANDING
        if self.syncs and SYNC not in self.operations:
            least = 0.0  # the latency of syncs is unknown
        if least <= self.outstanding <= most:
            return None
        return reason("littles_law", outstanding=f"{self.outstanding:.3g}", depth=self.depth)

    @property
    def group(self) -> tuple[str, float, bool, int]:
        """Return the properties common to cells that differ only in depth."""
        return (self.pattern, self.reads, self.syncs, self.block_bytes)


def share_of(text: Any) -> float:
    """Return a share such as `70 %` as a number from 0 to 1."""
    return float(str(getattr(text, "root", text)).removesuffix("%").replace("_", "")) / WHOLE


def with_held_out(cells: Sequence[Cell]) -> list[Cell]:
    """Mark the held-out cells by a rule that uses no measured figure.

    Of cells that differ only in depth, ordered by depth, the second, fourth … are held out, but
    never the last. A mix of reads and writes is held out if its length has pure cells.
    """
    groups: dict[tuple[str, float, bool, int], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.group, []).append(cell)
    chosen: set[str] = set()
    for group, members in groups.items():
        ordered = sorted(members, key=lambda cell: cell.depth)
        if 0.0 < group[1] < 1.0 and all(
            (group[0], r, False, group[3]) in groups for r in (0.0, 1.0)
        ):
            chosen.update(cell.name for cell in ordered)
        else:
            chosen.update(cell.name for cell in ordered[1:-1:2])
    return [replace(cell, held_out=cell.name in chosen) for cell in cells]
