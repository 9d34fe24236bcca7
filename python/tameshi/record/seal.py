"""Sizes and hashes of a run's files: written at sealing, checked at reading."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from tameshi import guard
from tameshi.core.reasons import Reason, reason

OUTCOME = "outcome.json"
"""File that holds the seal; it cannot hold its own hash."""
PART_BYTES = 64 << 10
PACKS = "packs"
"""Folder of packs in a study folder; a study with this folder is packed."""


def sealed_files(folder: Path, *, synced: bool = True) -> dict[str, dict[str, Any]]:
    """Sync every file of a run folder; return `bytes` and `sha256` of each by its relative path.

    Not `synced`: the folder is only on its way to another one.
    """
    sealed, paths = {}, list(_files(folder))
    for path in paths:
        with path.open("rb") as file:
            if synced:
                os.fsync(file.fileno())
            digest = digest_of(file)
            sealed[path.relative_to(folder).as_posix()] = {"bytes": file.tell(), "sha256": digest}
    for directory in {path.parent for path in paths} if synced else ():
        sync_directory(directory)
    return sealed


def digest_of(file: IO[bytes]) -> str:
    """Return the SHA-256 of a file, in small parts: most files of a run are smaller."""
    digest = hashlib.sha256()
    while part := file.read(PART_BYTES):
        digest.update(part)
    return digest.hexdigest()


def damage_of(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> Reason | None:
    """Return the first difference between a run folder and its seal; None if there is none."""
    for name, sealed in files.items():
        try:
            with (folder / name).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size != sealed["bytes"]:
                    return reason("file_size", name, found=size, sealed=sealed["bytes"])
                if digest_of(file) != sealed["sha256"]:
                    return reason("file_content", name)
        except FileNotFoundError:
            return reason("file_missing", name)
        except OSError as error:
            return reason("file_unreadable", name, error=error.strerror)
    return None


def _files(folder: Path) -> Iterator[Path]:
    """Return the regular files of a run, in the order of their paths."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return (path for path in paths if path.name not in (OUTCOME, guard.MARKER))


def is_packed(study: Path) -> bool:
    """Return whether the records of a study folder are in packs."""
    return (study / PACKS).is_dir()


def sync_directory(path: Path) -> None:
    """Sync the entries of a folder."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
