"""What a device, file or folder holds, and whether somebody has it open: looked at, not touched."""

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
"""Places at which a device is read to tell whether it holds anything at all."""

_CLEARED_BY = {
    "LVM2_member": "pvremove {path}",
    "linux_raid_member": "mdadm --zero-superblock {path}",
    "zfs_member": "zpool labelclear {path}",
    "swap": "wipefs -a {path}, and take it out of /etc/fstab",
}


def signatures(fd: int, path: Path) -> dict[str, str]:
    """What util-linux recognises on an open device or file: kind, and where and whose it is.

    Every signature counts: a file system at the beginning, a backup of a partition table or RAID
    metadata at the end. Raises `GuardRefusal` where that can't be told.
    """
    tool = shutil.which("wipefs", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if tool is None:
        raise _not_told(path, "no program wipefs")
    # Through the descriptor: another device may meanwhile have taken the path.
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
        raise _not_told(path, f"wipefs failed: {' '.join(done.stderr.split()) or 'without a word'}")
    try:
        entries = json.loads(done.stdout)["signatures"] if done.stdout.strip() else []
        # Of several of a kind (ZFS has dozens) the first listed will do.
        return {entry["type"]: _told(entry) for entry in reversed(entries)}
    except (ValueError, KeyError, TypeError) as error:
        raise _not_told(path, "an answer of wipefs that Tameshi does not understand") from error


def refuse_signatures(fd: int, path: Path) -> None:
    """Refuses what holds a file system, a partition table, swap, RAID, LVM, ZFS or the like."""
    found = signatures(fd, path)
    if found:
        # One way out for each kind, the same one only once.
        ways = [_CLEARED_BY.get(kind, "wipefs -a {path}").format(path=path) for kind in found]
        raise GuardRefusal(
            "this holds something that is not Tameshi's to destroy, whatever --destroy says",
            where=str(path),
            found="; ".join(found.values()),
            accepted=["what holds no file system, partition table, swap, RAID, LVM or ZFS"],
            hint=f"If none of it is needed, clear it yourself ({'; '.join(dict.fromkeys(ways))}), "
            "then start again.",
        )


def sampled(fd: int, size_bytes: int) -> str:
    """Whether there is anything at all on an open device, as far as some samples tell."""
    places = {size_bytes * part // SAMPLES // 4096 * 4096 for part in range(SAMPLES)}
    filled = sum(any(os.pread(fd, 4096, place)) for place in places)
    if filled == 0:
        return f"nothing but zeros in {len(places)} places looked at"
    return f"unrecognised data in {filled} of {len(places)} places looked at"


def refuse_opened(fd: int, path: Path) -> None:
    """Refuses a regular file that some program holds open, such as a running database."""
    if _held(fd):
        raise GuardRefusal(
            "a program has this open, and it is not Tameshi's to destroy while it has",
            where=str(path),
            found="a file held open",
            accepted=["a file that nobody has open"],
            hint=f"`fuser -v {path}` names the program; stop it, then start again.",
        )


def refuse_opened_in(folder: Path) -> None:
    """Refuses a folder in which some program holds a file open."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            with translated(path), closing(open_regular(path, os.O_RDONLY)) as fd:
                refuse_opened(fd, path)


def _held(fd: int) -> bool:
    """Whether a file is open elsewhere: the kernel grants a write lease only where it is not."""
    with suppress(OSError):
        # Should somebody open it in this very moment, the signal to give way must not kill us.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except OSError as error:
        # Other errors: not our file, or a file system without leases; then nobody can tell.
        return error.errno == errno.EAGAIN
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def _told(entry: dict[str, str | None]) -> str:
    offset = int(entry["offset"] or "0", 16)
    names = [f"{key} {entry[key]}" for key in ("label", "uuid") if entry.get(key)]
    return f"{entry['type']} at byte {offset}" + (f" ({', '.join(names)})" if names else "")


def _not_told(path: Path, found: str) -> GuardRefusal:
    return GuardRefusal(
        "Tameshi can't tell what this holds, and so leaves it alone",
        where=str(path),
        found=found,
        hint="Install util-linux 2.31 or later, whose wipefs lists what a device holds.",
    )
