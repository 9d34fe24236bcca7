"""Data directories of database servers: folders of Tameshi's, claimed for a server to fill.

A server wants an empty directory, and the marker is a file: the server's own is `data` inside.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tameshi.guard.contents import refuse_opened_in
from tameshi.guard.devices import HERE, Machine
from tameshi.guard.folders import (
    MARKER,
    claim_folder,
    claimable,
    empty,
    entries_in,
    foreign_folder,
    is_marked,
    mark,
    refuse_mounts,
    refuse_protected,
)
from tameshi.guard.handles import (
    OPEN_FOLDER,
    Identity,
    changed,
    closing,
    identity_of,
    named_by,
    resolved,
    size_text,
    translated,
)
from tameshi.guard.plans import file_system_of, refuse_kernels, require_access, require_directory
from tameshi.guard.space import Need, require_space

SERVERS_OWN = "data"
"""The folder inside a data directory that is the server's alone."""

_SYSTEMS = [Path("/", name) for name in ("bin", "boot", "etc", "lib", "lib64", "sbin", "usr")]
_COLLECTIONS = [Path("/"), Path("/home"), Path("/var")]


@dataclass(frozen=True)
class DirectoryPlan:
    """What `claim_data_directory` will do, found out without touching anything.

    `path` is the real path; `identity` pins the directory that was examined, or the one in which
    it will be made. `found` says what a directory to be cleared holds.
    """

    path: Path
    action: Literal["create", "claim", "reuse", "clear"]
    size_bytes: int
    identity: Identity
    need: Need
    found: str = ""

    def named_by(self, destroy: Sequence[str]) -> bool:
        """Whether one of the names given with `--destroy` is exactly this directory's."""
        return named_by(destroy, self.path)

    def described(self) -> list[str]:
        """Lines for the user to read before anything is written."""
        size = size_text(self.size_bytes)
        if self.action == "clear":
            return [f"destroys everything in {self.path}", f"  found: {self.found}"]
        kind = "its own" if self.action == "reuse" else "new"
        return [f"a data directory of {size}, {kind}: {self.path}"]


def check_data_directory(
    path: Path, size_bytes: int, destroy: Sequence[str] = (), *, machine: Machine = HERE
) -> DirectoryPlan:
    """Examines a directory that a server shall fill with `size_bytes`; creates nothing.

    One that holds what Tameshi did not make must be named by `destroy`, and is then cleared. Raises
    `BadInput` for a place that is not there, `GuardRefusal` for what may not be used or cleared.
    """
    with translated(path):
        plan = _plan(resolved(path), size_bytes, destroy, machine)
    require_space([plan.need], machine)
    return plan


def _plan(real: Path, size_bytes: int, destroy: Sequence[str], machine: Machine) -> DirectoryPlan:
    refuse_protected(real)
    exists = os.path.lexists(real)
    place = real if exists else real.parent
    require_directory(place)
    refuse_kernels(real, file_system_of(place, machine), "a directory")
    require_access(place, os.R_OK | os.W_OK | os.X_OK)
    action: Literal["create", "claim", "reuse", "clear"] = "create"
    found = ""
    with closing(os.open(place, OPEN_FOLDER)) as directory:
        identity = identity_of(os.fstat(directory))
        if exists and is_marked(directory):
            action = "reuse"
        elif exists and claimable(directory):
            action = "claim"
        elif exists:
            action, found = "clear", entries_in(directory)
            if not named_by(destroy, real):
                raise foreign_folder(real, f"{found} and without Tameshi's marker", [str(real)])
            _refuse_foreign_folder(real, directory)
    need = Need(real, place, size_bytes)
    return DirectoryPlan(real, action, size_bytes, identity, need, found)


def claim_data_directory(plan: DirectoryPlan) -> Path:
    """Makes, takes over or clears the planned directory; returns the one inside for the server.

    Raises `GuardRefusal` if it has changed since `check_data_directory`.
    """
    with translated(plan.path):
        place = plan.path.parent if plan.action == "create" else plan.path
        with closing(os.open(place, OPEN_FOLDER)) as directory:
            if identity_of(os.fstat(directory)) != plan.identity:
                raise changed(plan.path)
            if plan.action == "clear" and not is_marked(directory):
                _refuse_foreign_folder(plan.path, directory)
                # The marker comes last: what an interruption leaves is not mistaken for Tameshi's.
                empty(directory, plan.path, os.fstat(directory).st_dev)
                mark(directory)
        claim_folder(plan.path)
        return _servers_own(plan.path)


def empty_data_directory(path: Path) -> Path:
    """Deletes what a server left in a directory that carries the marker; returns a new one for it.

    Raises `GuardRefusal` for any other directory, before anything is deleted.
    """
    with translated(path):
        real = resolved(path)
        refuse_protected(real)
        with closing(os.open(real, OPEN_FOLDER)) as directory:
            if not is_marked(directory):
                raise foreign_folder(real, "a directory without Tameshi's marker")
            refuse_mounts(real)
            refuse_opened_in(real)
            empty(directory, real, os.fstat(directory).st_dev, keep=MARKER)
        return _servers_own(real)


def _servers_own(real: Path) -> Path:
    with closing(os.open(real, OPEN_FOLDER)) as directory, suppress(FileExistsError):
        os.mkdir(SERVERS_OWN, 0o700, dir_fd=directory)
    return real / SERVERS_OWN


def _refuse_foreign_folder(real: Path, directory: int) -> None:
    """Refuses what even `--destroy` does not give away: the system, mount points, what is open."""
    if real.parent in _COLLECTIONS or any(real.is_relative_to(system) for system in _SYSTEMS):
        raise foreign_folder(real, "a directory of the system's, or one that holds others'")
    if MARKER in os.listdir(directory):
        raise foreign_folder(real, f"a file {MARKER} that Tameshi did not write")
    refuse_mounts(real)
    refuse_opened_in(real)
