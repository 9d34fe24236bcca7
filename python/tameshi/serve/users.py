"""Processes that use a mount or a device, and processes of a mount namespace."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tameshi.core.environment import PROC

KILL_SECONDS = 10.0
SWEEPERS = (b"tameshi.serve.sweeper", b"tameshi.hosts.sweeper")


def started(pid: int) -> int | None:
    """Return the start time of a process in clock ticks; None if there is none, or a zombie."""
    try:
        fields = (PROC / str(pid) / "stat").read_text("utf-8").rpartition(") ")[2].split()
    except (OSError, ValueError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def processes() -> Iterator[int]:
    """Yield every process."""
    for name in os.listdir(PROC):
        if name.isdigit():
            yield int(name)


def users_of(places: list[Path]) -> list[int]:
    """Return processes with a file open, mapped or as a directory at or below the places."""
    prefixes = [str(place) for place in places]
    return [
        pid for pid in processes() if pid != os.getpid() and any(_uses(pid, p) for p in prefixes)
    ]


def _uses(pid: int, prefix: str) -> bool:
    folder = PROC / str(pid)
    links = [folder / name for name in ("cwd", "root", "exe")]
    with suppress(OSError):
        links += [folder / "fd" / name for name in os.listdir(folder / "fd")]
    for link in links:
        with suppress(OSError):
            target = os.readlink(link)
            if target == prefix or target.startswith(f"{prefix}/"):
                return True
    with suppress(OSError):
        return f" {prefix}/" in (folder / "maps").read_text("utf-8", "replace")
    return False


def in_mounts(source: str) -> list[int]:
    """Return processes whose mount namespace holds a mount of this source."""
    found = []
    for pid in processes():
        with suppress(OSError):
            table = (PROC / str(pid) / "mountinfo").read_text("utf-8", "replace")
            if pid != os.getpid() and f" {source} " in table:
                found.append(pid)
    return found


def is_sweeper(pid: int) -> bool:
    """Return whether a process cleans up after a session of drives or hosts."""
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return any(word in SWEEPERS for word in words)


def kill_all(pids: list[int]) -> None:
    """Kill processes, and wait until they are gone; children of this process are reaped."""
    before = {pid: started(pid) for pid in pids}
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + KILL_SECONDS
    while time.monotonic() < end:
        for pid in list(before):
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            if before[pid] is None or started(pid) != before[pid]:
                del before[pid]
        if not before:
            return
        time.sleep(0.005)
