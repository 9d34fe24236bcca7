"""Folders of Tameshi's own: claimed by a marker file, written and deleted only with the marker."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from tameshi.core.environment import mounts
from tameshi.core.errors import GuardRefusal
from tameshi.guard.handles import (
    OPEN_FOLDER,
    changed,
    closing,
    closing_on_error,
    described,
    foreign,
    identity_of,
    may_be_lost,
    open_new,
    open_regular,
    resolved,
    translated,
)

MARKER = ".tameshi-owned"
"""Name of the marker file."""

_FOLDER_MARK = b"Tameshi made this folder and may delete it with everything in it.\n"


_CLAIMED = ("a new folder", "an empty folder", "a folder made by Tameshi")


def claim_folder(path: Path, *, synced: bool = True) -> None:
    """Make `path` and its parents a folder of Tameshi's; keep one that exists.

    Claims an empty directory. Raises `GuardRefusal` for a directory with other contents. Not
    `synced`: after a crash of the machine, Tameshi may not recognise the folder.
    """
    with translated(path):
        real = resolved(path)
        refuse_protected(real)
        _refuse_what_is_no_folder(real)
        os.makedirs(real, exist_ok=True)
        with closing(os.open(real, OPEN_FOLDER)) as directory:
            if is_marked(directory):
                return
            if not claimable(directory):
                raise GuardRefusal(
                    "this folder holds files that Tameshi did not make",
                    where=str(real),
                    found=entries_in(directory),
                    accepted=_CLAIMED,
                )
            mark(directory, synced=synced)


def _refuse_what_is_no_folder(real: Path) -> None:
    """Refuse a path where it or a parent is not a directory."""
    there = next(path for path in (real, *real.parents) if os.path.lexists(path))
    status = os.stat(there)
    if not stat.S_ISDIR(status.st_mode):
        message = "this is not a folder" if there == real else "a part of this path is not a folder"
        raise GuardRefusal(message, where=str(there), found=described(status), accepted=_CLAIMED)


def remove_folder(path: Path) -> None:
    """Delete a folder with Tameshi's marker and all its contents.

    Deletes symbolic links inside without following them. Raises `GuardRefusal`, before any
    deletion, for a folder without the marker, a link, `/`, a home, or a folder with a mount inside.
    """
    if os.path.islink(path):
        raise foreign_folder(path, "a symbolic link")
    with translated(path):
        real = Path(os.path.realpath(path))
        refuse_protected(real)
        with closing(os.open(real, OPEN_FOLDER)) as directory:
            if not is_marked(directory):
                raise foreign_folder(real, "a directory without Tameshi's marker")
            refuse_mounts(real)
            status = os.fstat(directory)
            empty(directory, real, status.st_dev, keep=MARKER)
            if identity_of(os.lstat(real)) != identity_of(status):
                raise changed(real)
            # Delete the marker last, so that an interrupted removal can be resumed.
            os.unlink(MARKER, dir_fd=directory)
            os.rmdir(real)


def move_folder(path: Path, new: Path) -> None:
    """Rename a folder with Tameshi's marker; create missing parents of `new`.

    Raises `GuardRefusal` if the folder has no marker or no parent of `new` has one; `new` must not
    exist.
    """
    with translated(path), closing(os.open(path, OPEN_FOLDER)) as directory:
        if not is_marked(directory):
            raise foreign_folder(path, "a directory without Tameshi's marker")
        with closing(_open_owned_parent(new)) as parent:
            os.mkdir(new.name, dir_fd=parent)  # Fails if the name exists.
            os.rename(path, new.name, dst_dir_fd=parent)
            os.fsync(parent)


def write_file(path: Path, data: bytes, *, synced: bool = True) -> None:
    """Write a file in a folder of Tameshi's atomically; create missing folders.

    Not `synced`: a crash of the machine may lose it. Raises `GuardRefusal` if no parent of `path`
    carries the marker.
    """
    with translated(path), closing(_open_owned_parent(path)) as directory:
        fd, name = open_new(directory, 0o666)
        try:
            _write(fd, data, synced=synced)
            os.rename(name, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            os.unlink(name, dir_fd=directory)
            raise
        if synced:
            os.fsync(directory)


def remove_file(path: Path) -> None:
    """Delete a regular file in a folder of Tameshi's; do nothing if it is absent.

    Raises `GuardRefusal` if no parent of `path` carries the marker, and for anything but a file.
    """
    if not os.path.lexists(path):
        return
    with translated(path), closing(_open_owned_parent(path)) as directory:
        status = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise foreign(path, described(status))
        os.unlink(path.name, dir_fd=directory)


def append_file(path: Path) -> BinaryIO:
    """Open a file in a folder of Tameshi's for appending; create it and missing folders.

    The caller flushes and closes it. Raises `GuardRefusal` as `write_file` does, and for a link.
    """
    with translated(path):
        # Open without blocking: a named pipe of this name must be refused, not waited for.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        with closing(_open_owned_parent(path)) as directory:
            fd = os.open(path.name, flags, 0o666, dir_fd=directory)
        with closing_on_error(fd):
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise foreign(path, described(status))
        return open(fd, "ab")


def _open_owned_parent(path: Path) -> int:
    """Open the parent directory of `path`, created if missing, inside a folder with the marker."""
    parent = Path(os.path.realpath(path.parent))
    owned = next((folder for folder in (parent, *parent.parents) if _is_owned(folder)), None)
    if owned is None or path.name in ("", "..", MARKER):
        raise GuardRefusal(
            "Tameshi writes files only into its own folders",
            where=str(path),
            found=f"the name of the marker, or {parent} outside any folder made by Tameshi",
            accepted=[f"a path inside a folder with the marker {MARKER}"],
        )
    directory = os.open(owned, OPEN_FOLDER)
    for part in parent.relative_to(owned).parts:
        with closing(directory) as outer:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=outer)
            directory = os.open(part, OPEN_FOLDER, dir_fd=outer)
    return directory


def _is_owned(folder: Path) -> bool:
    try:
        directory = os.open(folder, OPEN_FOLDER)
    except OSError:
        return False
    with closing(directory):
        return is_marked(directory)


def mark(directory: int, *, synced: bool = True) -> None:
    """Write the marker into an open directory."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
    _write(os.open(MARKER, flags, 0o666, dir_fd=directory), _FOLDER_MARK, synced=synced)
    if synced:
        os.fsync(directory)


