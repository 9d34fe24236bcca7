"""Open storage targets: a file with a header of Tameshi's, or a block device.

Other modules read and write the payload through the descriptor of an `OpenTarget`, within its
bounds; only this package opens paths. Trimming, layout and measurement need an `OpenTarget`, which
is the permission.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from tameshi.core.errors import GuardRefusal, RunFailed
from tameshi.guard.contents import refuse_signatures
from tameshi.guard.devices import (
    HERE,
    Machine,
    block_device,
    open_device,
    refuse_used_device,
    refuse_used_file,
)
from tameshi.guard.handles import (
    OPEN_FOLDER,
    Identity,
    changed,
    closing,
    closing_on_error,
    identity_of,
    open_new,
    open_regular,
    patiently,
    translated,
)
from tameshi.guard.header import (
    DATA_OFFSET,
    HEADER_BYTES,
    Header,
    own_header,
    refuse_second_name,
    write_header,
)
from tameshi.guard.plans import Made, TargetPlan, refuse_foreign_contents, stamp_of

_RENAME_NOREPLACE = 1


@dataclass
class OpenTarget:
    """Open target, locked against other runs; the payload is accessible only through `fd`.

    `data_offset` and `data_bytes` bound the payload in bytes; writes and trims stay within.
    `direct` tells whether `fd` bypasses the page cache; `buffered_fd`, after `open_buffered`, does
    not. A context manager; closing it twice is harmless.
    """

    fd: int
    path: Path
    direct: bool
    header: Header
    data_offset: int
    made: Made
    buffered_fd: int | None = None

    @property
    def descriptors(self) -> list[int]:
        """Return `fd` and, if open, the buffered descriptor."""
        return [self.fd] if self.buffered_fd is None else [self.fd, self.buffered_fd]

    def open_buffered(self) -> None:
        """Open the same target through the page cache as well, if `fd` bypasses it."""
        if self.direct and self.buffered_fd is None:
            with translated(self.path):
                # A file description of its own, which does not share the flags of `fd`.
                self.buffered_fd = os.open(f"/proc/self/fd/{self.fd}", os.O_RDWR | os.O_CLOEXEC)

    def drop_cached(self) -> None:
        """Write back and drop the target's pages in the page cache."""
        for fd in self.descriptors:
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    @property
    def data_bytes(self) -> int:
        """Return the bytes of payload."""
        return self.header.size_bytes

    @property
    def is_device(self) -> bool:
        """Return whether this is a block device: no header, payload at offset 0."""
        return self.data_offset == 0

    @property
    def laid_out(self) -> bool:
        """Return whether the whole payload has been written once (see `mark_laid_out`)."""
        return self.header.laid_out

    def close(self) -> None:
        """Close the file and release its lock."""
        if self.buffered_fd is not None:
            os.close(self.buffered_fd)
            self.buffered_fd = None
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_target(
    plan: TargetPlan, direct: bool, *, fallback: bool = False, machine: Machine = HERE
) -> OpenTarget:
    """Open the planned target, after creating it or taking it over; the caller closes it.

    A plan may be opened several times and always leads to the same target. If `direct` is set and
    the file system lacks it, raises `RunFailed`, or with `fallback` opens through the page cache
    and clears `OpenTarget.direct`. Raises `GuardRefusal` if anything has changed since
    `check_target`, or if another run holds the target.
    """
    with translated(plan.path):
        fd, header = _opened(plan, machine)
        with closing_on_error(fd):
            if not plan.device:
                header = _fit(fd, header, plan.size_bytes)
            got = direct and set_direct(fd)
    if direct and not got and not fallback:
        os.close(fd)
        if plan.action == "create":
            remove_target(plan.path)
        raise RunFailed(
            "this file system does not support direct I/O",
            where=str(plan.path),
            found=f"file system {plan.file_system}",
            hint="Bind another target, or use buffered I/O.",
        )
    return OpenTarget(fd, plan.path, got, header, 0 if plan.device else DATA_OFFSET, plan.made)


def mark_laid_out(target: OpenTarget) -> None:
    """Record that the whole payload has been written once.

    A file keeps this durably until its size changes; a device, which has no header, until this
    process ends.
    """
    header = replace(target.header, laid_out=True)
    with translated(target.path):
        os.fsync(target.fd)
        if not target.is_device:
            # Use a separate descriptor: the header is not an aligned buffer, and `fd` may be
            # direct.
            with closing(os.open(f"/proc/self/fd/{target.fd}", os.O_RDWR)) as buffered:
                write_header(buffered, header)
    target.header = header
    target.made.laid_out = True


def remove_target(path: Path) -> None:
    """Delete a target file with Tameshi's marker that no run holds open.

    Raises `GuardRefusal` for everything else, including a symbolic link to such a file.
    """
    with (
        translated(path),
        closing(os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)) as directory,
        closing(open_regular(path, os.O_RDWR, directory)) as fd,
    ):
        own_header(fd, path)
        refuse_used_file(path)
        _lock(fd, path)
        now = os.stat(path.name, dir_fd=directory, follow_symlinks=False)
        if identity_of(now) != identity_of(os.fstat(fd)):
            raise changed(path)
        os.unlink(path.name, dir_fd=directory)
        os.fsync(directory)


