"""Plans of storage targets, examined without writing."""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tameshi.core.environment import mount_of
from tameshi.core.errors import BadInput, GuardRefusal
from tameshi.guard.contents import refuse_opened, refuse_signatures, sampled
from tameshi.guard.devices import (
    HERE,
    Device,
    Machine,
    block_device,
    open_device,
    refuse_used_device,
    refuse_used_file,
)
from tameshi.guard.handles import (
    Identity,
    closing,
    described,
    forbidden,
    foreign,
    identity_of,
    named_by,
    open_regular,
    resolved,
    size_text,
    translated,
)
from tameshi.guard.header import DATA_OFFSET, header_of, refuse_second_name
from tameshi.guard.space import Need, require_space

_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_KERNEL_FILE_SYSTEMS = {
    *("proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs"),
    *("securityfs", "configfs", "bpf", "efivarfs", "pstore", "mqueue", "hugetlbfs"),
}


@dataclass
class Made:
    """Result of the first opening of a plan, so that later runs open the same target."""

    uuid: str | None = None
    identity: Identity = (0, 0)
    laid_out: bool = False


@dataclass(frozen=True)
class TargetPlan:
    """Planned action of `open_target`, found without any change.

    `path` is the real path, `size_bytes` the payload's size. `identity`, `uuid`, `stamp` and
    `device` pin the examined target: the file to reuse or overwrite, the directory of a new file,
    or the block device. `found` describes the contents of a device or of a file to overwrite.
    """

    path: Path
    role: str
    action: Literal["create", "reuse", "overwrite", "device"]
    size_bytes: int
    file_system: str | None
    identity: Identity
    uuid: str | None = None
    stamp: tuple[int, ...] | None = None
    device: Device | None = None
    found: str = ""
    need: Need | None = None
    made: Made = field(default_factory=Made, compare=False, repr=False)

    @property
    def ours(self) -> bool:
        """Return whether the target is or becomes a file of Tameshi's, which `remove_target`
        deletes."""
        return self.device is None

    @property
    def lasting_name(self) -> str:
        """Return a name that stays the same after a reboot: a device's identity, or the path."""
        return self.device.identities[0] if self.device else str(self.path)

    def named_by(self, destroy: Sequence[str]) -> bool:
        """Return whether a name given with `--destroy` is exactly this target's."""
        if self.device:
            return any(name in self.device.identities for name in destroy)
        return named_by(destroy, self.path)

    def described(self) -> list[str]:
        """Return announcement lines for the user, before any write."""
        size = size_text(self.size_bytes)
        where = f"{self.path} ({self.file_system})" if self.file_system else str(self.path)
        match self.action:
            case "create":
                return [f"{self.role}: a new file of {size}, {where}"]
            case "reuse":
                return [f"{self.role}: {size} in an existing file of Tameshi's, {where}"]
            case "overwrite":
                return [f"{self.role}: destroys the file {where}", f"  found: {self.found}"]
            case "device":
                assert self.device
                names = ", ".join(self.device.identities)
                return [
                    f"{self.role}: destroys the first {size} of {self.path}",
                    f"  model: {self.device.model or 'unknown'}",
                    f"  size: {size_text(self.device.size_bytes)}",
                    f"  known as: {names}",
                    f"  found: {self.found}",
                ]


def check_target(
    path: Path,
    size_bytes: int,
    role: str,
    destroy: Sequence[str] = (),
    *,
    machine: Machine = HERE,
) -> TargetPlan:
    """Examine the user's target for a payload of `size_bytes` in `role`; create nothing.

    A directory means the file `tameshi-ROLE.dat` in it. A foreign file or a block device must be
    named in `destroy`. Raises `BadInput` for an invalid size, role or path, `GuardRefusal` for a
    target that Tameshi must not or cannot write to.
    """
    return check_targets({role: (path, size_bytes)}, destroy, machine=machine)[role]


def check_targets(
    wanted: Mapping[str, tuple[Path, int]],
    destroy: Sequence[str] = (),
    *,
    sparse: Container[str] = (),
    machine: Machine = HERE,
) -> dict[str, TargetPlan]:
    """Examine path and size of each role as `check_target` does, and their total space.

    Roles in `sparse` are not written before a run and need no space beforehand.
    """
    plans: dict[str, TargetPlan] = {}
    for role, (path, size_bytes) in wanted.items():
        with translated(path):
            plan = _plan(path, size_bytes, role, destroy, machine)
        for other in plans.values():
            if other.path == plan.path:
                raise BadInput(
                    f"`{other.role}` and `{role}` are the same target", where=str(plan.path)
                )
        plans[role] = plan
    needs = [plan.need for role, plan in plans.items() if plan.need and role not in sparse]
    require_space(needs, machine)
    return plans


def refuse_unused(destroy: Sequence[str], plans: Iterable[TargetPlan]) -> None:
    """Refuse a name given with `--destroy` that no target of this command has."""
    plans = list(plans)
    for name in destroy:
        if not any(plan.named_by([name]) for plan in plans):
            accepted = [shlex.quote(str(plan.path)) for plan in plans if not plan.device]
            accepted += [n for plan in plans if plan.device for n in plan.device.identities]
            raise BadInput(
                "no target of this command has this name",
                where="--destroy",
                found=name,
                accepted=accepted,
            )


