"""Block devices: description, lasting names, and users."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.environment import PROC, SYS, mounts, names_in, number_in, swaps, text_in
from tameshi.core.errors import GuardRefusal
from tameshi.guard.handles import changed, closing, foreign, patiently, size_text


@dataclass(frozen=True)
class Machine:
    """Sources of the kernel's and udev's device data; tests replace them by trees of their own."""

    proc: Path = PROC
    sys: Path = SYS
    dev: Path = Path("/dev")


HERE = Machine()


@dataclass(frozen=True)
class Device:
    """Disk or partition, as the kernel describes it.

    `identities` are the names that `--destroy` accepts: serial number, WWN, by-id links; for a loop
    device its `backing` file. `sequence` is the kernel's disk sequence number, which distinguishes
    a later disk of the same name. `node` and `disk` are sysfs folders.
    """

    path: Path
    number: str
    node: Path
    disk: Path
    partition: int | None
    model: str | None
    size_bytes: int
    read_only: bool
    backing: Path | None
    identities: tuple[str, ...]
    sequence: int | None

    def __str__(self) -> str:
        """Return name, model and size."""
        model = f", {self.model}" if self.model else ""
        return f"a block device ({self.node.name}{model}, {size_text(self.size_bytes)})"


def block_device(path: Path, machine: Machine = HERE) -> Device:
    """Return the device of a node; `path` is not a link. Refuse a device unknown to the kernel."""
    status = os.lstat(path)
    if not stat.S_ISBLK(status.st_mode):
        raise changed(path)
    number = _number(status)
    node = machine.sys / "dev/block" / number
    if not node.exists():
        raise foreign(path, f"a block device unknown to the kernel ({number})")
    node = node.resolve()
    partition = number_in(node / "partition")
    disk = node if partition is None else node.parent
    return Device(
        path=path,
        number=number,
        node=node,
        disk=disk,
        partition=partition,
        model=text_in(disk / "device/model"),
        size_bytes=(number_in(node / "size") or 0) * 512,
        read_only=bool(number_in(node / "ro") or number_in(disk / "ro")),
        backing=_backing(disk),
        identities=_identities(disk, partition, number, machine),
        sequence=number_in(disk / "diskseq"),
    )


def open_device(device: Device, flags: int) -> int:
    """Open the device exclusively, which the kernel grants only for an unused device.

    It is in use, also from another container, if it or a partition is mounted, is swap, or belongs
    to RAID, LVM, ZFS or another exclusive opener.
    """
    with closing(os.open(device.path, os.O_PATH | os.O_NOFOLLOW)) as handle:
        status = os.fstat(handle)
        if not stat.S_ISBLK(status.st_mode) or _number(status) != device.number:
            raise changed(device.path)
        try:
            place = f"/proc/self/fd/{handle}"
            return patiently(lambda: os.open(place, flags | os.O_EXCL), errno.EBUSY)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            found = "the kernel or another program has it open exclusively"
            raise in_use(device.path, found) from None


def refuse_used_device(device: Device, machine: Machine = HERE) -> None:
    """Refuse a device that is mounted, swap, held or shared, as a whole or in part."""
    uses = list(dict.fromkeys(_uses(device, machine)))
    if uses:
        raise in_use(device.path, "; ".join(uses))


def refuse_used_file(path: Path, machine: Machine = HERE) -> None:
    """Refuse a regular file that backs a loop device or is swap."""
    loops = [loop for loop, backing in _loops(machine) if _same(backing, path)]
    uses = [f"it backs the loop device {loop}" for loop in loops]
    if any(_same(swap, path) for swap in swaps(machine.proc)):
        uses.append("it is active swap")
    if uses:
        raise in_use(path, "; ".join(uses))


def in_use(path: Path, found: str) -> GuardRefusal:
    """Return the refusal of a target in use."""
    return GuardRefusal(
        "this is in use, and Tameshi must not destroy it, even with --destroy",
        where=str(path),
        found=found,
        accepted=["a device or file that is not in use"],
        hint=(
            "If it may be destroyed, release it yourself (umount, swapoff, vgchange -an, mdadm "
            "--stop, zpool export, losetup -d), then start again."
        ),
    )


def _uses(device: Device, machine: Machine) -> Iterator[str]:
    """Yield the uses of the device, of its partitions or, for a partition, of the whole disk."""
    family = dict(_family(device))
    for mount in mounts(machine.proc):
        # Btrfs mounts under an anonymous device number; use the source instead.
        source = Path("/", mount.source)
        number = mount.device if mount.device in family else _node_number(source)
        if number in family:
            yield f"{family[number]} is mounted at {mount.point}"
    for swap in swaps(machine.proc):
        number = _node_number(swap)
        if number in family:
            yield f"{family[number]} is active swap"
    for name in family.values():
        folder = device.disk if name == device.disk.name else device.disk / name
        for holder in names_in(folder / "holders"):
            yield f"{name} is held by {holder}"
    for disk in _disks(machine):
        for member in sorted(set(family.values()).intersection(names_in(disk / "slaves"))):
            yield f"{member} is held by {disk.name}"
    for loop, backing in _loops(machine):
        number = _node_number(backing)
        if number in family:
            yield f"{family[number]} backs the loop device {loop}"
        if device.backing and loop != device.disk.name and _same(backing, device.backing):
            yield f"the loop device {loop} has the same backing file {backing}"


def _family(device: Device) -> Iterator[tuple[str, str]]:
    """Yield number and name of each device whose use implies a use of this one."""
    yield device.number, device.node.name
    if device.partition is not None:
        # Other partitions are independent of this one.
        yield text_in(device.disk / "dev") or "", device.disk.name
        return
    for name in names_in(device.disk):
        if (device.disk / name / "partition").exists():
            yield text_in(device.disk / name / "dev") or "", name


def _identities(
    disk: Path, partition: int | None, number: str, machine: Machine
) -> tuple[str, ...]:
    """Return names that identify this device alone, in whatever slot.

    A serial number shared by several disks (namespaces of a drive, paths to a disk) identifies none
    of them. A partition has its disk's names with `-partN`, as in udev.
    """
    own = _hardware_names(disk)
    for other in _disks(machine):
        if other.name != disk.name:
            own -= _hardware_names(other)
    suffix = "" if partition is None else f"-part{partition}"
    links = machine.dev / "disk/by-id"
    linked = {str(links / name) for name in names_in(links) if _node_number(links / name) == number}
    return (*sorted(f"{name}{suffix}" for name in own), *sorted(linked))


def _hardware_names(disk: Path) -> set[str]:
    """Return serial number, WWN and similar names of a whole disk; for a loop device its backing
    file."""
    files = ("serial", "wwid", "device/serial", "device/wwid", "dm/uuid")
    texts = [text_in(disk / file) or "" for file in files]
    with suppress(OSError):
        # Page 80 of a SCSI disk holds the serial number after a header of four bytes.
        page = (disk / "device/vpd_pg80").read_bytes()[4:]
        texts.append(page.decode("ascii", errors="ignore").replace("\0", ""))
    names = {" ".join(text.split()) for text in texts}
    backing = _backing(disk)
    if backing and backing.is_file():
        names.add(str(backing))
    return names - {""}


def _disks(machine: Machine) -> list[Path]:
    return [machine.sys / "block" / name for name in names_in(machine.sys / "block")]


def _loops(machine: Machine) -> Iterator[tuple[str, Path]]:
    """Yield each loop device in use with its backing file."""
    for disk in _disks(machine):
        backing = _backing(disk)
        if backing:
            yield disk.name, backing


def _backing(disk: Path) -> Path | None:
    text = text_in(disk / "loop/backing_file")
    return Path(text) if text else None


def _same(one: Path, other: Path) -> bool:
    """Return whether two paths lead to the same file."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return one == other


def _node_number(path: Path) -> str | None:
    """Return `MAJ:MIN` of the block device at `path`, or None."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _number(status) if stat.S_ISBLK(status.st_mode) else None


def _number(status: os.stat_result) -> str:
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
