"""Block devices: what they are, by which names that stay they are known, and who uses them."""

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
    """Where the kernel and udev tell of devices; tests put trees of their own in their place."""

    proc: Path = PROC
    sys: Path = SYS
    dev: Path = Path("/dev")


HERE = Machine()


@dataclass(frozen=True)
class Device:
    """A whole disk or a partition, as the kernel describes it.

    `identities` are the names by which `--destroy` may call it: serial number, WWN and by-id
    links; for a loop device its `backing` file. `sequence` is the kernel's count of disks, which
    tells one that came under the same name later. `node` and `disk` are folders of sysfs.
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
        """Name, model and size."""
        model = f", {self.model}" if self.model else ""
        return f"a block device ({self.node.name}{model}, {size_text(self.size_bytes)})"


def block_device(path: Path, machine: Machine = HERE) -> Device:
    """The device behind a node; `path` is no link. Refuses what the kernel does not know."""
    status = os.lstat(path)
    if not stat.S_ISBLK(status.st_mode):
        raise changed(path)
    number = _number(status)
    node = machine.sys / "dev/block" / number
    if not node.exists():
        raise foreign(path, f"a block device that the kernel does not know ({number})")
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
    """Opens the device for nobody else: the kernel grants that only if it is not in use.

    It is in use, here or in another container, by a mount of it or of a partition of it, by swap,
    RAID, LVM, ZFS or another program that opened it in this way.
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
            found = "the kernel or another program holds it for itself alone"
            raise in_use(device.path, found) from None


def refuse_used_device(device: Device, machine: Machine = HERE) -> None:
    """Refuses a device that is mounted, swapped to, held or shared, in itself or in a part."""
    found = list(dict.fromkeys(_uses(device, machine)))
    if found:
        raise in_use(device.path, "; ".join(found))


def refuse_used_file(path: Path, machine: Machine = HERE) -> None:
    """Refuses a regular file that stands behind a loop device or is swapped to."""
    loops = [loop for loop, backing in _loops(machine) if _same(backing, path)]
    found = [f"the loop device {loop} stands on it" for loop in loops]
    if any(_same(swap, path) for swap in swaps(machine.proc)):
        found.append("the kernel swaps to it")
    if found:
        raise in_use(path, "; ".join(found))


def in_use(path: Path, found: str) -> GuardRefusal:
    """The refusal of what somebody uses."""
    return GuardRefusal(
        "this is in use, and not Tameshi's to destroy, whatever --destroy says",
        where=str(path),
        found=found,
        accepted=["what nobody uses"],
        hint="If it may go, give it up yourself (umount, swapoff, vgchange -an, mdadm --stop, "
        "zpool export, losetup -d), then start again.",
    )


def _uses(device: Device, machine: Machine) -> Iterator[str]:
    """Who uses the device, its partitions or, of a partition, the disk as a whole."""
    family = dict(_family(device))
    for mount in mounts(machine.proc):
        # Btrfs mounts under a number of its own; the source is then the device.
        source = Path("/", mount.source)
        number = mount.device if mount.device in family else _node_number(source)
        if number in family:
            yield f"{family[number]} is mounted at {mount.point}"
    for swap in swaps(machine.proc):
        number = _node_number(swap)
        if number in family:
            yield f"the kernel swaps to {family[number]}"
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
            yield f"the loop device {loop} stands on {family[number]}"
        if device.backing and loop != device.disk.name and _same(backing, device.backing):
            yield f"the loop device {loop} stands on the same file {backing}"


def _family(device: Device) -> Iterator[tuple[str, str]]:
    """Number and name of each device whose use is a use of this one."""
    yield device.number, device.node.name
    if device.partition is not None:
        # The other partitions are other people's, and out of this one's reach.
        yield text_in(device.disk / "dev") or "", device.disk.name
        return
    for name in names_in(device.disk):
        if (device.disk / name / "partition").exists():
            yield text_in(device.disk / name / "dev") or "", name


def _identities(
    disk: Path, partition: int | None, number: str, machine: Machine
) -> tuple[str, ...]:
    """Names that go with the device and with no other, wherever it is plugged in.

    A serial number that several disks share (namespaces of one drive, paths to one disk) names
    none of them. A partition is called by its disk's names with `-partN`, as udev does.
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
    """Serial number, WWN and the like of a whole disk; of a loop device, its backing file."""
    files = ("serial", "wwid", "device/serial", "device/wwid", "dm/uuid")
    texts = [text_in(disk / file) or "" for file in files]
    with suppress(OSError):
        # A SCSI disk's page 80 has its serial number after four bytes of its own.
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
    """Each loop device in use, with what it stands on."""
    for disk in _disks(machine):
        backing = _backing(disk)
        if backing:
            yield disk.name, backing


def _backing(disk: Path) -> Path | None:
    text = text_in(disk / "loop/backing_file")
    return Path(text) if text else None


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by whatever names."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return one == other


def _node_number(path: Path) -> str | None:
    """`MAJ:MIN` of the block device that `path` leads to; None if it leads to none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _number(status) if stat.S_ISBLK(status.st_mode) else None


def _number(status: os.stat_result) -> str:
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}"
