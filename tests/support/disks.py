"""Signatures on disk images, and tools to make them."""

from __future__ import annotations

import os
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

SIZE = 64 << 20
SECTOR = 512
PARTITION_SECTORS = 20 << 11


def run(*command: str | Path) -> str:
    """Return a command's output; its failure fails the test."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout.strip()


def unable(why: str) -> None:
    """Skip a test that this machine cannot run; CI fails instead."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must run every row of the guard's table, and here it can't: {why}")
    pytest.skip(why)


def blank(path: Path, size: int = SIZE) -> Path:
    """Make a file of zeros."""
    path.touch()
    with path.open("r+b") as file:
        file.truncate(size)
    return path


def put(path: Path, *pieces: tuple[int, bytes]) -> None:
    """Write each piece at its offset; a negative one counts from the end."""
    with path.open("r+b") as file:
        for offset, data in pieces:
            file.seek(offset, 2 if offset < 0 else 0)
            file.write(data)


def mbr(path: Path) -> None:
    """Write an MBR partition table with two partitions."""
    entries = b"".join(_entry(0x83, 2048 + part * PARTITION_SECTORS) for part in range(2))
    put(path, (446, entries), (510, b"\x55\xaa"))


def gpt(path: Path) -> None:
    """Write a GPT with one partition."""
    entry = bytes(range(16)) + bytes(range(16, 32)) + struct.pack("<QQQ", 2048, 40000, 0)
    entries = entry.ljust(128 * 128, b"\0")
    last = SIZE // SECTOR - 1

    def header(crc: int) -> bytes:
        places = struct.pack("<QQQQ", 1, last, 34, last - 33) + b"disk's own uuid!"
        tail = struct.pack("<QIII", 2, 128, 128, zlib.crc32(entries))
        return b"EFI PART" + struct.pack("<IIII", 0x10000, 92, crc, 0) + places + tail

    put(
        path,
        (446, _entry(0xEE, 1)),
        (510, b"\x55\xaa"),
        (SECTOR, header(zlib.crc32(header(0)))),
        (2 * SECTOR, entries),
    )


def xfs(path: Path) -> None:
    """Write an XFS superblock."""
    blocks = SIZE // 4096
    block = struct.pack(">4sIQQQ16s", b"XFSB", 4096, blocks, 0, 0, b"a file system's.")
    block += struct.pack(">QQQQ", blocks // 2, 128, 129, 130)
    block += struct.pack(">IIIII", 1, blocks // 4, 4, 0, 1000)
    block += struct.pack(">HHHH12s", 0xB4A5, 512, 512, 8, b"label")
    block += bytes([12, 9, 9, 3, 12, 0, 0, 25])
    put(path, (0, block))


def lvm(path: Path) -> None:
    """Write an LVM physical volume."""
    label = struct.pack("<8sQII8s", b"LABELONE", 1, 0, 32, b"LVM2 001") + b"u" * 32
    put(path, (SECTOR, label.ljust(SECTOR, b"\0")))


def md(path: Path) -> None:
    """Write a RAID member of md, format 1.2."""
    block = struct.pack("<IIII16s", 0xA92B4EFC, 1, 0, 0, b"u" * 16)
    put(path, (4096, block.ljust(144, b"\0") + struct.pack("<Q", 8)))


def md_at_the_end(path: Path) -> None:
    """Write a RAID member of md, format 0.90, whose only trace is at the end of the disk."""
    put(path, (-65536, struct.pack("<IIII", 0xA92B4EFC, 0, 90, 0).ljust(4096, b"\0")))


def zfs(path: Path) -> None:
    """Write a member of a ZFS pool: rings of uberblocks."""
    block = struct.pack("<QQQ", 0x00BAB10C, 5000, 77)
    places = [
        label + (128 << 10) + slot * 1024 for label in (0, 256 << 10) for slot in range(4, 12)
    ]
    put(path, *[(place, block) for place in places])


def luks(path: Path) -> None:
    """Write an encrypted volume."""
    put(path, (0, b"LUKS\xba\xbe" + struct.pack(">H", 1)))


def _entry(kind: int, start: int) -> bytes:
    return struct.pack("<B3sB3sII", 0, b"\0\2\0", kind, b"\0\2\0", start, PARTITION_SECTORS)
