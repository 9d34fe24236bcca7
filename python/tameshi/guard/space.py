"""Room for what is going to be written, added up over all that goes to the same place."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.environment import memory_available, mount_of
from tameshi.core.errors import GuardRefusal
from tameshi.guard.devices import HERE, Machine
from tameshi.guard.handles import size_text

RESERVE_BYTES = 64 << 20
"""Bytes that must stay free on a file system beside all that is written to it."""
MEMORY_RESERVE_BYTES = 256 << 20
"""Bytes of memory that must stay available beside files that lie in memory."""

_IN_MEMORY = {"tmpfs", "ramfs"}


@dataclass(frozen=True)
class Need:
    """Bytes that will be written, beyond what is occupied already, on the file system of `place`.

    `path` is what the user calls it; `place` exists.
    """

    path: Path
    place: Path
    size_bytes: int


def require_space(needs: Iterable[Need], machine: Machine = HERE) -> None:
    """Refuses needs that do not fit all together, each file system and the memory by itself."""
    groups: dict[str, list[Need]] = {}
    in_memory: list[Need] = []
    for need in needs:
        mount = mount_of(need.place, machine.proc)
        # The mount's device rather than the file's: Btrfs gives each subvolume one of its own.
        key = mount.device if mount else str(os.stat(need.place).st_dev)
        groups.setdefault(key, []).append(need)
        if mount and mount.file_system in _IN_MEMORY:
            in_memory.append(need)
    for group in groups.values():
        _require_room(group)
    available = memory_available(machine.proc, machine.sys) if in_memory else None
    if available is not None:
        needed = sum(need.size_bytes for need in in_memory) + MEMORY_RESERVE_BYTES
        _require(in_memory, needed, MEMORY_RESERVE_BYTES, available, "memory would run out (tmpfs)")


def _require_room(needs: list[Need]) -> None:
    room = os.statvfs(needs[0].place)
    if room.f_blocks:  # ramfs has no bounds of its own
        needed = sum(need.size_bytes for need in needs) + RESERVE_BYTES
        free = room.f_bavail * room.f_frsize
        _require(needs, needed, RESERVE_BYTES, free, "the file system would run full")


def _require(needs: list[Need], needed: int, reserve: int, free: int, what: str) -> None:
    if needed > free:
        together = " together" if len(needs) > 1 else ""
        raise GuardRefusal(
            f"{what}: {size_text(needed)} more are needed{together}, of which "
            f"{size_text(reserve)} stay free",
            where=", ".join(str(need.path) for need in needs),
            found=f"{size_text(free)} free",
            hint="Make room, ask for a smaller target or bind another.",
        )
