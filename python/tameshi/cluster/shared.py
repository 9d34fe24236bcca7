"""File system that collector and workers share: records pass through it, not through the scheduler.

Both sides name it by the environment variable `TAMESHI_SHARED`. The collector puts a token there: a
worker that does not find it sends its records as bytes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tameshi import guard
from tameshi.core.errors import BadInput, TameshiError

VARIABLE = "TAMESHI_SHARED"
TOKEN = "token"
IDENTITY_DIGITS = 16


def named() -> Path | None:
    """Return the directory that this process names; None without. Raise `BadInput` if it is
    none."""
    given = os.environ.get(VARIABLE)
    if not given:
        return None
    if not os.path.isdir(given):
        accepted = ["a directory on a file system that the workers have too"]
        raise BadInput("this is no directory", where=VARIABLE, found=given, accepted=accepted)
    return Path(os.path.realpath(given))


def opened(name: str) -> Path | None:
    """Make the folder of a collector's records, if this process names a directory."""
    place = named()
    if place is None:
        return None
    guard.claim_folder(place / name)
    guard.write_file(place / name / TOKEN, name.encode())
    return place / name


def found(name: str) -> Path | None:
    """Return the folder of a collector's records as a worker sees it; None if they share none."""
    with suppress(OSError, TameshiError):
        place = named()
        if place and (place / name / TOKEN).read_bytes() == name.encode():
            return place / name
    return None


def place_of(folder: Path, identity: str) -> Path:
    """Return the place of a record."""
    return folder / identity[:IDENTITY_DIGITS]


def close(folder: Path | None) -> None:
    """Remove what is left of a collector's records."""
    if folder is not None:
        with suppress(OSError, TameshiError):
            guard.remove_folder(folder)
