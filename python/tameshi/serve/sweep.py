"""Removal of what a session left: processes, mounts, loop device, folder.

The session itself, its sweeper and a later command all use it. The server dies first: that ends
every request to the drive with an error, so that no later step can wait for it.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from tameshi import guard
from tameshi.core.environment import mounts
from tameshi.core.errors import RunFailed, TameshiError
from tameshi.serve.block import devices_on, release
from tameshi.serve.kernel import shut_down
from tameshi.serve.state import State, is_alive, states
from tameshi.serve.tools import run_tool
from tameshi.serve.users import in_mounts, is_sweeper, kill_all

GONE_SECONDS = 60.0
"""A killed server first frees its data: on a disk that takes a while."""


def left_drives() -> list[str]:
    """Return the names of the drives that killed sessions left."""
    return [state.name for state in states() if not is_alive(state.owner)]


def sweep_all() -> list[str]:
    """Remove what killed sessions left; return a sentence for each."""
    found = []
    for state in states():
        if not is_alive(state.owner):
            sweep(state)
            found.append(f"removed what a killed session left: {state.name}")
    return found


def sweep(state: State, spared: int | None = None) -> None:
    """Remove everything of one drive; `spared` is a process that must go on."""
    if is_alive(state.server) and state.server:
        with suppress(ProcessLookupError):
            os.kill(state.server[0], signal.SIGKILL)
        _wait_for_end(state.server)
    if state.private:
        # Each sweeper of the session removes its own drive or hosts.
        found = [pid for pid in in_mounts(state.source) if not is_sweeper(pid)]
        kill_all([pid for pid in found if pid != spared])
    _unmount_all(state)
    if state.made_mount_point and state.mount_point:
        with suppress(OSError):
            os.rmdir(state.mount_point)
    if state.socket:
        path, inode = state.socket
        with suppress(OSError):
            if os.lstat(path).st_ino == inode:
                os.unlink(path)
    with suppress(FileNotFoundError):
        guard.remove_folder(state.folder)


def _wait_for_end(process: tuple[int, int]) -> None:
    end = time.monotonic() + GONE_SECONDS
    while is_alive(process):
        if time.monotonic() > end:
            raise RunFailed(f"process {process[0]} does not end")
        time.sleep(0.005)


def _unmount_all(state: State) -> None:
    """Take away the file system, the loop device and the drive's file, in this order."""
    nodes = devices_on(state.drive)
    if state.node and not nodes:
        nodes = _by_mount(Path(state.node), state)
    for node in nodes:
        for mount in [mount for mount in mounts() if mount.source == str(node)]:
            with suppress(OSError):
                shut_down(mount.point)
            _unmount(mount.point)
        with suppress(TameshiError):
            release(node)
    for mount in [mount for mount in mounts() if mount.source == state.source]:
        _unmount(mount.point)


def _by_mount(node: Path, state: State) -> list[Path]:
    """Return the session's device if its file system is still mounted where the session did."""
    points = [mount.point for mount in mounts() if mount.source == str(node)]
    return [node] if state.mount_point and Path(state.mount_point) in points else []


def _unmount(point: Path) -> None:
    """Unmount, or detach from the tree what a program still uses."""
    try:
        run_tool("umount", str(point))
    except RunFailed:
        run_tool("umount", "--lazy", str(point))
