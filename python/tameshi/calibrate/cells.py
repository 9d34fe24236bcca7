"""What was measured, cell by cell: a stream, the figures it gave, whether they may be fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tameshi.core import compiled
from tameshi.core.reasons import Reason, reason
from tameshi.core.spec_types import SizeShare, StreamSpec

WHOLE = 100.0
KINDS = ("read", "write")
"""Operations that a stream asks for; syncs and commits follow from them."""
SYNC = "sync"

MOST_OUTSTANDING = 1.1
"""Times the depth: requests under way when counting began count whole, and times are rounded."""
LEAST_OUTSTANDING = 0.5
"""Times the depth: where requests are away from the disk for most of the time, the figures are a
machine's that did not keep it busy, or of another unit."""


@dataclass(frozen=True)
class Figures:
    """One kind of operation in one cell: per second, and its latencies in ns."""

    rate: float
    mean_ns: float
    quantiles: Sequence[tuple[float, float]] = ()
    """Share of the operations, and the latency that these take at most; rising."""
    spread: float | None = None
    """Half the width of the rate's 95 % interval, as a share of the rate; None where unknown."""

    def quantile(self, share: float) -> float | None:
        """The latency that a listed share takes at most."""
        near = (value for listed, value in self.quantiles if abs(listed - share) < 1e-9)
        return next(near, None)


@dataclass(frozen=True)
class Cell:
    """A stream and what it gave; `held_out` keeps it from every fit."""

    name: str
    stream: Mapping[str, Any]
    """As in a run's spec, without the storage."""
    size_bytes: int
    """Of the storage that it worked on."""
    operations: Mapping[str, Figures]
    held_out: bool = False
    findings: Sequence[Reason] = field(default_factory=tuple)
    """Why the figures may not be the disk's."""

    @property
    def spec(self) -> StreamSpec:
        """The stream with its defaults."""
        return StreamSpec.model_validate(self.stream)

    @property
    def depth(self) -> int:
        """Requests outstanding over all jobs."""
        return int(self.spec.queue_depth or 1) * int(self.spec.jobs or 1)

    @property
    def block_bytes(self) -> int:
        """Length of a request; of a mix the mean."""
        mix, of_writes = self.spec.block_size_mix, self.spec.write_block_size_mix

        def mean(mix: Sequence[SizeShare]) -> float:
            return sum(compiled.size_bytes(m.size) * share_of(m.share) for m in mix)

        reads = mean(mix) if mix else compiled.size_bytes(self.spec.block_size or "4 KiB")
        writes = mean(of_writes) if of_writes else reads
        return round(reads * self.reads + writes * (1 - self.reads))

    @property
    def reads(self) -> float:
        """Share of reads."""
        return share_of(self.spec.read or "100 %")

    @property
    def syncs(self) -> bool:
        """Whether writes must be durable."""
        return self.spec.sync is not None

    @property
    def pattern(self) -> str:
        """`random`, `sequential`, or another word of the stream's form.

        To a device, each block once in a random order is random.
        """
        pattern = self.spec.pattern
        if isinstance(pattern, str):
            return "random" if pattern == "shuffled" else pattern
        return next(iter(pattern.model_dump(exclude_none=True)), "") if pattern else "random"

    @property
    def rate(self) -> float:
        """Reads and writes per second together."""
        return sum(self.operations[kind].rate for kind in KINDS if kind in self.operations)

    @property
    def spread(self) -> float | None:
        """Half the width of the rate's interval, of the kind with the most operations."""
        kinds = [self.operations[kind] for kind in KINDS if kind in self.operations]
        return max(kinds, key=lambda figures: figures.rate).spread if kinds else None

    @property
    def outstanding(self) -> float:
        """Requests under way on average, by Little's law: rates times mean latencies."""
        kinds = [self.operations[kind] for kind in (*KINDS, SYNC) if kind in self.operations]
        return sum(figures.rate * figures.mean_ns for figures in kinds) / 1e9

    @property
    def between_ns(self) -> float:
        """Time from an answer to the next request, which passes on the machine and not the disk.

        By Little's law: what `depth` and the rate leave beside the latencies. A simulated device
        that shows the measured rate holds requests so much longer than they were measured to take.
        """
        return max(self.depth - self.outstanding, 0.0) * 1e9 / self.rate

    @property
    def distrust(self) -> Reason | None:
        """Why rate, latencies and depth can't be of one measurement; None if they can."""
        least, most = self.depth * LEAST_OUTSTANDING, self.depth * MOST_OUTSTANDING
        if self.syncs and SYNC not in self.operations:
            least = 0.0  # the time of the syncs is not known
        if least <= self.outstanding <= most:
            return None
        return reason("littles_law", outstanding=f"{self.outstanding:.3g}", depth=self.depth)

    @property
    def group(self) -> tuple[str, float, bool, int]:
        """What cells that differ in depth alone have in common."""
        return (self.pattern, self.reads, self.syncs, self.block_bytes)


def share_of(text: Any) -> float:
    """A share such as `70 %` as a number from 0 to 1."""
    return float(str(getattr(text, "root", text)).removesuffix("%").replace("_", "")) / WHOLE


def with_held_out(cells: Sequence[Cell]) -> list[Cell]:
    """Cells with some kept from the fit, by a rule that looks at no measured figure.

    Of cells that differ in depth alone, in the order of depth, the second, fourth … are held out,
    never the last. A mix of reads and writes is held out where pure cells of its length are there.
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
