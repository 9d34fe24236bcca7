"""State of caches at t0: cold, warm or unchanged; enforced, then verified from counters.

A run in another state than it claims is invalid: `verify` says so with figures, regardless of
`enforce`.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi.core.errors import RunFailed
from tameshi.core.reasons import Reason, reason, verdict
from tameshi.core.spec_types import Start
from tameshi.servers.private import PrivateServer

COLD_POOL_SHARE = 0.10
"""Largest share of the pool's capacity that a cold start may have read, unless below
`COLD_POOL_BYTES`."""
COLD_POOL_BYTES = 8 << 20
COLD_PAGES_SHARE = 0.02
"""Largest share of the data files in the page cache of a cold run."""
COLD_PAGES_BYTES = 8 << 20
READ = (Start.warm, Start.scanned)
"""States after all tables were read; a real server's own workload warms it further, in the ramp."""
WARM_SHARE = 0.90
"""Least share of the possible contents in the pool (or, embedded, the page cache) of a warm run."""


@dataclass(frozen=True)
class Residency:
    """Bytes of a database in all caches: buffer pool (None: unknown), page cache, files.

    `useful_bytes` is the most that a pool could hold of tables and indexes.
    """

    pool_bytes: int | None
    useful_bytes: int | None
    page_cache_bytes: int
    data_bytes: int

    def as_json(self) -> dict[str, Any]:
        """Return the entry in the run's record."""
        return dict(self.__dict__)


def enforce(server: PrivateServer, start: Start) -> None:
    """Put a running server, or an embedded database, into this state; it runs on return."""
    if start is Start.cold:
        server.stop()
        _drop_all(server)
        server.start()
        _drop_all(server)  # the start read the log, through the cache or not
    elif start in READ:
        if server.product.embedded:
            _read_all(server.home.data)
        else:
            server.product.warm(server.address)


def look(server: PrivateServer) -> Residency:
    """Measure the residency now; call it right before t0."""
    pool = None if server.product.embedded else server.product.pool(server.address)
    cached, size = _resident(server.home.data)
    if pool is None:
        return Residency(None, None, cached, size)
    return Residency(pool.bytes, pool.useful_bytes, cached, size)


def verify(start: Start, residency: Residency, embedded: bool) -> list[dict[str, Any]]:
    """Return findings against the claimed state, each of level `invalid`; none if it holds."""
    if start is Start.cold:
        reasons = list(_not_cold(residency, embedded))
    elif start in READ:
        reasons = list(_not_warm(residency, embedded))
    else:
        reasons = []
    return [verdict("invalid", each) for each in reasons]


def _not_cold(residency: Residency, embedded: bool) -> Iterator[Reason]:
    if residency.pool_bytes is None and not embedded:
        yield reason("cold_unknown")
    if residency.pool_bytes is not None:
        bound = max(COLD_POOL_BYTES, round((residency.useful_bytes or 0) * COLD_POOL_SHARE))
        if residency.pool_bytes > bound:
            yield reason("pool_not_cold", found_bytes=residency.pool_bytes, bound_bytes=bound)
    bound = max(COLD_PAGES_BYTES, round(residency.data_bytes * COLD_PAGES_SHARE))
    if residency.page_cache_bytes > bound:
        held = residency.page_cache_bytes
        yield reason("page_cache_not_cold", found_bytes=held, bound_bytes=bound)


def _not_warm(residency: Residency, embedded: bool) -> Iterator[Reason]:
    if embedded:
        have, possible, code = (
            residency.page_cache_bytes,
            residency.data_bytes,
            "page_cache_not_warm",
        )
    elif residency.pool_bytes is None or residency.useful_bytes is None:
        yield reason("warm_unknown")
        return
    else:
        have, possible, code = residency.pool_bytes, residency.useful_bytes, "pool_not_warm"
    if have < possible * WARM_SHARE:
        yield reason(code, found_bytes=have, whole_bytes=possible)


def _drop_all(server: PrivateServer) -> None:
    for folder in server.home.folders:
        drop_page_cache(folder)


def drop_page_cache(folder: Path) -> None:
    """Write back and drop the page cache of the files below a folder."""
    for path in _files(folder):
        try:
            fd = os.open(path, os.O_RDONLY)
        except FileNotFoundError:  # a running server deletes files of its own
            continue
        try:
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)


def _read_all(folder: Path) -> None:
    for path in _files(folder):
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def _files(folder: Path) -> Iterator[Path]:
    for here, _, names in os.walk(folder):
        for name in names:
            path = Path(here, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _resident(folder: Path) -> tuple[int, int]:
    """Return bytes of the files below a folder in the page cache, and in all, by mincore(2)."""
    cached = size = 0
    for path in _files(folder):
        try:
            status = path.stat()
            cached += _resident_of(path, status.st_size) if status.st_size else 0
        except FileNotFoundError:  # a running server deletes files of its own
            continue
        size += status.st_size
    return cached, size


def _resident_of(path: Path, size_bytes: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    pages = -(-size_bytes // mmap.PAGESIZE)
    answer = (ctypes.c_ubyte * pages)()
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int),
        *(ctypes.c_int, ctypes.c_int, ctypes.c_long),
    ]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    fd = os.open(path, os.O_RDONLY)
    try:
        place = libc.mmap(None, size_bytes, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        if place == ctypes.c_void_p(-1).value:
            found = os.strerror(ctypes.get_errno())
            raise RunFailed("cannot be mapped", where=str(path), found=found)
        try:
            if libc.mincore(place, size_bytes, answer):
                found = os.strerror(ctypes.get_errno())
                raise RunFailed("cannot be asked for", where=str(path), found=found)
        finally:
            libc.munmap(place, size_bytes)
    finally:
        os.close(fd)
    return min(size_bytes, bytes(answer).translate(_LOWEST_BIT).count(1) * mmap.PAGESIZE)


# Only the lowest bit of mincore's bytes is defined.
_LOWEST_BIT = bytes(value & 1 for value in range(256))
