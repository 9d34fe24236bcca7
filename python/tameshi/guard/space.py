"""Free space for all targets on the same file system together."""

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
"""Bytes that must stay free on a file system."""
MEMORY_RESERVE_BYTES = 256 << 20
"""Bytes of memory that must stay available with files in memory."""

IN_MEMORY = {"tmpfs", "ramfs"}
"""File systems whose files are in memory."""


@dataclass(frozen=True)
class Need:
    """Additional bytes to be written on the file system of `place`.

    `path` is the user's name for it; `place` exists.
    """

    path: Path
    place: Path
    size_bytes: int


def require_space(needs: Iterable[Need], machine: Machine = HERE) -> None:
    """Refuse needs that do not fit together, per file system and for memory."""
    groups: dict[str, list[Need]] = {}
    in_memory: list[Need] = []
    for need in needs:
        mount = mount_of(need.place, machine.proc)
        # Use the device of the mount: Btrfs gives each subvolume its own device number.
        key = mount.device if mount else str(os.stat(need.place).st_dev)
        groups.setdefault(key, []).append(need)
        if mount and mount.file_system in IN_MEMORY:
            in_memory.append(need)
    for group in groups.values():
        _require_room(group)
    available = memory_available(machine.proc, machine.sys) if in_memory else None
    if available is not None:
        needed = sum(need.size_bytes for need in in_memory) + MEMORY_RESERVE_BYTES
        _require(in_memory, needed, MEMORY_RESERVE_BYTES, available, "not enough memory (tmpfs)")


def _require_room(needs: list[Need]) -> None:
    room = os.statvfs(needs[0].place)
    if room.f_blocks:  # ramfs has no size limit
        needed = sum(need.size_bytes for need in needs) + RESERVE_BYTES
        free = room.f_bavail * room.f_frsize
        _require(needs, needed, RESERVE_BYTES, free, "not enough space on the file system")


def _require(needs: list[Need], needed: int, reserve: int, free: int, what: str) -> None:
    if needed > free:
        together = " together" if len(needs) > 1 else ""
        raise GuardRefusal(
            (
                f"{what}: {size_text(needed)} needed{together}, {size_text(reserve)} of it as "
                "reserve"
            ),
            where=", ".join(str(need.path) for need in needs),
            found=f"{size_text(free)} free",
            hint="Free space, choose a smaller target or bind another one.",
        )
