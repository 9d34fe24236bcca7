"""Directory for a drive's data, on a disk instead of in memory."""

from __future__ import annotations

import os
from pathlib import Path

from tameshi.core import compiled
from tameshi.core.environment import mount_of
from tameshi.core.errors import BadInput, RunFailed
from tameshi.guard import size_text
from tameshi.guard.space import IN_MEMORY

ACCEPTED = ["a directory on a disk's file system, such as XFS or ext4"]
MARGIN_SHARE = 20
"""A twentieth of the free space stays free, for the file system's own data and other programs."""
LEAST_MARGIN_BYTES = 64 << 20
LEAST_BYTES = 256 << 20
"""Least room for data: file system and first files."""


def store_limit(directory: Path, size_bytes: int, where: str = "--store") -> int:
    """Return the most bytes that a drive's data may take in a directory.

    Raises `BadInput` for a directory that cannot hold them; `where` is the option that names it.
    """
    found = str(directory)
    try:
        compiled.check_store(found, size_bytes)
    except RunFailed as error:
        message = f"the drive's data cannot be here: {error.message}"
        raise BadInput(message, where=where, found=found, accepted=ACCEPTED) from None
    mount = mount_of(directory)
    if mount and mount.file_system in IN_MEMORY:
        raise BadInput(
            f"files of this directory are in memory ({mount.file_system}), as the data are without "
            f"{where}",
            where=where,
            found=found,
            accepted=ACCEPTED,
        )
    room = os.statvfs(directory)
    free_bytes = room.f_bavail * room.f_frsize
    limit_bytes = limit_of(free_bytes)
    if limit_bytes < LEAST_BYTES:
        raise BadInput(
            "there is too little free space for the drive's data",
            where=where,
            found=f"{size_text(free_bytes)} free in {found}",
            accepted=[f"{size_text(LEAST_BYTES + LEAST_MARGIN_BYTES)} or more"],
            hint="Free space, or name another directory.",
        )
    return limit_bytes


def limit_of(free_bytes: int) -> int:
    """Return the part of the free space that data may take."""
    return max(free_bytes - max(free_bytes // MARGIN_SHARE, LEAST_MARGIN_BYTES), 0)
