"""Loop device on a served drive."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tameshi.core.environment import SYS, text_in
from tameshi.core.errors import RunFailed
from tameshi.serve.plans import ServePlan
from tameshi.serve.tools import run_tool

GONE_SECONDS = 10.0


def attach(drive: Path, plan: ServePlan) -> Path:
    """Make a loop device with direct I/O on the drive, with the queue of the profile's drive.

    `queue/discard_max_bytes` stays: once it is zero, no later user of the loop device can trim.
    """
    sector = f"--sector-size={plan.sector_bytes}"
    words = ("--find", "--show", "--direct-io=on", sector, str(drive))
    node = Path(run_tool("losetup", *words))
    queue = SYS / "block" / node.name / "queue"
    _set(queue / "rotational", str(int(plan.rotational)))
    _set(queue / "write_cache", "write back" if plan.takes_flushes else "write through")
    _set(queue / "scheduler", "mq-deadline" if plan.rotational else "none")
    return node


def _set(setting: Path, value: str) -> None:
    try:
        setting.write_text(value, encoding="utf-8")
    except OSError as error:
        if setting.name == "scheduler":  # This kernel has no such scheduler.
            return
        raise RunFailed(f"{setting} does not accept {value!r}: {error.strerror}") from None


def release(node: Path) -> None:
    """Detach a loop device, or let the kernel detach it once its last user is gone."""
    run_tool("losetup", "--detach", str(node))


def devices_on(drive: Path) -> list[Path]:
    """Return the loop devices on a drive."""
    found = []
    for disk in SYS.glob("block/loop[0-9]*"):
        backing = text_in(disk / "loop/backing_file")
        if backing and backing.removesuffix(" (deleted)") == str(drive):
            found.append(Path("/dev", disk.name))
    return found


def wait_until_gone(node: Path, drive: Path) -> None:
    """Wait until the device no longer uses the drive."""
    end = time.monotonic() + GONE_SECONDS
    while node in devices_on(drive):
        if time.monotonic() > end:
            raise RunFailed(f"{node} is still in use {GONE_SECONDS:.0f} s after its release")
        time.sleep(0.005)


def flush_buffers(node: Path) -> None:
    """Write back and forget the page cache of a block device."""
    fd = os.open(node, os.O_RDONLY)
    try:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)
