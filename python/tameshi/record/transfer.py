"""Sealed record in transit between machines: packed on one, checked and stored on another."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

from tameshi import guard
from tameshi.core import compiled
from tameshi.core.errors import TameshiError
from tameshi.core.spec_types import RunSpec
from tameshi.record.seal import OUTCOME, sync_directory
from tameshi.record.store import OUTCOME_VERSION, SealedRun, seal_hash

LEVEL = 1
"""Compression level: text shrinks to a fraction at little processor time."""
DENSE = ".parquet"
"""Suffix of files that are compressed already."""
MADE = ("series", "histograms")
"""Folders that every run has, even empty ones."""


class BadRecord(Exception):
    """Record that is not that of the run, or differs from its seal; the text is the reason."""


def packed(folder: Path) -> dict[str, bytes]:
    """Return the files of a sealed run by relative path, compressed where that helps."""
    return {
        name: data if name.endswith(DENSE) else zlib.compress(data, LEVEL)
        for name, data in content_of(folder).items()
    }


def stored(
    folder: Path,
    spec: RunSpec,
    identity: str,
    files: Mapping[str, bytes],
    *,
    synced: bool = True,
) -> SealedRun:
    """Store a packed record as the run's folder; the rename of outcome.json comes last.

    Raises `BadRecord` for a record that is not whole or not the run's. If storing fails, no part of
    the run remains. Not `synced`: the folder is only on its way to a pack.
    """
    return stored_content(folder, spec, identity, _unpacked(files), synced=synced)


def stored_content(
    folder: Path,
    spec: RunSpec,
    identity: str,
    content: Mapping[str, bytes],
    *,
    synced: bool = True,
) -> SealedRun:
    """Store the files of a record as `stored` does."""
    outcome = checked(content, identity)
    if content.get("spec.json") != compiled.to_json(spec).encode():
        raise BadRecord("spec.json is that of another run")
    write_record(folder, content, synced=synced)
    environment = json.loads(content["environment.json"])
    return SealedRun(folder, spec, environment, outcome)


def content_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a sealed run by relative path."""
    names = [*json.loads((folder / OUTCOME).read_bytes())["files"], OUTCOME]
    return {name: (folder / name).read_bytes() for name in names}


def left_at(place: Path) -> dict[str, bytes]:
    """Return the files of a record on a shared file system; raise `BadRecord` without a seal."""
    try:
        names = list(json.loads((place / OUTCOME).read_bytes())["files"])
        if not all(map(_is_inside, names)):
            raise BadRecord("it names a file outside the run")
        return {name: (place / name).read_bytes() for name in (*names, OUTCOME)}
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise BadRecord(f"it cannot be read on the shared file system: {error}") from None


def write_record(folder: Path, content: Mapping[str, bytes], *, synced: bool = True) -> None:
    """Write a checked record as a run's folder; if that fails, no part of the run remains."""
    try:
        _write(folder, content, synced)
    except (OSError, TameshiError):
        with suppress(OSError, TameshiError):
            guard.remove_folder(folder)
        raise


def _unpacked(files: Mapping[str, bytes]) -> dict[str, bytes]:
    try:
        return {
            name: data if name.endswith(DENSE) else zlib.decompress(data)
            for name, data in files.items()
        }
    except zlib.error as error:
        raise BadRecord(f"a file cannot be decompressed: {error}") from None


def checked(content: Mapping[str, bytes], identity: str) -> dict[str, Any]:
    """Return the outcome of a record; raise `BadRecord` if it is not whole or another run's."""
    try:
        outcome: dict[str, Any] = json.loads(content[OUTCOME])
        seal = outcome.pop("sha256")
        files, version, sealed_as = (
            outcome[key] for key in ("files", "schema_version", "identity")
        )
    except (KeyError, ValueError, TypeError, AttributeError):
        raise BadRecord(f"{OUTCOME} is missing or unreadable") from None
    if version != OUTCOME_VERSION:
        raise BadRecord(f"the record has version {version}, expected {OUTCOME_VERSION}")
    if seal != seal_hash(outcome):
        raise BadRecord(f"{OUTCOME} differs from its hash")
    if sealed_as != identity:
        raise BadRecord("it is the record of another run")
    for name in {*files, *content} - {OUTCOME}:
        if not _is_inside(name):
            raise BadRecord(f"it names a file outside the run: {name}")
        if name not in files or name not in content:
            raise BadRecord(f"{name} is not sealed, or missing")
        data = content[name]
        is_whole = files[name]["bytes"] == len(data)
        if not is_whole or files[name]["sha256"] != hashlib.sha256(data).hexdigest():
            raise BadRecord(f"{name} differs from its hash")
    return outcome


def _is_inside(name: str) -> bool:
    """Return whether a relative path stays in the run's folder and leaves the marker alone."""
    parts = PurePosixPath(name).parts
    is_relative = bool(parts) and not name.startswith("/") and "\0" not in name
    return is_relative and ".." not in parts and guard.MARKER not in parts


def _write(folder: Path, content: Mapping[str, bytes], synced: bool) -> None:
    if folder.exists():
        guard.remove_folder(folder)
    guard.claim_folder(folder)
    for name in MADE:
        (folder / name).mkdir()
    for name, data in content.items():
        if name == OUTCOME:
            continue
        with guard.append_file(folder / name) as file:
            file.write(data)
            file.flush()
            if synced:
                os.fsync(file.fileno())
    for directory in (folder, *(folder / name for name in MADE)) if synced else ():
        sync_directory(directory)
    guard.write_file(folder / OUTCOME, content[OUTCOME], synced=synced)