def refuse_kernels(real: Path, file_system: str | None, found: str) -> None:
    """Refuse a path in a file system of the kernel, such as proc: it is not on a disk."""
    in_dev = real.is_relative_to("/dev") and not real.is_relative_to("/dev/shm")
    if in_dev or file_system in _KERNEL_FILE_SYSTEMS:
        raise foreign(real, f"{found}, in a file system of the kernel ({file_system})")


def require_access(path: Path, mode: int) -> None:
    """Refuse a path without the permissions in `mode`."""
    if not os.access(path, mode, effective_ids=True):
        raise forbidden(path)


def require_directory(path: Path) -> None:
    """Raise `BadInput` for a missing directory."""
    if not os.path.isdir(path):
        raise BadInput(
            "no such directory",
            where=str(path),
            hint="Create it first: with a mistyped mount point, Tameshi would fill the wrong disk.",
        )


def file_system_of(path: Path, machine: Machine = HERE) -> str | None:
    """Return the kind of file system at `path`."""
    mount = mount_of(path, machine.proc)
    return mount.file_system if mount else None


def stamp_of(status: os.stat_result) -> tuple[int, ...]:
    """Return size and times, which change with every write to a file."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _plan(
    path: Path, size_bytes: int, role: str, destroy: Sequence[str], machine: Machine
) -> TargetPlan:
    if size_bytes <= 0:
        raise BadInput(
            "a target's size must be greater than zero",
            where=str(path),
            found=f"{size_bytes} bytes",
        )
    if not _ROLE.fullmatch(role):
        raise BadInput(
            "a storage name is part of a file name: it may hold letters, digits and . _ - only",
            found=repr(role),
        )
    real = resolved(path)
    if os.path.isdir(real):
        real = resolved(real / f"tameshi-{role}.dat")
    if not os.path.lexists(real):
        return _plan_new(real, size_bytes, role, machine)
    kind = stat.S_IFMT(os.lstat(real).st_mode)
    if kind == stat.S_IFBLK:
        return _plan_device(real, size_bytes, role, destroy, machine)
    if kind != stat.S_IFREG:
        raise foreign(real, described(os.lstat(real)))
    return _plan_file(real, size_bytes, role, destroy, machine)


def _plan_new(real: Path, size_bytes: int, role: str, machine: Machine) -> TargetPlan:
    parent = real.parent
    require_directory(parent)
    file_system = file_system_of(parent, machine)
    refuse_kernels(real, file_system, "no such file")
    require_access(parent, os.W_OK | os.X_OK)
    identity = identity_of(os.stat(parent))
    need = Need(real, parent, DATA_OFFSET + size_bytes)
    return TargetPlan(real, role, "create", size_bytes, file_system, identity, need=need)


def _plan_file(
    real: Path, size_bytes: int, role: str, destroy: Sequence[str], machine: Machine
) -> TargetPlan:
    """Plan the use of an existing file: Tameshi's own, or one released by `--destroy`."""
    file_system = file_system_of(real, machine)
    refuse_kernels(real, file_system, "a file")
    require_access(real, os.R_OK | os.W_OK)
    with closing(open_regular(real, os.O_RDONLY)) as fd:
        header = header_of(fd)
        status = os.fstat(fd)
        refuse_second_name(fd, real)
        if header is None and not named_by(destroy, real):
            found = f"{described(status)} without Tameshi's marker"
            raise foreign(real, found, [str(real)])
        refuse_used_file(real, machine)
        if header is None:
            refuse_foreign_contents(fd, real)
    return TargetPlan(
        real,
        role,
        "reuse" if header else "overwrite",
        size_bytes,
        file_system,
        identity_of(status),
        uuid=header.uuid if header else None,
        stamp=None if header else stamp_of(status),
        found=f"{described(status)}, no known content",
        need=Need(real, real, DATA_OFFSET + size_bytes - status.st_blocks * 512),
    )


def refuse_foreign_contents(fd: int, path: Path) -> None:
    """Refuse files that `--destroy` cannot release: a disk image, an open file."""
    refuse_signatures(fd, path)
    refuse_opened(fd, path)


def _plan_device(
    real: Path, size_bytes: int, role: str, destroy: Sequence[str], machine: Machine
) -> TargetPlan:
    """Plan the use of a block device: unused, without signatures, and named by `--destroy`."""
    device = block_device(real, machine)
    refuse_used_device(device, machine)
    if not device.identities:
        found = f"{device}, without serial number, WWN, by-id link or backing file"
        raise foreign(real, found)
    if not os.access(real, os.R_OK | os.W_OK, effective_ids=True):
        raise foreign(real, f"{device}, which this user may not open")
    with closing(open_device(device, os.O_RDONLY)) as fd:
        refuse_signatures(fd, real)
        found = sampled(fd, device.size_bytes)
    if not any(name in device.identities for name in destroy):
        raise foreign(real, f"{device}, {found}", device.identities)
    if device.read_only:
        raise forbidden(real)
    if size_bytes > device.size_bytes:
        raise GuardRefusal(
            f"the device is smaller than {size_text(size_bytes)}",
            where=str(real),
            found=str(device),
            hint="Choose a smaller target size or bind another device.",
        )
    identity = identity_of(os.lstat(real))
    return TargetPlan(real, role, "device", size_bytes, None, identity, device=device, found=found)
