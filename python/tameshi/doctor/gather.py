"""Collection of facts: /proc, /sys, installed programs, and probes.

Functions here neither raise nor judge: an unreadable fact is None.
"""

from __future__ import annotations

import os
import platform
import re
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from tameshi.core.environment import PROC, SYS, environment, number_in, text_in
from tameshi.doctor import probes
from tameshi.doctor.facts import Disk, Facts, Ring, Target
from tameshi.servers import slow_clock, sqlite
from tameshi.servers.installed import installed

DEV = Path("/dev")
_CAP_IPC_LOCK, _CAP_SYS_ADMIN = 14, 21


def gather(paths: Sequence[Path], *, proc: Path = PROC, sys: Path = SYS, dev: Path = DEV) -> Facts:
    """Return the facts of this machine and of each path."""
    linux = platform.system() == "Linux"
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    capabilities = _capabilities(proc)
    return Facts(
        system=platform.system(),
        kernel=platform.release(),
        cpus=os.cpu_count() or 1,
        cpu_quota=_cpu_quota(proc, sys),
        virtual_machine=_is_virtual_machine(proc, sys),
        governors=_governors(sys),
        idle_wake_us=_idle_wake_us(sys),
        clock_source=text_in(sys / "devices/system/clocksource/clocksource0/current_clocksource"),
        load=_load(proc),
        memory_bytes=memory.total,
        memory_available=memory.available,
        memory_limit=_memory_limit(proc, sys),
        swap_bytes=swap.total,
        swap_used=swap.used,
        huge_pages=_chosen(text_in(sys / "kernel/mm/transparent_hugepage/enabled")),
        open_files=_limit(resource.RLIMIT_NOFILE),
        locked_memory=_limit(resource.RLIMIT_MEMLOCK),
        may_lock_memory=bool(capabilities >> _CAP_IPC_LOCK & 1),
        may_mount=bool(capabilities >> _CAP_SYS_ADMIN & 1),
        ring=_ring(proc) if linux else Ring(error="ENOSYS"),
        fuse=probes.try_device(dev / "fuse"),
        fuse_ring=text_in(sys / "module/fuse/parameters/enable_uring"),
        loop_control=probes.try_device(dev / "loop-control"),
        loops_free=sum(1 for _ in _free_loops(sys)),
        tun=probes.try_device(dev / "net/tun"),
        programs=(*installed(), *sqlite.driven(), *slow_clock.found()),
        targets=tuple(_target(path, proc, sys, linux) for path in paths),
    )


def _target(path: Path, proc: Path, sys: Path, linux: bool) -> Target:
    known = environment([path], proc=proc, sys=sys)["targets"][str(path)]
    whole_device = probes.is_whole_device(path)
    if linux and not os.path.isdir(os.path.dirname(known["real_path"])):
        return Target(str(path.absolute()), refusal=probes.try_target(path).refusal)
    tried = probes.Tried() if whole_device or not linux else probes.try_target(path)
    free, total = (None, None) if whole_device else _space(Path(known["real_path"]))
    return Target(
        path=str(path.absolute()),
        whole_device=whole_device,
        refusal=tried.refusal,
        direct=tried.direct,
        free_bytes=free,
        total_bytes=total,
        file_system=None if whole_device else known["file_system"],
        mount_point=known["mount_point"],
        options=() if whole_device else tuple(known["mount_options"] or ()),
        disk=_disk(known["device"], sys) if known["device"] else None,
    )


def _space(real: Path) -> tuple[int | None, int | None]:
    """Return free and total bytes of the file system of the path or its nearest parent."""
    for place in (real, *real.parents):
        try:
            room = os.statvfs(place)
        except OSError:
            continue
        return room.f_bavail * room.f_frsize, room.f_blocks * room.f_frsize
    return None, None


def _disk(known: dict[str, Any], sys: Path) -> Disk:
    """Return the disk as `environment` describes it, with more fields for the doctor."""
    node = sys / "block" / str(known["name"]).replace("/", "!")
    same = ("name", "model", "virtual", "backing_file", "rotational", "scheduler", "nomerges")
    return Disk(
        **{fact: known[fact] for fact in (*same, "iostats", "write_cache")},
        members=tuple(known["members"]),
        io_poll=number_in(node / "queue/io_poll"),
        link=_link(node),
        sync_action=text_in(node / "md/sync_action"),
    )


