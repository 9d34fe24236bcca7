"""Region of a job in its file, and the bytes that the job moves there."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.environment import logical_block_bytes
from tameshi.fio.job import LENGTHS, Job
from tameshi.fio.options import Stride
from tameshi.fio.values import Percent


@dataclass
class Storage:
    """File or device of jobs, with the size that they need so far."""

    name: str
    path: str
    size: int | None = None
    sparse: bool = True
    """True until a job on the file needs allocation."""


def region_of(job: Job, storage: Storage, clone: int, device: str | None) -> tuple[int, int]:
    """Return start and length of a clone's region in its file; for a directory, of its files."""
    if job.files_each:
        return storage.size or 0, job.files_each * job.longest
    path = storage.path
    file_bytes = None if device else _existing_bytes(path)
    offset = _absolute(job, "offset", job.offset, file_bytes)
    begin = offset + clone * job.offset_increment
    if job.size is None:
        if file_bytes is None or file_bytes <= begin:
            message = "the file does not exist yet, and its size is missing"
            raise job.refusal("size", message, accepted=["size=1g"])
        return begin, file_bytes - begin
    span = _absolute(job, "size", job.size, file_bytes)
    if job.file_size is not None:
        span = min(span, max(job.file_size * job.parts - begin, 0))
    if job.parts > 1 and not isinstance(job.size, Percent):
        span = span // job.parts // job.longest * job.longest
    if file_bytes is not None and _is_device(path):
        span = min(span, file_bytes - begin)
    if span < job.longest:
        message = f"the region is smaller than one request of {job.longest} bytes"
        raise job.refusal("size", message, found=f"{max(span, 0)} bytes")
    return begin, span


def _absolute(job: Job, key: str, value: int | Percent, file_bytes: int | None) -> int:
    if isinstance(value, int):
        return value
    if file_bytes is None:
        message = "a share needs an existing file or device"
        raise job.refusal(key, message, found=f"{value.percent}%")
    unit = min(job.lengths)
    return file_bytes * value.percent // 100 // unit * unit


def _existing_bytes(path: str) -> int | None:
    """Return the length of an existing file or device."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    if stat.S_ISBLK(status.st_mode):
        number = f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
        sectors = Path(f"/sys/dev/block/{number}/size")
        return int(sectors.read_text(encoding="utf-8")) * 512 if sectors.exists() else None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _is_device(path: str) -> bool:
    try:
        return stat.S_ISBLK(os.stat(path).st_mode)
    except OSError:
        return False


def amount_of(job: Job, span: int) -> int | None:
    """Return the bytes that a clone transfers; None if only time ends it."""
    if job.goals.target or (job.time_based and job.runtime_us):
        return None
    kind, stride = job.pattern
    total = span
    if kind == "strided" and isinstance(stride, Stride) and stride.once:
        total = stride.bytes_in(span)
    amount = (job.io_size // job.parts if job.io_size is not None else total) * job.loops
    if job.most_ios is not None:
        if not job.block:
            message = "not supported: requests of several lengths are counted in bytes"
            raise job.refusal("number_ios", message)
        amount = min(amount, job.most_ios // job.parts * job.block)
    if job.block:
        amount = amount // job.block * job.block
    if amount < job.longest:
        message = "this is less than one request"
        raise job.refusal("io_size", message, found=f"{amount} bytes")
    return amount


def refuse_partial_sectors(job: Job, begin: int, path: str) -> None:
    """Refuse direct requests that are no whole sectors of the disk below a file."""
    sector = logical_block_bytes(Path(path)) or 1
    lengths = next((key for key in LENGTHS if key in job.settings), "bs")
    places = [(lengths, length) for length in job.lengths]
    places += [("blockalign", job.align or 0), ("offset", begin)]
    for key, found in places:
        if found % sector:
            raise job.refusal(
                key,
                f"direct requests begin and end at sectors of the disk, {sector} bytes each",
                found=f"{found} bytes",
                accepted=[f"multiples of {sector}"],
                hint="Or go through the page cache: direct=0.",
            )
