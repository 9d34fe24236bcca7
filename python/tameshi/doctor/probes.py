"""Probes of an io_uring, device files, and direct I/O on a file of Tameshi's own."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from tameshi import guard
from tameshi.core.errors import TameshiError
from tameshi.doctor.facts import Ring

# Both calls have the same number on every architecture that Linux supports, except Alpha.
_IO_URING_SETUP, _IO_URING_REGISTER = 425, 427
_PARAMS_BYTES, _FEATURES_OFFSET = 120, 20
_FEATURES = {1 << 1: "completions that are never dropped", 1 << 8: "waits with a timeout"}
_REGISTER_PROBE, _PROBED, _PROBE_HEAD, _PROBE_STEP, _SUPPORTED = 8, 64, 16, 8, 1
_OPERATIONS = {3: "fsync", 22: "read", 23: "write"}

_PROBE_BYTES = 64 * 1024
_BLOCK = 4096


@dataclass(frozen=True)
class Tried:
    """Result of a target's file: the guard's refusal, or whether direct I/O worked."""

    refusal: str | None = None
    direct: bool | None = None


def try_ring(setting: int | None = None) -> Ring:
    """Set up an io_uring, query its features, and close it."""
    libc = ctypes.CDLL(None, use_errno=True)
    params = ctypes.create_string_buffer(_PARAMS_BYTES)
    fd = libc.syscall(_IO_URING_SETUP, 8, params)
    if fd < 0:
        return Ring(error=_name(ctypes.get_errno()), setting=setting)
    try:
        features = int.from_bytes(params.raw[_FEATURES_OFFSET : _FEATURES_OFFSET + 4], "little")
        lacking = [name for bit, name in _FEATURES.items() if not features & bit]
        return Ring(setting=setting, lacking=(*lacking, *_operations_lacking(libc, fd)))
    finally:
        os.close(fd)


def _operations_lacking(libc: ctypes.CDLL, fd: int) -> list[str]:
    answer = ctypes.create_string_buffer(_PROBE_HEAD + _PROBED * _PROBE_STEP)
    if libc.syscall(_IO_URING_REGISTER, fd, _REGISTER_PROBE, answer, _PROBED) < 0:
        return list(_OPERATIONS.values())
    flags = {code: answer.raw[_PROBE_HEAD + code * _PROBE_STEP + 2] for code in _OPERATIONS}
    return [name for code, name in _OPERATIONS.items() if not flags[code] & _SUPPORTED]


def try_device(path: Path) -> str | None:
    """Return None if the device file opens for reading and writing, else the name of the error."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return _name(error.errno)
    return None


def is_whole_device(path: Path) -> bool:
    """Return whether the path leads to a block device."""
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except OSError:
        return False


def try_target(path: Path) -> Tried:
    """Ask the guard about `path`; create, directly write and remove a file there."""
    # A random name: no storage of a study has it, and no file is reused.
    role = f"doctor-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        asked = guard.check_target(path, _PROBE_BYTES, role)
        plan = guard.check_target(asked.path.parent, _PROBE_BYTES, role)
        try:
            with guard.open_target(plan, direct=True, fallback=True) as target:
                return Tried(direct=target.direct and _written(target.fd, target.data_offset))
        finally:
            if plan.path.exists():
                guard.remove_target(plan.path)
    except (TameshiError, OSError) as error:
        return Tried(refusal=str(error))


def _written(fd: int, offset: int) -> bool:
    """Return whether one aligned block can be written by direct I/O."""
    with mmap.mmap(-1, _BLOCK) as block:
        try:
            return os.pwritev(fd, [block], offset) == _BLOCK
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise
            return False


def _name(code: int | None) -> str:
    return errno.errorcode.get(code or 0, str(code))