def _opened(plan: TargetPlan, machine: Machine) -> tuple[int, Header]:
    """Return the planned target, open and locked, with its header."""
    if plan.device:
        return _open_device(plan, machine)
    made = plan.made
    if made.uuid and (plan.action != "create" or os.path.lexists(plan.path)):
        fd, header = _reopen(plan.path, made.identity, made.uuid, machine)
    elif plan.action == "create":
        fd, header = _create(plan)
    elif plan.action == "reuse":
        fd, header = _reopen(plan.path, plan.identity, plan.uuid, machine)
    else:
        fd, header = _overwrite(plan, machine)
    made.uuid, made.identity = header.uuid, identity_of(os.fstat(fd))
    return fd, header


def _open_device(plan: TargetPlan, machine: Machine) -> tuple[int, Header]:
    """Open the planned device exclusively, if it is still the same one, unused and empty."""
    assert plan.device
    device = plan.device
    fd = open_device(device, os.O_RDWR)
    with closing_on_error(fd):
        # Examine again under the exclusive open: no other program can exchange, mount or claim it
        # now.
        if block_device(plan.path, machine) != device:
            raise changed(plan.path)
        refuse_used_device(device, machine)
        refuse_signatures(fd, plan.path)
    return fd, Header("", plan.role, plan.size_bytes, plan.made.laid_out)


def _create(plan: TargetPlan) -> tuple[int, Header]:
    """Create the planned file, locked and with its header.

    It gets its name after the header is durable: a crash leaves a small `.tameshi-new-…` file, but
    never an unmarked file that a later run would refuse.
    """
    with closing(os.open(plan.path.parent, OPEN_FOLDER)) as directory:
        if identity_of(os.fstat(directory)) != plan.identity:
            raise changed(plan.path)
        fd, name = open_new(directory, 0o600)
        with closing_on_error(fd):
            try:
                _lock(fd, plan.path)
                header = _new_header(plan)
                write_header(fd, header)
                _rename_new(directory, name, plan.path.name)
            except BaseException:
                os.unlink(name, dir_fd=directory)
                raise
            os.fsync(directory)
    return fd, header


def _reopen(
    path: Path, identity: Identity, known: str | None, machine: Machine
) -> tuple[int, Header]:
    fd = open_regular(path, os.O_RDWR)
    with closing_on_error(fd):
        if identity_of(os.fstat(fd)) != identity:
            raise changed(path)
        _lock(fd, path)
        refuse_used_file(path, machine)
        header = own_header(fd, path)
        # Inode numbers are reused after a deletion, UUIDs are not.
        if header.uuid != known:
            raise changed(path)
    return fd, header


def _overwrite(plan: TargetPlan, machine: Machine) -> tuple[int, Header]:
    """Take over a foreign file that the user released.

    Writes the header first: a crash leaves the file either unchanged or marked.
    """
    fd = open_regular(plan.path, os.O_RDWR)
    with closing_on_error(fd):
        status = os.fstat(fd)
        if (identity_of(status), stamp_of(status)) != (plan.identity, plan.stamp):
            raise changed(plan.path)
        _lock(fd, plan.path)
        refuse_second_name(fd, plan.path)
        refuse_used_file(plan.path, machine)
        refuse_foreign_contents(fd, plan.path)
        header = _new_header(plan)
        write_header(fd, header)
        os.ftruncate(fd, HEADER_BYTES)
    return fd, header


def _new_header(plan: TargetPlan) -> Header:
    return Header(str(uuid.uuid4()), plan.role, plan.size_bytes, False)


def _fit(fd: int, header: Header, size_bytes: int) -> Header:
    """Resize the file; write the header first, so that a crash never leaves a false layout mark."""
    file_bytes = DATA_OFFSET + size_bytes
    if header.size_bytes == size_bytes and os.fstat(fd).st_size == file_bytes:
        return header
    header = replace(header, size_bytes=size_bytes, laid_out=False)
    write_header(fd, header)
    os.ftruncate(fd, file_bytes)
    os.fsync(fd)
    return header


def set_direct(fd: int) -> bool:
    """Enable direct I/O if a test read proves that the file system supports it."""
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


def _rename_new(directory: int, old: str, new: str) -> None:
    """Rename within a directory; raise FileExistsError instead of replacing a file."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(old), os.fsencode(new)
    if libc.renameat2(directory, names[0], directory, names[1], _RENAME_NOREPLACE) == 0:
        return
    code = ctypes.get_errno()
    if code not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(code, os.strerror(code), new)
    # NFS and others lack this rename but support links.
    os.link(old, new, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
    os.unlink(old, dir_fd=directory)


def _lock(fd: int, path: Path) -> None:
    try:
        patiently(lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB), errno.EWOULDBLOCK)
    except BlockingIOError:
        raise GuardRefusal(
            "another run uses this target",
            where=str(path),
            hint="Wait for its end, or bind another target.",
        ) from None
