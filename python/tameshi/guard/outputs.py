"""Output files that the user names, outside Tameshi's folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from tameshi.core.errors import GuardRefusal
from tameshi.guard.handles import closing, described, open_new, translated

BEGINNING_BYTES = 400
"""Bytes by which an earlier output is recognised."""


def write_output(path: Path, data: bytes, is_ours: Callable[[bytes], bool]) -> None:
    """Write a file atomically; replace only an empty one, or one whose beginning `is_ours`.

    Raises `GuardRefusal` for a file with other content, and for anything but a regular file.
    """
    with translated(path):
        flags = os.O_RDONLY | os.O_DIRECTORY
        with closing(os.open(path.parent, flags)) as directory:
            mode = _replaceable(path, directory, is_ours)
            fd, name = open_new(directory, 0o666)
            try:
                with open(fd, "wb") as file:
                    if mode is not None:
                        os.fchmod(fd, mode)
                    file.write(data)
                    file.flush()
                    os.fsync(fd)
                os.rename(name, path.name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                os.unlink(name, dir_fd=directory)
                raise


def _replaceable(path: Path, directory: int, is_ours: Callable[[bytes], bool]) -> int | None:
    """Return the mode of the file to replace; None if there is none."""
    try:
        status = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise _refused(path, described(status))
    with closing(os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=directory)) as fd:
        beginning = os.read(fd, BEGINNING_BYTES)
    if beginning and not is_ours(beginning):
        raise _refused(path, f"{described(status)} with something other than results")
    return stat.S_IMODE(status.st_mode)


def _refused(path: Path, found: str) -> GuardRefusal:
    return GuardRefusal(
        "this is not overwritten",
        where=str(path),
        found=found,
        accepted=["the path of a file that does not exist yet", "an earlier output of this kind"],
        hint="Choose another name, or remove it yourself.",
    )
