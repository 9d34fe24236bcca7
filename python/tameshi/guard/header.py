"""Header of a target file: first block, with owner and purpose of the file."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from tameshi.guard.handles import described, foreign

DATA_OFFSET = 1 << 20
"""Bytes before the payload of a target file: the header's region, aligned for any device."""
HEADER_BYTES = 4096
"""Bytes of the header's region that are written and compared."""

_MAGIC = b"Tameshi made this file and may overwrite or delete it (storage target, format 1).\n"


@dataclass(frozen=True)
class Header:
    """Description of a target; `size_bytes` is the size of its payload."""

    uuid: str
    role: str
    size_bytes: int
    laid_out: bool

    def to_block(self) -> bytes:
        """Return the header as stored at the start of the file, padded with zeros.

        Its text fits into the first 512 bytes, which devices write atomically.
        """
        body = json.dumps(asdict(self)).encode()
        digest = hashlib.sha256(body).hexdigest().encode()
        return (_MAGIC + digest + b"\n" + body + b"\n").ljust(HEADER_BYTES, b"\0")

    @classmethod
    def from_block(cls, block: bytes) -> Header | None:
        """Parse the header in `block`; None if absent, torn or altered."""
        if len(block) != HEADER_BYTES or not block.startswith(_MAGIC):
            return None
        digest, _, rest = block[len(_MAGIC) :].partition(b"\n")
        body, _, _ = rest.partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != digest:
            return None
        try:
            header = cls(**json.loads(body))
        except (ValueError, TypeError):
            return None
        # A header that does not round-trip was not written by this code.
        return header if header.to_block() == block else None


def header_of(fd: int) -> Header | None:
    """Read the header of an open file; None if absent, torn or altered."""
    return Header.from_block(os.pread(fd, HEADER_BYTES, 0))


def own_header(fd: int, path: Path) -> Header:
    """Read the header of an open file; refuse a file without header or with several links."""
    header = header_of(fd)
    if header is None:
        raise foreign(path, f"{described(os.fstat(fd))} without Tameshi's marker")
    refuse_second_name(fd, path)
    return header


def refuse_second_name(fd: int, path: Path) -> None:
    """Refuse a file with several hard links: the user has not released the others."""
    status = os.fstat(fd)
    if status.st_nlink > 1:
        raise foreign(path, described(status))


def write_header(fd: int, header: Header) -> None:
    """Write the header durably."""
    os.pwrite(fd, header.to_block(), 0)
    os.fsync(fd)
