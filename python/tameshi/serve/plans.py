"""Plan of a served drive, checked before anything is made."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tameshi.core import compiled
from tameshi.core.environment import mounts
from tameshi.core.errors import BadInput, GuardRefusal
from tameshi.core.memory_group import memory_group
from tameshi.guard import size_text
from tameshi.serve.addresses import NbdAddress
from tameshi.serve.nodes import Node, drive_in, has_volatile_cache
from tameshi.serve.tools import require_tool

FILE_SYSTEMS = {"xfs": "xfsprogs", "ext4": "e2fsprogs"}
"""File systems, and the package of their tools."""
LIES = ("flush",)
"""Promises that a drive can be made to break."""

DEFAULT_BYTES = 64 << 30
"""Most bytes of a drive without `--size`."""
LEAST_BYTES = 512 << 20
"""A file system needs some room: mkfs.xfs refuses less than 300 MiB."""
MEMORY_SHARE = 0.5
"""Share of the available memory that stored data may take without `--memory`."""


@dataclass(frozen=True)
class ServePlan:
    """Drive to serve and where.

    `node` is the drive or stack of drives, as in a run's spec, of `drives` drives. `storage`: the
    run's storage that it is. `limit_bytes`: most bytes of data, in memory or in the directory
    `store`. `fails`: members fail. `forgets`: no data are kept. `is_volatile`: by
    the model, acknowledged data may be in volatile memory. `slow`: slow motion. `at`: mount point;
    None for one of Tameshi's own. `file_system` None: only a block device. `nbd`: address to serve
    instead of a block device. `command`: program to run on the drive, privately.
    """

    profile: str
    description: str
    node: Node
    capacity_bytes: int
    size_bytes: int
    limit_bytes: int
    seed: int = 1
    lies: tuple[str, ...] = ()
    at: Path | None = None
    file_system: str | None = "xfs"
    command: tuple[str, ...] = ()
    plain: bool = False
    storage: str | None = None
    store: Path | None = None
    fails: bool = False
    forgets: bool = False
    nbd: NbdAddress | None = None
    drives: int = 1
    is_volatile: bool = False
    slow: float = 1

    @property
    def model(self) -> str:
        """Return the name of the drive's model."""
        return next(iter(drive_in(self.node)))

    @property
    def values(self) -> Mapping[str, Any]:
        """Return the values of the drive's profile."""
        return dict(drive_in(self.node)[self.model])

    @property
    def is_mirror(self) -> bool:
        """Return whether the drive is a block mirror, with a far side across a link."""
        return "replica" in self.node

    @property
    def rotational(self) -> bool:
        """Return whether the drive is a disk."""
        return self.model == "hdd"

    @property
    def has_volatile_cache(self) -> bool:
        """Return whether the drive asks for flushes, as `queue/write_cache` reports it."""
        if "flush" in self.lies or has_volatile_cache(self.node):
            return True
        if self.model == "flash":
            return not self.values["buffer"].get("power_loss_protection")
        return bool(self.values.get("write_cache"))

    @property
    def takes_flushes(self) -> bool:
        """Return whether the kernel has to send flushes.

        A drive of a study gets them if they take time, as from a simulated stream.
        """
        if self.has_volatile_cache or self.storage is None:
            return self.has_volatile_cache
        return compiled.idle_latencies(self.node)["flush"] > 0

    @property
    def sector_bytes(self) -> int:
        """Return the logical sector size: a flash drive's mapping unit may be larger."""
        return 512

    def as_spec(self, folder: Path, source: str) -> dict[str, Any]:
        """Return the settings of the server process."""
        return {
            "node": self.node,
            "storage": self.storage,
            "fails": self.fails,
            "forgets": self.forgets,
            "run_bytes": min(self.capacity_bytes, self.size_bytes),
            "size_bytes": self.size_bytes,
            "limit_bytes": self.limit_bytes,
            "store": str(self.store) if self.store else None,
            "seed": self.seed,
            "ignores_flush": "flush" in self.lies,
            "path": str(folder / "drive"),
            "source": source,
            "plain": self.plain,
            "takes_flushes": self.takes_flushes,
            "nbd": self.nbd.text if self.nbd else None,
            "slow": self.slow,
        }


def available_bytes() -> int:
    """Return the memory that this process may still take."""
    limit = memory_group().limit_bytes
    available = int(psutil.virtual_memory().available)
    return min(available, limit) if limit else available


def check_plan(plan: ServePlan) -> None:
    """Raise `BadInput` or `GuardRefusal` for what cannot be served here."""
    if plan.nbd is None:
        require_rights()
    if plan.size_bytes < LEAST_BYTES and (plan.file_system or plan.storage is None):
        raise BadInput(
            "a served drive is too small for a file system",
            where="--size",
            found=size_text(plan.size_bytes),
            accepted=[f"{size_text(LEAST_BYTES)} or more"],
        )
    if plan.store is None and plan.limit_bytes > available_bytes():
        raise BadInput(
            "there is not so much memory for the drive's data",
            where="--memory",
            found=size_text(plan.limit_bytes),
            accepted=[f"up to {size_text(available_bytes())}"],
            hint="" if plan.storage else "--store DIR has them on a disk.",
        )
    if plan.nbd is None:
        require_tool("losetup", "mount")
    if plan.file_system:
        require_tool(f"mkfs.{plan.file_system}", FILE_SYSTEMS[plan.file_system])
        require_tool("mount", "mount")
    if plan.at is not None:
        check_mount_point(plan.at)


def require_rights() -> None:
    """Raise `BadInput` unless this process may mount and /dev/fuse opens."""
    if os.geteuid() != 0:
        raise BadInput(
            "serving a drive needs root, to mount it and to make a loop device",
            where="serve",
            found=f"user {os.geteuid()}",
            hint="Run it with sudo; `tameshi doctor` lists what this machine lacks.",
        )
    for node in ("/dev/fuse", "/dev/loop-control"):
        try:
            os.close(os.open(node, os.O_RDWR))
        except OSError as error:
            raise BadInput(
                "a device of the kernel does not open",
                where=node,
                found=error.strerror or "",
                hint="`tameshi doctor` says how to provide it.",
            ) from None


def check_mount_point(path: Path) -> None:
    """Refuse a mount point that exists and is not an empty directory, or is one already."""
    real = Path(os.path.realpath(path))
    if any(mount.point == real for mount in mounts()):
        raise _no_mount_point(real, "a mount point in use")
    if not os.path.lexists(real):
        if not real.parent.is_dir():
            raise _no_mount_point(real, f"no directory {real.parent}")
        return
    if not real.is_dir():
        raise _no_mount_point(real, "not a directory")
    entries = sorted(os.listdir(real))
    if entries:
        raise _no_mount_point(real, f"{len(entries)} entries, such as {entries[0]}")


def _no_mount_point(path: Path, found: str) -> GuardRefusal:
    return GuardRefusal(
        "nothing is mounted here",
        where=str(path),
        found=found,
        accepted=["an empty directory", "a path that does not exist yet"],
    )


def default_memory() -> int:
    """Return the memory that stored data may take by default."""
    return int(available_bytes() * MEMORY_SHARE)


def check_lies(lies: Sequence[str]) -> None:
    """Raise `BadInput` for an unknown lie."""
    for lie in lies:
        if lie not in LIES:
            raise BadInput("unknown promise to break", where="--lie", found=lie, accepted=LIES)
