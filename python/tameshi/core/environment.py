"""Environment of a run: machine, kernel and the block device of each target.

`environment()` gathers `environment.json`; `identity()` is the part that must be unchanged for a
finished run to be reused. An unreadable fact is null. Functions here never raise, so that runs work
on unusual machines.
"""

from __future__ import annotations

import os
import platform
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

PROC = Path("/proc")
SYS = Path("/sys")

# Queue settings that affect a device's response, by their name in /sys/block/NAME/queue.
_QUEUE_NUMBERS = {
    "rotational": "rotational",
    "logical_block_bytes": "logical_block_size",
    "physical_block_bytes": "physical_block_size",
    "requests": "nr_requests",
    "iostats": "iostats",
    "nomerges": "nomerges",
}
_VIRTUAL_NAMES = re.compile(r"(loop|dm|md|zram|ram|nbd|ublkb)[-\d]")


@dataclass(frozen=True)
class Mount:
    """Line of mountinfo: mount point, file system, options, and source (`device` is `MAJ:MIN`)."""

    point: Path
    file_system: str
    options: list[str]
    source: str
    device: str


def environment(targets: Sequence[Path], *, proc: Path = PROC, sys: Path = SYS) -> dict[str, Any]:
    """Return the contents of `environment.json`; sizes in bytes. Never raises: a missing fact is
    null."""
    return {
        "tameshi": tameshi_version(),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "machine": {
            "architecture": platform.machine(),
            "cpu_model": _cpu_model(proc),
            "cpus": os.cpu_count(),
            "cores": psutil.cpu_count(logical=False),
            "memory_bytes": psutil.virtual_memory().total,
            "governor": text_in(sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        },
        "targets": {str(path): _target(Path(path), proc, sys) for path in targets},
    }


def identity(env: dict[str, Any]) -> dict[str, Any]:
    """Return the subset of `environment()` that must not change for finished runs to be reused."""
    machine = env["machine"]
    return {
        "kernel": env["kernel"],
        "cpu_model": machine["cpu_model"],
        "cpus": machine["cpus"],
        "memory_bytes": machine["memory_bytes"],
        "targets": [
            {
                "file_system": target["file_system"],
                "partition": _partition_number(target["partition"]),
                "device": _device_identity(target["device"]),
            }
            for target in env["targets"].values()
        ],
    }


def diskstats_name(path: Path, *, proc: Path = PROC, sys: Path = SYS) -> str | None:
    """Return the name in /proc/diskstats of the whole disk behind `path`; None for tmpfs, NFS and
    the like.

    Targets with the same name share one physical or virtual disk.
    """
    node, _ = _block_node(path, proc, sys)
    # File names in sysfs cannot contain a slash: `cciss/c0d0` becomes `cciss!c0d0`.
    return node.name.replace("!", "/") if node else None


def mounts(proc: Path = PROC) -> list[Mount]:
    """Return the mounts visible to this process, in mount order; empty if unknown."""
    table = []
    for line in (text_in(proc / "self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        fields, rest = before.split(" "), after.split(" ")
        if len(fields) < 6 or len(rest) < 3:
            continue
        options = list(dict.fromkeys(f"{fields[5]},{rest[2]}".split(",")))
        point = Path(unescaped(fields[4]))
        table.append(Mount(point, rest[0], options, unescaped(rest[1]), fields[2]))
    return table


def mount_of(path: Path, proc: Path = PROC) -> Mount | None:
    """Return the mount that holds `path`, which may not exist yet."""
    real = Path(os.path.realpath(path))
    holding = [mount for mount in mounts(proc) if real.is_relative_to(mount.point)]
    # Of equally deep mounts the last covers the others: max() keeps the first that it meets.
    return max(reversed(holding), key=lambda mount: len(mount.point.parts), default=None)


def swaps(proc: Path = PROC) -> list[Path]:
    """Return the devices and files of active swap."""
    lines = (text_in(proc / "swaps") or "").splitlines()[1:]
    return [Path(unescaped(line.split()[0])) for line in lines if line.split()]


def memory_available(proc: Path = PROC, sys: Path = SYS) -> int | None:
    """Return the bytes of memory available without swapping or out-of-memory kills; None if
    unknown.

    Includes the limits of control groups (version 2): a container sees the whole machine's memory,
    but is killed at its own limit.
    """
    match = re.search(r"^MemAvailable:\s*(\d+) kB", text_in(proc / "meminfo") or "", re.M)
    bounds = [int(match[1]) * 1024] if match else []
    member = re.search(r"^0::/(.*)$", text_in(proc / "self/cgroup") or "", re.M)
    group = Path(member[1]) if member else Path()
    for root in (sys / "fs/cgroup", sys / "fs/cgroup/unified"):
        for folder in (root / group, *(root / parent for parent in group.parents)):
            limit, used = number_in(folder / "memory.max"), number_in(folder / "memory.current")
            if limit is not None and used is not None:
                idle = re.search(
                    r"^inactive_file (\d+)", text_in(folder / "memory.stat") or "", re.M
                )
                bounds.append(max(limit - used + (int(idle[1]) if idle else 0), 0))
    return min(bounds, default=None)


def _target(path: Path, proc: Path, sys: Path) -> dict[str, Any]:
    mount = mount_of(path, proc)
    node, partition = _block_node(path, proc, sys)
    return {
        "real_path": os.path.realpath(path),
        "file_system": mount.file_system if mount else None,
        "mount_point": str(mount.point) if mount else None,
        "mount_options": mount.options if mount else None,
        "mount_source": mount.source if mount else None,
        "partition": partition,
        "device": _device(node) if node else None,
    }


def logical_block_bytes(path: Path, *, proc: Path = PROC, sys: Path = SYS) -> int | None:
    """Return the sector of the disk below a path, which may not exist yet; None if unknown."""
    node, _ = _block_node(path, proc, sys)
    return number_in(node / "queue" / _QUEUE_NUMBERS["logical_block_bytes"]) if node else None


def _device(node: Path) -> dict[str, Any]:
    """Return sysfs facts on the whole disk at `node`."""
    queue = node / "queue"
    sectors = number_in(node / "size")
    facts: dict[str, Any] = {
        "name": node.name.replace("!", "/"),
        "model": text_in(node / "device/model"),
        "serial": _first_text(node / "serial", node / "device/serial", node / "device/wwid"),
        "firmware": _first_text(node / "device/firmware_rev", node / "device/rev"),
        "size_bytes": None if sectors is None else sectors * 512,
        "virtual": _virtual(node),
        "backing_file": text_in(node / "loop/backing_file"),
        "members": names_in(node / "slaves"),
        "scheduler": _chosen(text_in(queue / "scheduler")),
        "write_cache": text_in(queue / "write_cache"),
    }
    return facts | {fact: number_in(queue / name) for fact, name in _QUEUE_NUMBERS.items()}


def _device_identity(device: dict[str, Any] | None) -> dict[str, Any] | None:
    if device is None:
        return None
    # A name such as sda may change at boot; it identifies a disk only without a better name.
    kept = ["model", "serial", "firmware", "size_bytes", "virtual", "rotational"]
    if device["serial"] is None:
        kept.append("name")
    return {fact: device[fact] for fact in kept}


def _partition_number(partition: str | None) -> int | None:
    match = re.search(r"\d+$", partition or "")
    return int(match[0]) if match else None


def _block_node(path: Path, proc: Path, sys: Path) -> tuple[Path | None, str | None]:
    """Return the sysfs folder of the whole disk behind `path`, and the partition's name, if any.

    Btrfs and ZFS files have an anonymous device number; the source of the mount is used instead.
    """
    candidates = [_device_number(path)]
    mount = mount_of(path, proc)
    if mount and mount.source.startswith("/dev/"):
        candidates.append(_device_number(Path(mount.source)))
    for number in candidates:
        node = sys / "dev/block" / number if number else None
        if node and node.exists():
            real = node.resolve()
            return (real.parent, real.name) if (real / "partition").exists() else (real, None)
    return None, None


def _device_number(path: Path) -> str | None:
    """Return `MAJ:MIN` of a block device, or of the file system that holds (or will hold)
    `path`."""
    real = Path(os.path.realpath(path))
    for place in (real, *real.parents):
        try:
            status = os.stat(place)
        except OSError:
            continue
        number = status.st_rdev if stat.S_ISBLK(status.st_mode) else status.st_dev
        return f"{os.major(number)}:{os.minor(number)}"
    return None


def _virtual(node: Path) -> str | None:
    """Return the kind of virtual device (`virtio`, `loop`, `dm`, …); None for hardware."""
    named = _VIRTUAL_NAMES.match(node.name)
    if named:
        return named[1]
    return "virtio" if any(part.startswith("virtio") for part in node.parts) else None


def _cpu_model(proc: Path) -> str | None:
    match = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text_in(proc / "cpuinfo") or "", re.M)
    return match[1].strip() if match else None


def tameshi_version() -> str | None:
    """Return the version of the installed package; None if it is not installed."""
    try:
        return metadata.version("tameshi")
    except metadata.PackageNotFoundError:
        return None


def _chosen(scheduler: str | None) -> str | None:
    """Return `kyber` of `none [kyber] bfq`."""
    match = re.search(r"\[(.+?)\]", scheduler or "")
    return match[1] if match else scheduler


def unescaped(field: str) -> str:
    """Return a path without octal escapes of space, tab, newline and backslash."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), field)


def names_in(folder: Path) -> list[str]:
    """Return the sorted names in a folder; empty if it is unreadable."""
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def text_in(path: Path) -> str | None:
    """Return a small file's stripped text; None if empty or unreadable."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _first_text(*paths: Path) -> str | None:
    return next((text for text in map(text_in, paths) if text), None)


def number_in(path: Path) -> int | None:
    """Return the number in a small file, or None."""
    text = text_in(path)
    return int(text) if text and text.isdigit() else None
