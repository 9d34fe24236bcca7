"""Contents and open handles of a device, file or folder, examined without writing."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

from tameshi.core.errors import GuardRefusal
from tameshi.guard.handles import closing, open_regular, translated

SAMPLES = 64
"""Positions at which a device is sampled for data."""

_CLEARED_BY = {
    "LVM2_member": "pvremove {path}",
    "linux_raid_member": "mdadm --zero-superblock {path}",
    "zfs_member": "zpool labelclear {path}",
    "swap": "wipefs -a {path}, and take it out of /etc/fstab",
}


def signatures(fd: int, path: Path) -> dict[str, str]:
    """Return signatures that util-linux finds on an open device or file: kind, with offset and
    label.

    Every signature counts: a file system at the start, a backup partition table or RAID metadata at
    the end. Raises `GuardRefusal` if wipefs gives no answer.
    """
    tool = shutil.which("wipefs", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if tool is None:
        raise _unidentified(path, "wipefs is not installed")
    # Go through the descriptor: another device may have taken the path.
    command = [tool, "--no-act", "--json", f"/proc/self/fd/{fd}"]
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        pass_fds=[fd],
        check=False,
    )
    if done.returncode != 0:
        raise _unidentified(
            path, f"wipefs failed: {' '.join(done.stderr.split()) or 'no error message'}"
        )
    try:
        entries = json.loads(done.stdout)["signatures"] if done.stdout.strip() else []
        # Several signatures of a kind (ZFS has dozens): keep the first.
        return {entry["type"]: _signature_text(entry) for entry in reversed(entries)}
    except (ValueError, KeyError, TypeError) as error:
        raise _unidentified(path, "unknown output format of wipefs") from error


def refuse_signatures(fd: int, path: Path) -> None:
    """Refuse a file system, partition table, swap, RAID, LVM, ZFS or similar."""
    signed = signatures(fd, path)
    if signed:
        # One remedy per kind, each only once.
        ways = [_CLEARED_BY.get(kind, "wipefs -a {path}").format(path=path) for kind in signed]
        raise GuardRefusal(
            "this holds data that Tameshi must not destroy, even with --destroy",
            where=str(path),
            found="; ".join(signed.values()),
            accepted=[
                "a device or file without file system, partition table, swap, RAID, LVM or ZFS"
            ],
            hint=(
                f"If you need none of it, clear it yourself ({'; '.join(dict.fromkeys(ways))}), "
                "then start again."
            ),
        )


def sampled(fd: int, size_bytes: int) -> str:
    """Return a phrase on the data found in samples of an open device."""
    places = {size_bytes * part // SAMPLES // 4096 * 4096 for part in range(SAMPLES)}
    filled = sum(any(os.pread(fd, 4096, place)) for place in places)
    if filled == 0:
        return f"only zeros in {len(places)} samples"
    return f"unrecognised data in {filled} of {len(places)} samples"


def refuse_opened(fd: int, path: Path) -> None:
    """Refuse a regular file that a program holds open, such as a running database's."""
    if _held(fd):
        raise GuardRefusal(
            "a program has this file open, and Tameshi must not destroy it meanwhile",
            where=str(path),
            found="an open file",
            accepted=["a file that no program has open"],
            hint=f"`fuser -v {path}` shows the program; stop it, then start again.",
        )


def refuse_opened_in(folder: Path) -> None:
    """Refuse a folder with an open file."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            with translated(path), closing(open_regular(path, os.O_RDONLY)) as fd:
                refuse_opened(fd, path)


def _held(fd: int) -> bool:
    """Return whether a file is open elsewhere: the kernel then refuses a write lease."""
    with suppress(OSError):
        # If a program opens the file now, the kernel's lease-break signal must not kill this
        # process.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        # Other errors: a file of another user, or a file system without leases; open handles are
        # unknown.
        return error.errno == errno.EAGAIN
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def _signature_text(entry: dict[str, str | None]) -> str:
    offset = int(entry["offset"] or "0", 16)
    names = [f"{key} {entry[key]}" for key in ("label", "uuid") if entry.get(key)]
    return f"{entry['type']} at byte {offset}" + (f" ({', '.join(names)})" if names else "")


def _unidentified(path: Path, found: str) -> GuardRefusal:
    return GuardRefusal(
        "Tameshi cannot identify the content of this device or file, and leaves it alone",
        where=str(path),
        found=found,
        hint="Install util-linux 2.31 or later, whose wipefs lists signatures.",
    )
