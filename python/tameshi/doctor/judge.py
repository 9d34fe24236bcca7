"""Checks from facts, as pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tameshi.core.exit_status import ExitStatus
from tameshi.doctor.facts import Disk, Facts, Target
from tameshi.doctor.table import CHECKS, LANGUAGES, State

GIB = 1 << 30
LITTLE_MEMORY = 1 * GIB
LITTLE_SPACE = 2 * GIB
FULL_PERCENT = 90
FEW_FILES, WANTED_FILES = 4096, 65536
# 256 outstanding requests of 1 MiB, with room for a second stream.
WANTED_LOCKED = 512 << 20
DEEP_IDLE_US = 20
BUSY_PER_CPU = 0.25

_SLOW_CLOCKS = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"}
_MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs", "devtmpfs"}
_REMOTE_FILE_SYSTEMS = {
    *("nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph", "glusterfs", "lustre", "gpfs"),
    *("beegfs", "afs", "orangefs", "vboxsf", "fuse", "fuseblk"),
}
_COPYING_FILE_SYSTEMS = {"btrfs", "zfs", "bcachefs", "nilfs2", "f2fs"}
_MADE_UP_MODEL = re.compile(
    r"QEMU|VMware|VBOX|Virtual|Msft|Amazon Elastic|PersistentDisk|nvme_card|Google|Xen", re.I
)
_MEMORY_DISKS = {"zram", "ram"}
_STACKED = {"dm", "md"}
# Outcomes by the start of a mount option, most severe first.
_OPTIONS = (
    ("no_barrier", re.compile(r"nobarrier|barrier=(?:0|none|off)")),
    ("sync", re.compile(r"sync|dirsync")),
    ("journal", re.compile(r"data=journal")),
    ("compress", re.compile(r"compress(?:-force)?(?:=(?!no\b).*)?")),
    ("atime", re.compile(r"strictatime")),
    ("discard", re.compile(r"discard(?:=.*)?")),
)


@dataclass(frozen=True)
class Check:
    """Result of one check, in the requested language, with its remedy.

    `key` and `outcome` are names in the table; `subject` is the target's path, or empty for the
    machine. `stops` names those of `worlds` that cannot run.
    """

    key: str
    outcome: str
    subject: str
    worlds: tuple[str, ...]
    stops: tuple[str, ...]
    state: State
    label: str
    found: str
    remedy: str


@dataclass(frozen=True)
class Diagnosis:
    """All checks: the machine's first, then each target's."""

    lang: str
    checks: tuple[Check, ...]

    def can(self, world: str) -> bool:
        """Return whether nothing essential to this world is missing."""
        return not self.stopping(world)

    def stopping(self, world: str) -> list[Check]:
        """Return the checks that prevent runs in this world."""
        return [check for check in self.checks if world in check.stops]

    def to_heed(self, world: str) -> int:
        """Return the number of warnings for this world."""
        return sum(world in check.worlds and check.state == "warning" for check in self.checks)

    @property
    def exit_status(self) -> int:
        """Return 0 if the measured world can run, else 1."""
        return ExitStatus.DONE if self.can("measured") else ExitStatus.FAILED


@dataclass(frozen=True)
class Finding:
    """Outcome of a check without words; `fields` fill its texts."""

    key: str
    outcome: str
    fields: dict[str, str | int]


def judge(facts: Facts, lang: str = "en") -> Diagnosis:
    """Return the checks that these facts allow, in words."""
    said = [("", finding) for finding in (*_machine(facts), *_means(facts))]
    for target in facts.targets:
        said += [(target.path, finding) for finding in _target(target, facts.targets)]
    return Diagnosis(lang, tuple(_in_words(subject, finding, lang) for subject, finding in said))


def _in_words(subject: str, finding: Finding, lang: str) -> Check:
    column = LANGUAGES.index(lang)
    entry = CHECKS[finding.key]
    outcome = entry.outcomes[finding.outcome]
    return Check(
        key=finding.key,
        outcome=finding.outcome,
        subject=subject,
        worlds=entry.worlds,
        stops=outcome.stops,
        state=outcome.state,
        label=entry.label[column],
        found=outcome.found[column].format(**finding.fields),
        remedy=outcome.remedy[column].format(**finding.fields),
    )


def size_text(count: int) -> str:
    """Format a number of bytes."""
    for unit, each in (("TiB", 1 << 40), ("GiB", GIB), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= each:
            return f"{count / each:.1f} {unit}"
    return f"{count} B"


def _finding(key: str, outcome: str, **fields: str | int) -> Finding:
    return Finding(key, outcome, fields)


def _machine(facts: Facts) -> Iterator[Finding]:
    linux = facts.system == "Linux"
    yield _finding(
        "machine.system",
        "linux" if linux else "other",
        system=facts.system,
        kernel=facts.kernel,
    )
    yield _cores(facts)
    yield _finding("machine.kind", "virtual" if facts.virtual_machine else "physical")
    if facts.load is not None:
        busy = facts.load > max(1.0, facts.cpus * BUSY_PER_CPU)
        load = f"{facts.load:.1f}"
        yield _finding("machine.load", "busy" if busy else "quiet", load=load, cpus=facts.cpus)
    yield _governor(facts)
    yield _idle(facts)
    if facts.clock_source:
        slow = facts.clock_source in _SLOW_CLOCKS
        yield _finding("machine.clock", "slow" if slow else "fast", clock=facts.clock_source)
    yield _memory(facts)
    yield _swap(facts)
    pages = facts.huge_pages
    outcome = "hidden" if pages is None else "always" if pages == "always" else "asked"
    yield _finding("memory.huge_pages", outcome, setting=pages or "")
    yield _open_files(facts)
    yield _locked_memory(facts)


def _cores(facts: Facts) -> Finding:
    if facts.cpu_quota is not None and facts.cpu_quota < facts.cpus:
        quota = f"{facts.cpu_quota:g}"
        return _finding("machine.cores", "throttled", cpus=facts.cpus, quota=quota)
    return _finding("machine.cores", "enough" if facts.cpus > 1 else "one", cpus=facts.cpus)


def _governor(facts: Facts) -> Finding:
    if not facts.governors:
        return _finding("machine.governor", "hidden")
    saving = [governor for governor in facts.governors if governor != "performance"]
    outcome = "saving" if saving else "performance"
    return _finding("machine.governor", outcome, governor=", ".join(saving))


def _idle(facts: Facts) -> Finding:
    if facts.idle_wake_us is None:
        return _finding("machine.idle", "hidden")
    outcome = "deep" if facts.idle_wake_us > DEEP_IDLE_US else "shallow"
    return _finding("machine.idle", outcome, us=facts.idle_wake_us)


def _memory(facts: Facts) -> Finding:
    fields = {
        "available": size_text(facts.memory_available),
        "total": size_text(facts.memory_bytes),
        "wanted": size_text(LITTLE_MEMORY),
    }
    if facts.memory_available < LITTLE_MEMORY:
        return _finding("memory.amount", "little", **fields)
    if facts.memory_limit is not None and facts.memory_limit < facts.memory_bytes:
        return _finding("memory.amount", "limited", limit=size_text(facts.memory_limit), **fields)
    return _finding("memory.amount", "enough", **fields)


def _swap(facts: Facts) -> Finding:
    outcome = "used" if facts.swap_used else "unused" if facts.swap_bytes else "none"
    used, total = size_text(facts.swap_used), size_text(facts.swap_bytes)
    return _finding("memory.swap", outcome, used=used, total=total)


def _open_files(facts: Facts) -> Finding:
    limit = facts.open_files
    if limit is None:
        return _finding("limit.open_files", "unlimited")
    outcome = "enough" if limit >= FEW_FILES else "few"
    return _finding("limit.open_files", outcome, limit=limit, wanted=WANTED_FILES)


def _locked_memory(facts: Facts) -> Finding:
    limit = facts.locked_memory
    if limit is None:
        return _finding("limit.locked_memory", "unlimited")
    enough = "enough" if limit >= WANTED_LOCKED else "little"
    outcome = "exempt" if facts.may_lock_memory else enough
    fields: dict[str, str | int] = {"limit": size_text(limit), "wanted": WANTED_LOCKED // 1024}
    return _finding("limit.locked_memory", outcome, **fields)


def _means(facts: Facts) -> Iterator[Finding]:
    """Check the interfaces, servers and tools of a world."""
    yield _ring(facts)
    yield _fuse(facts)
    refusal = facts.loop_control
    outcome = "works" if refusal is None else "absent" if _is_absent(refusal) else "forbidden"
    yield _finding("io.loop", outcome, free=facts.loops_free, error=refusal or "")
    yield _fuse_ring(facts)
    yield _tun(facts)
    yield _serve(facts)
    for product in ("mariadb", "mysql", "postgres", "sqlite"):
        yield _programs(facts, f"server.{product}", product)
    for tool in ("fio", "sysbench", "xfsprogs", "libfaketime"):
        yield _programs(facts, f"tool.{tool}", tool)


def _ring(facts: Facts) -> Finding:
    ring = facts.ring
    if ring.error is None:
        lacking = ", ".join(ring.lacking)
        return _finding("io.uring", "old" if lacking else "works", lacking=lacking)
    if ring.error in ("EPERM", "EACCES"):
        outcome = "disabled" if ring.setting else "forbidden"
    else:
        outcome = "failed"
    return _finding("io.uring", outcome, error=ring.error, setting=ring.setting or 0)


def _fuse(facts: Facts) -> Finding:
    if facts.fuse is not None:
        outcome = "absent" if _is_absent(facts.fuse) else "forbidden"
        return _finding("io.fuse", outcome, error=facts.fuse)
    return _finding("io.fuse", "works")


def _tun(facts: Facts) -> Finding:
    if facts.tun is not None:
        outcome = "absent" if _is_absent(facts.tun) else "forbidden"
        return _finding("io.tun", outcome, error=facts.tun)
    return _finding("io.tun", "works")


def _fuse_ring(facts: Facts) -> Finding:
    if facts.fuse_ring is None:
        return _finding("io.fuse_ring", "absent")
    return _finding("io.fuse_ring", "on" if facts.fuse_ring == "Y" else "off")


def _serve(facts: Facts) -> Finding:
    if not facts.may_mount:
        return _finding("io.serve", "no_rights")
    ring = facts.ring
    why = ring.error or ", ".join(ring.lacking)
    return _finding("io.serve", "no_ring" if why else "works", error=why)


def _is_absent(refusal: str) -> bool:
    return refusal in ("ENOENT", "ENODEV", "ENXIO", "ENOTDIR")


def _programs(facts: Facts, key: str, product: str) -> Finding:
    programs = [p for p in facts.programs if p.product == product]
    versions = ", ".join(f"{program.version} ({program.path})" for program in programs)
    return _finding(key, "found" if programs else "absent", versions=versions)


def _target(target: Target, all_targets: Sequence[Target]) -> Iterator[Finding]:
    if target.refusal is not None:
        yield _finding("target.place", "refused", why=target.refusal)
        if target.file_system is None:
            return  # Without such a place there is nothing to check.
    else:
        yield _finding("target.place", "whole_device" if target.whole_device else "allowed")
    if target.direct is not None:
        outcome = "works" if target.direct else "absent"
        yield _finding("target.direct", outcome, file_system=target.file_system or "?")
    if not target.whole_device:
        yield from _space(target)
        yield _file_system(target)
        yield from _mount(target)
    if target.disk is None:
        if target.file_system not in _MEMORY_FILE_SYSTEMS:
            yield _finding("disk.kind", "none")
    else:
        yield from _disk(target.disk)
        yield _shared(target, all_targets)


def _space(target: Target) -> Iterator[Finding]:
    if target.free_bytes is None or not target.total_bytes:
        return
    percent = 100 - 100 * target.free_bytes // target.total_bytes
    little, full = target.free_bytes < LITTLE_SPACE, percent >= FULL_PERCENT
    yield _finding(
        "target.space",
        "little" if little else "full" if full else "enough",
        free=size_text(target.free_bytes),
        total=size_text(target.total_bytes),
        percent=percent,
    )


def _file_system(target: Target) -> Finding:
    name = target.file_system
    if name is None:
        return _finding("target.file_system", "unknown")
    outcome = "plain"
    if name in _MEMORY_FILE_SYSTEMS:
        outcome = "memory"
    elif name in _REMOTE_FILE_SYSTEMS or name.startswith("fuse."):
        outcome = "remote"
    elif name in ("overlay", "aufs"):
        outcome = "layered"
    elif name in _COPYING_FILE_SYSTEMS:
        outcome = "copying"
    return _finding("target.file_system", outcome, file_system=name)


def _mount(target: Target) -> Iterator[Finding]:
    """Yield a finding per kind of disturbing mount option, or one that all is well."""
    quiet = True
    stated = list(target.options)
    if stated and not {"noatime", "relatime", "ro"} & set(stated):
        stated.append("strictatime")  # The kernel lists only deviations from this default.
    for outcome, pattern in _OPTIONS:
        options = ", ".join(option for option in stated if pattern.fullmatch(option))
        if options:
            quiet = False
            point = target.mount_point or "MOUNTPOINT"
            yield _finding("target.mount", outcome, option=options, mount_point=point)
    if quiet:
        yield _finding("target.mount", "plain")


def _disk(disk: Disk) -> Iterator[Finding]:
    node = disk.name.replace("/", "!")
    made_up = _made_up(disk)
    yield _kind(disk, made_up)
    yield _scheduler(disk, made_up, node)
    driver = "virtio_blk" if disk.virtual == "virtio" and node.startswith("vd") else "nvme"
    if disk.io_poll is not None and (driver != "nvme" or node.startswith("nvme")):
        yield _finding("disk.poll", "on" if disk.io_poll else "off", driver=driver)
    if disk.iostats is not None:
        yield _finding("disk.statistics", "on" if disk.iostats else "off", node=node)
    if disk.nomerges is not None:
        outcome = "off" if disk.nomerges else "on"
        yield _finding("disk.merges", outcome, node=node, setting=disk.nomerges)
    if disk.write_cache is not None:
        through = "claimed" if made_up else "through"
        yield _finding("disk.write_cache", "back" if disk.write_cache == "write back" else through)
    if disk.link is not None:
        now, most = disk.link
        yield _finding("disk.link", "full" if now == most else "reduced", now=now, most=most)
    if disk.sync_action is not None:
        outcome = "idle" if disk.sync_action == "idle" else "busy"
        yield _finding("disk.sync", outcome, action=disk.sync_action)


def _made_up(disk: Disk) -> str | None:
    """Return the kind of virtual disk that a host provides here, if any."""
    if disk.virtual is None and disk.name.startswith("xvd"):
        return "xen"
    if disk.virtual is None and _MADE_UP_MODEL.search(disk.model or ""):
        return disk.model
    others = {*_MEMORY_DISKS, *_STACKED, "loop"}
    return disk.virtual if disk.virtual not in others else None


def _kind(disk: Disk, made_up: str | None) -> Finding:
    if made_up is not None:
        return _finding("disk.kind", "virtual", name=disk.name, kind=made_up)
    kind = disk.virtual or ""
    if kind in _MEMORY_DISKS:
        return _finding("disk.kind", "memory", name=disk.name, kind=kind)
    if kind == "loop":
        return _finding("disk.kind", "loop", name=disk.name, file=disk.backing_file or "?")
    if kind in _STACKED:
        members = ", ".join(disk.members) or "?"
        return _finding("disk.kind", "stacked", name=disk.name, kind=kind, members=members)
    outcome = "rotating" if disk.rotational else "flash"
    return _finding("disk.kind", outcome, name=disk.name, model=disk.model or "?")


def _scheduler(disk: Disk, made_up: str | None, node: str) -> Finding:
    # Virtual disks report rotational by default, which means nothing.
    flash = disk.rotational == 0 and made_up is None and disk.virtual is None
    if disk.scheduler is None:
        outcome = "hidden"
    elif disk.scheduler == "bfq":
        outcome = "bfq"
    else:
        outcome = "sorting" if flash and disk.scheduler != "none" else "fits"
    fields: dict[str, str | int] = {"scheduler": disk.scheduler or "", "node": node}
    better = "none" if flash else "mq-deadline"
    return _finding("disk.scheduler", outcome, better=better, **fields)


def _shared(target: Target, all_targets: Iterable[Target]) -> Finding:
    name = target.disk.name if target.disk else ""
    others = [
        other.path
        for other in all_targets
        if other is not target and not other.refusal and other.disk and other.disk.name == name
    ]
    outcome = "shared" if others else "alone"
    return _finding("disk.shared", outcome, name=name, others=", ".join(others))
