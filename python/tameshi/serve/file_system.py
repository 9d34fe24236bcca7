"""File system on a served drive: made, mounted, and shut down as at a power cut."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

from tameshi.core.environment import mounts
from tameshi.core.errors import RunFailed
from tameshi.serve.kernel import shut_down
from tameshi.serve.tools import SECONDS, run_tool
from tameshi.serve.users import kill_all, users_of

BUSY_SECONDS = 5.0
EXT4_COMMIT_SECONDS = 5
"""Interval at which ext4 commits its journal."""
SCAN_EVERY = 5
"""Attempts to unmount from one search for new users to the next."""


def make(kind: str, node: Path) -> None:
    """Make a file system on a new drive; mkfs refuses a device that holds anything."""
    words = {"xfs": ("mkfs.xfs", "-q"), "ext4": ("mkfs.ext4", "-q", "-F")}[kind]
    run_tool(*words, str(node))


def mount(kind: str, node: Path, point: Path, slow: float = 1) -> None:
    """Mount the drive; the file system replays its log. Slow motion stretches ext4's commits."""
    stretched = kind == "ext4" and slow != 1
    options = ["-o", f"commit={round(EXT4_COMMIT_SECONDS * slow)}"] if stretched else []
    run_tool("mount", "-t", kind, *options, str(node), str(point), seconds=SECONDS * slow)


def is_mounted(point: Path) -> bool:
    """Return whether something is mounted there."""
    return any(mount.point == point for mount in mounts())


def unmount(point: Path, *, kill: bool) -> None:
    """Unmount; `kill` ends the processes that use it, else they keep it for a while at most."""
    end = time.monotonic() + BUSY_SECONDS
    for attempt in count(1):
        if not is_mounted(point):
            return
        try:
            run_tool("umount", str(point))
        except RunFailed:
            if time.monotonic() > end:
                raise
            # The files of a killed process close a little after its end.
            if kill and attempt % SCAN_EVERY == 0:
                kill_all(users_of([point]))
            time.sleep(0.02)


def cut_off(point: Path, *, kill: bool) -> None:
    """Stop a file system without its log, and unmount it; `kill` ends its users."""
    with suppress(OSError):  # It has shut down by itself after the first failed write.
        shut_down(point)
    unmount(point, kill=kill)


def settle(point: Path) -> None:
    """Write back all that the file system holds."""
    fd = os.open(point, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    run_tool("sync", "--file-system", str(point))
