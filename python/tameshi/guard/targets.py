"""Storage targets: one file each, with a header that says whose it is before its payload.

The payload is read and written elsewhere, through the descriptor of an `OpenTarget` and within
its bounds; paths are opened here only.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import json
import mmap
import os
import re
import stat
import time
import uuid
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, Self

from tameshi.environment import mount_of
from tameshi.errors import BadInput, GuardRefusal, RunFailed
from tameshi.guard.handles import (
    OPEN_FOLDER,
    Identity,
    changed,
    closing,
    closing_on_error,
    described,
    forbidden,
    foreign,
    identity_of,
    open_new,
    open_regular,
    resolved,
    size_text,
    translated,
)

MIB = 1 << 20
DATA_OFFSET = MIB
"""Bytes before the payload of a target: the header's region, wide enough for any alignment."""
LOCK_PATIENCE_SECONDS = 3.0
RESERVE_BYTES = 64 * MIB
"""Bytes that must stay free on the file system beside a target."""

_MAGIC = b"Tameshi made this file and may overwrite or delete it (storage target, format 1).\n"
_HEADER_BYTES = 4096
_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_KERNEL_FILE_SYSTEMS = {
    *("proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs"),
    *("securityfs", "configfs", "bpf", "efivarfs", "pstore", "mqueue", "hugetlbfs"),
}
_RENAME_NOREPLACE = 1


@dataclass(frozen=True)
class Header:
    """What a target file says of itself; `size_bytes` is its payload's size."""

    uuid: str
    role: str
    size_bytes: int
    laid_out: bool

    def to_block(self) -> bytes:
        """The header as it stands at the beginning of the file, padded with zero bytes.

        Its text stays within the first 512 bytes, which devices write whole or not at all.
        """
        body = json.dumps(asdict(self)).encode()
        digest = hashlib.sha256(body).hexdigest().encode()
        return (_MAGIC + digest + b"\n" + body + b"\n").ljust(_HEADER_BYTES, b"\0")

    @classmethod
    def from_block(cls, block: bytes) -> Header | None:
        """The header in `block`; None where it is absent, torn or altered."""
        if len(block) != _HEADER_BYTES or not block.startswith(_MAGIC):
            return None
        digest, _, rest = block[len(_MAGIC) :].partition(b"\n")
        body, _, _ = rest.partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != digest:
            return None
        try:
            header = cls(**json.loads(body))
        except (ValueError, TypeError):
            return None
        # What does not come out as it went in was not written by this code.
        return header if header.to_block() == block else None


@dataclass(frozen=True)
class TargetPlan:
    """What `open_target` will do, found out without touching anything.

    `path` is the real path, symbolic links resolved; `size_bytes` the payload's size. `identity`
    and `uuid` pin what was examined: the file to reuse, or the directory to create it in.
    """

    path: Path
    role: str
    action: Literal["create", "reuse"]
    size_bytes: int
    file_system: str | None
    identity: Identity
    uuid: str | None