def _link(node: Path) -> tuple[str, str] | None:
    """Return the PCIe link of an NVMe drive: current, and possible for drive and slot."""
    function = node / "device/device"
    speeds = [text_in(function / f"{which}_link_speed") for which in ("current", "max")]
    widths = [text_in(function / f"{which}_link_width") for which in ("current", "max")]
    if None in speeds or None in widths:
        return None
    # A speed reads `8.0 GT/s PCIe`.
    now, most = (
        f"{str(speed).removesuffix(' PCIe')} x{width}"
        for speed, width in zip(speeds, widths, strict=True)
    )
    return now, most


def _ring(proc: Path) -> Ring:
    return probes.try_ring(number_in(proc / "sys/kernel/io_uring_disabled"))


def _governors(sys: Path) -> tuple[str, ...]:
    files = sys.glob("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    return tuple(sorted({text for text in map(text_in, files) if text}))


def _idle_wake_us(sys: Path) -> int | None:
    """Return the wake-up time of the slowest permitted idle state of any CPU."""
    times = [
        number_in(state / "latency") or 0
        for state in sys.glob("devices/system/cpu/cpu[0-9]*/cpuidle/state[0-9]*")
        if number_in(state / "disable") == 0
    ]
    return max(times, default=None)


def _is_virtual_machine(proc: Path, sys: Path) -> bool:
    flags = re.search(r"^flags\s*:.*\bhypervisor\b", text_in(proc / "cpuinfo") or "", re.M)
    vendor = (
        f"{text_in(sys / 'class/dmi/id/sys_vendor')} {text_in(sys / 'class/dmi/id/product_name')}"
    )
    made_up = re.search(r"QEMU|KVM|VMware|VirtualBox|Xen|Virtual Machine", vendor)
    return bool(flags or made_up or text_in(sys / "hypervisor/type"))


def _load(proc: Path) -> float | None:
    match = re.match(r"[\d.]+", text_in(proc / "loadavg") or "")
    return float(match[0]) if match else None


def _capabilities(proc: Path) -> int:
    match = re.search(r"^CapEff:\s*([0-9a-f]+)", text_in(proc / "self/status") or "", re.M)
    return int(match[1], 16) if match else 0


def _groups(proc: Path, sys: Path, controller: str) -> Iterator[Path]:
    """Return the folders of this process's control group and its parents, in either version."""
    for line in (text_in(proc / "self/cgroup") or "").splitlines():
        _, names, path = (*line.split(":", 2), "", "")[:3]
        if names and controller not in names.split(","):
            continue
        base = sys / "fs/cgroup" / (controller if names else "")
        inside = Path(path.lstrip("/"))
        yield from (base / part for part in (inside, *inside.parents))


def _memory_limit(proc: Path, sys: Path) -> int | None:
    limits = [
        limit
        for group in _groups(proc, sys, "memory")
        for name in ("memory.max", "memory.limit_in_bytes")
        if (limit := number_in(group / name)) is not None
    ]
    return min(limits, default=None)


def _cpu_quota(proc: Path, sys: Path) -> float | None:
    """Return the CPU quota of the control groups, in cores."""
    quotas = []
    for group in _groups(proc, sys, "cpu"):
        quota, _, period = (text_in(group / "cpu.max") or "").partition(" ")
        quota = quota or text_in(group / "cpu.cfs_quota_us") or ""
        period = period or text_in(group / "cpu.cfs_period_us") or ""
        if quota.isdigit() and period.isdigit() and int(period):
            quotas.append(int(quota) / int(period))
    return min(quotas, default=None)


def _free_loops(sys: Path) -> Iterator[Path]:
    for node in sys.glob("block/loop[0-9]*"):
        if not os.path.exists(node / "loop/backing_file"):
            yield node


def _limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft


def _chosen(choice: str | None) -> str | None:
    """Return `madvise` of `always [madvise] never`."""
    match = re.search(r"\[(.+?)\]", choice or "")
    return match[1] if match else None
