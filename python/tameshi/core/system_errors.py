"""Errors of the operating system that a user can remedy."""

from __future__ import annotations

import errno
import os

from tameshi.core.errors import RunFailed, TameshiError

REFUSED_WRITING = (errno.EACCES, errno.EPERM, errno.EROFS)
_ROOM = "Make room, or choose a folder on another file system; finished runs are kept."
_REMEDIES = {
    errno.ENOSPC: ("the file system is full", _ROOM),
    errno.EDQUOT: ("the quota of this user is used up", _ROOM),
    errno.EROFS: ("the file system is read-only", "Choose another folder, or mount it writable."),
    errno.EACCES: ("no permission", "Choose another path, or change its permissions."),
    errno.EPERM: ("no permission", "Choose another path, or start Tameshi as another user."),
    errno.EIO: ("the disk reported an error", "See the kernel's log (dmesg)."),
    errno.EMFILE: ("too many open files", "Raise the limit (ulimit -n)."),
    errno.ENFILE: ("too many open files on this machine", "Raise fs.file-max (sysctl)."),
    errno.ENOMEM: ("out of memory", "End other programs, or choose a smaller study."),
    errno.EAGAIN: ("the system starts no more processes", "Raise the limit (ulimit -u)."),
}


def explained(error: OSError, where: str = "") -> TameshiError | None:
    """Return the error with place and remedy; None if no remedy is known."""
    if error.errno not in _REMEDIES:
        return None
    message, hint = _REMEDIES[error.errno]
    place = where or (os.fsdecode(error.filename) if error.filename is not None else "")
    return RunFailed(message, where=place, found=(error.strerror or "").lower(), hint=hint)
