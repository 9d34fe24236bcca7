"""Data directories: folders of Tameshi's, claimed for a database server or for streams of file
calls.

A server needs an empty directory, but the marker is a file. Servers and streams therefore use the
subfolder `data`.
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
"""Subfolder for the server's own files."""

_SYSTEMS = [Path("/", name) for name in ("bin", "boot", "etc", "lib", "lib64", "sbin", "usr")]
_COLLECTIONS = [Path("/"), Path("/home"), Path("/var")]


@dataclass(frozen=True)
class DirectoryPlan:
    """Planned action of `claim_data_directory`, found without any change.

    `path` is the real path; `identity` pins the examined directory, or the parent of a new one.
    `found` describes the contents of a directory to be cleared.
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
        """Return a name that stays the same after a reboot."""
        return str(self.path)

    def remove(self) -> None:
        """Delete the directory with all contents, if it exists and is Tameshi's."""
        if self.path.exists():
            remove_folder(self.path)

    def named_by(self, destroy: Sequence[str]) -> bool:
        """Return whether a name given with `--destroy` is exactly this directory's."""
        return named_by(destroy, self.path)

    def described(self) -> list[str]:
        """Return announcement lines for the user, before any write."""
        size = size_text(self.size_bytes)
        if self.action == "clear":
            return [f"destroys everything in {self.path}", f"  found: {self.found}"]
        kind = "its own" if self.action == "reuse" else "new"
        return [f"a data directory of {size}, {kind}: {self.path}"]


def check_data_directory(
    path: Path, size_bytes: int, destroy: Sequence[str] = (), *, machine: Machine = HERE
) -> DirectoryPlan:
    """Examine a directory for a server that writes `size_bytes`; create nothing.

    A directory with foreign contents must be named in `destroy`, and is then cleared. Raises
    `BadInput` for a missing directory, `GuardRefusal` for one that must not be used or cleared.
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
                raise foreign_folder(real, f"{found}, without Tameshi's marker", [str(real)])
            _refuse_foreign_folder(real, directory)
    need = Need(real, place, size_bytes)
    return DirectoryPlan(real, action, size_bytes, identity, need, found)


def claim_data_directory(plan: DirectoryPlan) -> Path:
    """Create, take over or clear the planned directory; return the server's subfolder.

    Raises `GuardRefusal` if it has changed since `check_data_directory`.
    """
    with translated(plan.path):
        place = plan.path.parent if plan.action == "create" else plan.path
        with closing(os.open(place, OPEN_FOLDER)) as directory:
            if identity_of(os.fstat(directory)) != plan.identity:
                raise changed(plan.path)
            if plan.action == "clear" and not is_marked(directory):
                _refuse_foreign_folder(plan.path, directory)
                # Write the marker last: an interruption leaves no folder that seems to be
                # Tameshi's.
                empty(directory, plan.path, os.fstat(directory).st_dev)
                mark(directory)
        claim_folder(plan.path)
        return _servers_own(plan.path)


def open_data_directory(plan: DirectoryPlan, role: str) -> OpenTarget:
    """Claim and empty the planned directory, and open its subfolder for streams.

    A plan may be opened several times; the folder is empty each time. Raises `GuardRefusal` if the
    directory has changed since `check_data_directory`.
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
    """Delete a server's files from a directory with the marker; return a new subfolder.

    Raises `GuardRefusal` for any other directory, before any deletion.
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
    """Refuse folders that `--destroy` cannot release: system folders, mount points, open files."""
    if real.parent in _COLLECTIONS or any(real.is_relative_to(system) for system in _SYSTEMS):
        raise foreign_folder(
            real, "a system directory, or a directory that contains directories of others"
        )
    if MARKER in os.listdir(directory):
        raise foreign_folder(real, f"a file {MARKER} that Tameshi did not write")
    refuse_mounts(real)
    refuse_opened_in(real)
