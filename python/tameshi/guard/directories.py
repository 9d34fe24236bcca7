"""Data directories: folders of Tameshi's, claimed for a database server, or for streams, to fill.

A server wants an empty directory, and the marker is a file: the server's own is `data` inside, and
so is that of streams which make, look at and delete files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
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
    remove_folder,
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
from tameshi.guard.header import Header
from tameshi.guard.plans import (
    Made,
    file_system_of,
    refuse_kernels,
    require_access,
    require_directory,
)
from tameshi.guard.space import Need, require_space
from tameshi.guard.targets import OpenTarget

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
    made: Made = field(default_factory=Made, compare=False, repr=False)

    @property
    def lasting_name(self) -> str:
        """What the directory is called after the next start too."""
        return str(self.path)

    def remove(self) -> None:
        """Deletes the directory with everything in it, if it is there and Tameshi's."""
        if self.path.exists():
            remove_folder(self.path)

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


def open_data_directory(plan: DirectoryPlan, role: str) -> OpenTarget:
    """Claims the planned directory, empties it, and opens what is inside for streams to fill.

    A plan may be opened again and again, each time empty. Raises `GuardRefusal` if the directory
    has changed since `check_data_directory`.
    """
    if not plan.made.uuid:
        claim_data_directory(plan)
        plan.made.uuid = role
    inside = empty_data_directory(plan.path)
    with translated(inside):
        fd = os.open(inside, OPEN_FOLDER)
    header = Header("", role, plan.size_bytes, laid_out=False)
    return OpenTarget(fd, inside, False, header, 0, plan.made)


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