def is_marked(directory: int) -> bool:
    """Return whether an open directory carries the marker."""
    return _mark_in(directory) == _FOLDER_MARK


def _mark_in(directory: int) -> bytes | None:
    """Return the content of the marker file; None if it is absent or has several links."""
    try:
        fd = open_regular(Path(MARKER), os.O_RDONLY, directory)
    except (OSError, GuardRefusal):
        return None
    with closing(fd):
        return os.read(fd, 4096) if os.fstat(fd).st_nlink == 1 else None


def claimable(directory: int) -> bool:
    """Return whether the folder is empty, or holds only a marker truncated by a crash."""
    names = os.listdir(directory)
    if names == [MARKER]:
        mark = _mark_in(directory)
        return mark is not None and _FOLDER_MARK.startswith(mark)
    return not names


def entries_in(directory: int) -> str:
    """Return a phrase on the number of entries of an open directory."""
    count = len(os.listdir(directory))
    return f"a directory with {count} {'entry' if count == 1 else 'entries'}"


def empty(directory: int, path: Path, device: int, keep: str = "") -> None:
    """Delete the contents of an open directory, without following links or leaving `device`."""
    for name in os.listdir(directory):
        if name == keep:
            continue
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(name, dir_fd=directory)
            continue
        with closing(os.open(name, OPEN_FOLDER, dir_fd=directory)) as inner:
            if os.fstat(inner).st_dev != device:
                raise foreign_folder(path, f"another file system mounted at {path / name}")
            empty(inner, path / name, device)
        os.rmdir(name, dir_fd=directory)


def refuse_mounts(real: Path) -> None:
    """Refuse a folder that is a mount point or contains one."""
    for mount in mounts():
        if mount.point.is_relative_to(real):
            raise foreign_folder(real, f"a file system mounted at {mount.point}")


def refuse_protected(real: Path) -> None:
    """Refuse `/`, a home and its parents, even with a marker."""
    homes = [os.path.expanduser("~")]
    with suppress(KeyError):
        homes.append(pwd.getpwuid(os.getuid()).pw_dir)
    for home in homes:
        if Path(os.path.realpath(home)).is_relative_to(real):
            raise foreign_folder(real, "the root directory, a home directory or a parent of one")


def _write(fd: int, data: bytes, *, synced: bool = True) -> None:
    """Write, sync and close."""
    with open(fd, "wb") as file:
        file.write(data)
        file.flush()
        if synced:
            os.fsync(fd)


def foreign_folder(path: Path, found: str, names: Iterable[str] = ()) -> GuardRefusal:
    """Return the refusal of a folder; `names` are those that `--destroy` accepts."""
    return GuardRefusal(
        "Tameshi does not claim or delete this folder",
        where=str(path),
        found=found,
        accepted=[
            "a new or empty folder",
            "a folder made by Tameshi, given by its real path, without mounts inside",
            *may_be_lost(names),
        ],
    )