@dataclass
class OpenTarget:
    """An open target, locked against other runs; the payload is reached through `fd` alone.

    `data_offset` and `data_bytes` bound the payload, in bytes. `direct` says whether `fd` bypasses
    the page cache. A context manager; closing it twice is harmless.
    """

    fd: int
    path: Path
    direct: bool
    header: Header

    @property
    def data_offset(self) -> int:
        """Bytes of the file before its payload."""
        return DATA_OFFSET

    @property
    def data_bytes(self) -> int:
        """Bytes of payload."""
        return self.header.size_bytes

    @property
    def laid_out(self) -> bool:
        """Whether the whole payload has been written once (see `mark_laid_out`)."""
        return self.header.laid_out

    def close(self) -> None:
        """Closes the file and gives up its lock."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def check_target(path: Path, size_bytes: int, role: str) -> TargetPlan:
    """Examines what the user bound to `role` for a payload of `size_bytes`; creates nothing.

    A directory stands for the file `tameshi-ROLE.dat` in it. Raises `BadInput` for a size, role or
    path that means nothing, `GuardRefusal` for all that Tameshi must not or cannot write to.
    """
    if size_bytes <= 0:
        raise BadInput("a target needs a size", where=str(path), found=f"{size_bytes} bytes")
    if not _ROLE.fullmatch(role):
        raise BadInput(
            "a role names a file and may hold letters, digits and . _ - only", found=repr(role)
        )
    with translated(path):
        real = resolved(path)
        if os.path.isdir(real):
            real = resolved(real / f"tameshi-{role}.dat")
        if os.path.lexists(real):
            plan, occupied = _plan_reuse(real, size_bytes, role)
        else:
            plan, occupied = _plan_create(real, size_bytes, role), 0
        _require_space(plan, occupied)
    return plan


def open_target(plan: TargetPlan, direct: bool, *, fallback: bool = False) -> OpenTarget:
    """Creates or reopens the planned file and sets its size; the caller closes it.

    Where `direct` is asked for and the file system cannot, raises `RunFailed`, or with `fallback`
    opens through the page cache and says so in `OpenTarget.direct`. Raises `GuardRefusal` if
    anything has changed since `check_target`, or if another run holds the file.
    """
    with translated(plan.path):
        fd, header = _create(plan) if plan.action == "create" else _reopen(plan)
        with closing_on_error(fd):
            header = _fit(fd, header, plan.size_bytes)
            got = direct and _set_direct(fd)
    if direct and not got and not fallback:
        os.close(fd)
        if plan.action == "create":
            remove_target(plan.path)
        raise RunFailed(
            "direct I/O was asked for and is not possible here",
            where=str(plan.path),
            found=f"file system {plan.file_system}",
            hint="Bind another target, or let the run go through the page cache.",
        )
    return OpenTarget(fd, plan.path, got, header)


def mark_laid_out(target: OpenTarget) -> None:
    """Notes, durably, that the whole payload has been written once; it survives until a resize."""
    with translated(target.path):
        os.fsync(target.fd)
        header = replace(target.header, laid_out=True)
        # A descriptor of its own: the header is no aligned buffer, and `fd` may be direct.
        with closing(os.open(f"/proc/self/fd/{target.fd}", os.O_RDWR)) as buffered:
            _write_header(buffered, header)
    target.header = header


def remove_target(path: Path) -> None:
    """Deletes a target file that carries Tameshi's marker and that no run holds open.

    Raises `GuardRefusal` for everything else, a symbolic link to such a file included.
    """
    with (
        translated(path),
        closing(os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)) as directory,
        closing(open_regular(path, os.O_RDWR, directory)) as fd,
    ):
        _own_header(fd, path)
        _lock(fd, path)
        now = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
        if identity_of(now) != identity_of(os.fstat(fd)):
            raise changed(path)
        os.unlink(path.name, dir_fd=directory)
        os.fsync(directory)


def _plan_reuse(real: Path, size_bytes: int, role: str) -> tuple[TargetPlan, int]:
    """The plan for a file that is there, and the bytes it already occupies."""
    status = os.lstat(real)
    if not stat.S_ISREG(status.st_mode):
        raise foreign(real, described(status))
    _require_access(real, os.R_OK | os.W_OK)
    with closing(open_regular(real, os.O_RDONLY)) as fd:
        header = _own_header(fd, real)
        status = os.fstat(fd)
    identity, file_system = identity_of(status), _file_system(real)
    plan = TargetPlan(real, role, "reuse", size_bytes, file_system, identity, header.uuid)
    return plan, status.st_blocks * 512


def _plan_create(real: Path, size_bytes: int, role: str) -> TargetPlan:
    parent = real.parent
    if not os.path.isdir(parent):
        raise BadInput(
            "there is no such directory",
            where=str(parent),
            hint="Create it first: a mistyped mount point would otherwise fill the wrong disk.",
        )
    file_system = _file_system(parent)
    in_dev = real.is_relative_to("/dev") and not real.is_relative_to("/dev/shm")
    if in_dev or file_system in _KERNEL_FILE_SYSTEMS:
        raise foreign(real, f"no such file, in a directory of the kernel's ({file_system})")
    _require_access(parent, os.W_OK | os.X_OK)
    identity = identity_of(os.stat(parent))
    return TargetPlan(real, role, "create", size_bytes, file_system, identity, None)


def _require_space(plan: TargetPlan, occupied: int) -> None:
    room = os.statvfs(plan.path if plan.action == "reuse" else plan.path.parent)
    free = room.f_bavail * room.f_frsize
    needed = DATA_OFFSET + plan.size_bytes + RESERVE_BYTES - occupied
    if needed > free:
        raise GuardRefusal(
            f"the file system would run full: {size_text(needed)} more are needed, of which "
            f"{size_text(RESERVE_BYTES)} stay free",
            where=str(plan.path),
            found=f"{size_text(free)} free",
            hint="Make room, ask for a smaller target or bind another.",
        )


def _create(plan: TargetPlan) -> tuple[int, Header]:
    """The planned file, new, locked and with its header.

    It gets its name only once the header is durable: a crash in between leaves a small
    `.tameshi-new-…` file but never an unmarked one under a name that a later run would refuse.
    """
    with closing(os.open(plan.path.parent, OPEN_FOLDER)) as directory:
        if identity_of(os.fstat(directory)) != plan.identity:
            raise changed(plan.path)
        fd, name = open_new(directory, 0o600)
        with closing_on_error(fd):
            try:
                _lock(fd, plan.path)
                header = Header(str(uuid.uuid4()), plan.role, plan.size_bytes, False)
                _write_header(fd, header)
                _rename_new(directory, name, plan.path.name)
            except BaseException:
                os.unlink(name, dir_fd=directory)
                raise
            os.fsync(directory)
    return fd, header


def _reopen(plan: TargetPlan) -> tuple[int, Header]:
    fd = open_regular(plan.path, os.O_RDWR)
    with closing_on_error(fd):
        if identity_of(os.fstat(fd)) != plan.identity:
            raise changed(plan.path)
        _lock(fd, plan.path)
        header = _own_header(fd, plan.path)
        # An inode number is given anew after a deletion; the UUID is not.
        if header.uuid != plan.uuid:
            raise changed(plan.path)
    return fd, header


def _fit(fd: int, header: Header, size_bytes: int) -> Header:
    """Gives the file its size; the header goes first, so that a crash never claims a layout."""
    whole = DATA_OFFSET + size_bytes
    if header.size_bytes == size_bytes and os.fstat(fd).st_size == whole:
        return header
    header = replace(header, size_bytes=size_bytes, laid_out=False)
    _write_header(fd, header)
    os.ftruncate(fd, whole)
    os.fsync(fd)
    return header


def _set_direct(fd: int) -> bool:
    """Turns direct I/O on if the file system really does it; a read proves it."""
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    try:
        fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_DIRECT)
        with mmap.mmap(-1, 64 * 1024) as aligned:
            os.preadv(fd, [aligned], DATA_OFFSET)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
        fcntl.fcntl(fd, fcntl.F_SETFL, flags)
        return False
    return True


def _write_header(fd: int, header: Header) -> None:
    os.pwrite(fd, header.to_block(), 0)
    os.fsync(fd)


def _own_header(fd: int, path: Path) -> Header:
    """The header of the open file; refuses a file that is not wholly and only Tameshi's."""
    status = os.fstat(fd)
    header = Header.from_block(os.pread(fd, _HEADER_BYTES, 0))
    if header is None:
        raise foreign(path, f"{described(status)} without Tameshi's marker")
    if status.st_nlink > 1:
        raise foreign(path, f"a file of Tameshi's with {status.st_nlink} names (hard links)")
    return header


def _rename_new(directory: int, old: str, new: str) -> None:
    """Renames within a directory; raises FileExistsError rather than replace anything."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(old), os.fsencode(new)
    if libc.renameat2(directory, names[0], directory, names[1], _RENAME_NOREPLACE) == 0:
        return
    code = ctypes.get_errno()
    if code not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(code, os.strerror(code), new)
    # NFS and some others know no such rename, but do have links.
    os.link(old, new, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    os.unlink(old, dir_fd=directory)


def _lock(fd: int, path: Path) -> None:
    """A ring of a worker that has just ended holds its file a little longer: the kernel takes it down later."""
    deadline = time.monotonic() + LOCK_PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() < deadline:
                time.sleep(0.01)
                continue
        raise GuardRefusal(
            "this target is in use by another run",
            where=str(path),
            hint="Wait for it to end, or bind another target.",
        )


def _require_access(path: Path, mode: int) -> None:
    if not os.access(path, mode, effective_ids=True):
        raise forbidden(path)


def _file_system(path: Path) -> str | None:
    mount = mount_of(path)
    return mount.file_system if mount else None
