"""Descriptors, descriptions and refusals common to targets and folders."""

from __future__ import annotations

import errno
import os
import secrets
import shlex
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tameshi.core.errors import GuardRefusal, RunFailed
from tameshi.core.system_errors import REFUSED_WRITING, explained

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
"""Flags that open a directory but no link to one."""

Identity = tuple[int, int]
"""Device and inode number: they identify a file until it is deleted."""

LOCK_PATIENCE_SECONDS = 3.0
"""Wait for a target held by another process, in s.

The ring of a finished worker keeps its target open a little longer, until the kernel frees it.
"""

Got = TypeVar("Got")

_ACCEPTED_TARGETS = (
    "a directory",
    "the path of a file that does not exist yet",
    "a file made by Tameshi",
)
_NOT_AS_EXPECTED = (
    *(errno.ENOENT, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO),
)


def resolved(path: Path) -> Path:
    """Return the real path, which may not exist; refuse a dangling link."""
    real = Path(os.path.realpath(path))
    if os.path.lexists(path) and not os.path.lexists(real):
        raise foreign(path, f"a symbolic link to {real}, which does not exist")
    return real


@contextmanager
def closing(fd: int) -> Iterator[int]:
    """Close the descriptor at the end of the block."""
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def closing_on_error(fd: int) -> Iterator[int]:
    """Close the descriptor if the block fails; otherwise leave it open."""
    try:
        yield fd
    except BaseException:
        os.close(fd)
        raise


def open_regular(path: Path, flags: int, directory: int | None = None) -> int:
    """Open a regular file without following a link or opening a device."""
    name = path if directory is None else path.name
    with closing(os.open(name, os.O_PATH | os.O_NOFOLLOW, dir_fd=directory)) as handle:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise foreign(path, described(status))
        return os.open(f"/proc/self/fd/{handle}", flags)


def open_new(directory: int, mode: int) -> tuple[int, str]:
    """Create a file with a random name in the open directory, to be renamed when complete."""
    name = f".tameshi-new-{secrets.token_hex(8)}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    return os.open(name, flags, mode, dir_fd=directory), name


def patiently(attempt: Callable[[], Got], code: int) -> Got:
    """Return the result of `attempt`, retried for a while as long as it fails with this error."""
    deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
    while True:
        try:
            return attempt()
        except OSError as error:
            if error.errno != code or time.monotonic() >= deadline:
                raise
        time.sleep(0.01)


def identity_of(status: os.stat_result) -> Identity:
    """Return the device and inode number of a file."""
    return status.st_dev, status.st_ino


def described(status: os.stat_result) -> str:
    """Return a phrase on the kind of a file."""
    if stat.S_ISREG(status.st_mode):
        names = f" with {status.st_nlink} names (hard links)" if status.st_nlink > 1 else ""
        return f"a regular file of {size_text(status.st_size)}{names}"
    kinds = {
        stat.S_IFBLK: "a block device",
        stat.S_IFCHR: "a character device",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a directory",
    }
    return kinds.get(stat.S_IFMT(status.st_mode), "an unknown kind of file")


def size_text(count: int) -> str:
    """Format a number of bytes."""
    for unit, bytes_each in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= bytes_each:
            return f"{count / bytes_each:.1f} {unit}"
    return f"{count} bytes"


def named_by(destroy: Sequence[str], real: Path) -> bool:
    """Return whether `--destroy` names exactly this real path.

    A name that leads here through a link does not count: the command must state what it destroys.
    """
    return any(
        os.path.abspath(name) == str(real) == os.path.realpath(name) for name in destroy if name
    )


def may_be_lost(names: Iterable[str]) -> list[str]:
    """Return the options that would release each of these names."""
    return [f"--destroy {shlex.quote(name)}, if its content may be destroyed" for name in names]


def foreign(path: Path, found: str, names: Iterable[str] = ()) -> GuardRefusal:
    """Return the refusal of a foreign target; `names` are those that `--destroy` accepts."""
    return GuardRefusal(
        "Tameshi did not make this and leaves it alone",
        where=str(path),
        found=found,
        accepted=[*_ACCEPTED_TARGETS, *may_be_lost(names)],
    )


def changed(path: Path) -> GuardRefusal:
    """Return the refusal of a target that differs from the examined one."""
    return GuardRefusal(
        "this was replaced while Tameshi used it, and is left alone",
        where=str(path),
        hint="Find the other program that writes there, then start again.",
    )


def forbidden(path: Path) -> GuardRefusal:
    """Return the refusal for lack of permission."""
    return GuardRefusal(
        "Tameshi has no permission to write here",
        where=str(path),
        found="no permission, or a file system mounted read-only",
        hint="Choose another place, or change its permissions or mount.",
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Convert an error of the kernel into one with place and remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in REFUSED_WRITING:
            raise forbidden(path) from error
        if known := explained(error, str(path)):
            raise known from error
        found = (error.strerror or "").lower()
        if error.errno in _NOT_AS_EXPECTED:
            message = "this does not exist, or is not of the expected kind"
            raise GuardRefusal(message, where=str(path), found=found) from error
        raise RunFailed(
            "the file system reported an error", where=str(path), found=found
        ) from error
