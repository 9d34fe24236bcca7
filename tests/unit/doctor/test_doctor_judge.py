"""Every outcome of every check, from fictitious facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tameshi.doctor.facts import Disk, Facts, Ring, Target
from tameshi.doctor.judge import Check, Diagnosis, judge
from tameshi.doctor.table import CHECKS
from tameshi.servers.installed import Program

GIB = 1 << 30
DISK = Disk("nvme0n1", model="Fast Drive", rotational=0, scheduler="none", io_poll=1)
DISK = replace(DISK, nomerges=0, iostats=1, write_cache="write back", link=("8 x4", "8 x4"))
TARGET = Target(
    "/data",
    direct=True,
    free_bytes=500 * GIB,
    total_bytes=1000 * GIB,
    file_system="ext4",
    mount_point="/data",
    options=("rw", "noatime"),
    disk=DISK,
)
GOOD = Facts(
    kernel="6.12",
    cpus=8,
    governors=("performance",),
    idle_wake_us=2,
    clock_source="tsc",
    load=0.1,
    memory_bytes=64 * GIB,
    memory_available=60 * GIB,
    huge_pages="madvise",
    may_mount=True,
    fuse_ring="Y",
    loops_free=8,
    programs=tuple(
        Program(name, "1.2", f"/usr/sbin/{name}")
        for name in (
            *("mariadb", "mysql", "postgres", "sqlite"),
            *("fio", "sysbench", "xfsprogs", "libfaketime"),
        )
    ),
    targets=(TARGET,),
)


def disk(**facts: Any) -> dict[str, Any]:
    return target(disk=replace(DISK, **facts))


def target(**facts: Any) -> dict[str, Any]:
    return {"targets": (replace(TARGET, **facts),)}


def options(*names: str) -> dict[str, Any]:
    return target(options=("rw", "noatime", *names))


BOTH = {"targets": (TARGET, replace(TARGET, path="/other"))}
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("machine.system", "linux", {}),
    ("machine.system", "other", {"system": "Darwin"}),
    ("machine.cores", "enough", {}),
    ("machine.cores", "one", {"cpus": 1}),
    ("machine.cores", "throttled", {"cpu_quota": 1.5}),
    ("machine.cores", "enough", {"cpu_quota": 8.0}),
    ("machine.kind", "physical", {}),
    ("machine.kind", "virtual", {"virtual_machine": True}),
    ("machine.load", "quiet", {}),
    ("machine.load", "busy", {"load": 2.5}),
    ("machine.load", "quiet", {"load": 0.9, "cpus": 1}),
    ("machine.governor", "performance", {}),
    ("machine.governor", "hidden", {"governors": ()}),
    ("machine.governor", "saving", {"governors": ("performance", "powersave")}),
    ("machine.idle", "shallow", {}),
    ("machine.idle", "hidden", {"idle_wake_us": None}),
    ("machine.idle", "deep", {"idle_wake_us": 133}),
    ("machine.clock", "fast", {}),
    ("machine.clock", "slow", {"clock_source": "hpet"}),
    ("memory.amount", "enough", {}),
    ("memory.amount", "enough", {"memory_limit": 1 << 62}),
    ("memory.amount", "little", {"memory_available": GIB // 2}),
    ("memory.amount", "limited", {"memory_limit": 8 * GIB}),
    ("memory.swap", "none", {}),
    ("memory.swap", "unused", {"swap_bytes": GIB}),
    ("memory.swap", "used", {"swap_bytes": GIB, "swap_used": 4096}),
    ("memory.huge_pages", "asked", {}),
    ("memory.huge_pages", "hidden", {"huge_pages": None}),
    ("memory.huge_pages", "always", {"huge_pages": "always"}),
    ("limit.open_files", "unlimited", {}),
    ("limit.open_files", "enough", {"open_files": 4096}),
    ("limit.open_files", "few", {"open_files": 1024}),
    ("limit.locked_memory", "unlimited", {}),
    ("limit.locked_memory", "enough", {"locked_memory": GIB}),
    ("limit.locked_memory", "little", {"locked_memory": 8 << 20}),
    ("limit.locked_memory", "exempt", {"locked_memory": 8 << 20, "may_lock_memory": True}),
    ("io.uring", "works", {}),
    ("io.uring", "disabled", {"ring": Ring("EPERM", setting=2)}),
    ("io.uring", "forbidden", {"ring": Ring("EPERM", setting=0)}),
    ("io.uring", "forbidden", {"ring": Ring("EACCES")}),
    ("io.uring", "failed", {"ring": Ring("ENOSYS")}),
    ("io.uring", "old", {"ring": Ring(lacking=("waits with a timeout",))}),
    ("io.fuse", "works", {}),
    ("io.fuse", "works", {"may_mount": False}),
    ("io.fuse", "absent", {"fuse": "ENOENT"}),
    ("io.fuse", "forbidden", {"fuse": "EACCES"}),
    ("io.fuse_ring", "on", {}),
    ("io.fuse_ring", "off", {"fuse_ring": "N"}),
    ("io.fuse_ring", "absent", {"fuse_ring": None}),
    ("io.tun", "works", {}),
    ("io.tun", "absent", {"tun": "ENOENT"}),
    ("io.tun", "forbidden", {"tun": "EACCES"}),
    ("io.serve", "works", {}),
    ("io.serve", "no_rights", {"may_mount": False}),
    ("io.serve", "no_ring", {"ring": Ring("EPERM", setting=2)}),
    ("io.serve", "no_ring", {"ring": Ring(lacking=("waits with a timeout",))}),
    ("io.loop", "works", {}),
    ("io.loop", "absent", {"loop_control": "ENOENT"}),
    ("io.loop", "forbidden", {"loop_control": "EPERM"}),
    *((key, "found", {}) for key in CHECKS if key.startswith(("server.", "tool."))),
    *((key, "absent", {"programs": ()}) for key in CHECKS if key.startswith(("server.", "tool."))),
    ("target.place", "allowed", {}),
    ("target.place", "refused", target(refusal="no permission")),
    ("target.place", "whole_device", target(whole_device=True, direct=None)),
    ("target.direct", "works", {}),
    ("target.direct", "absent", target(direct=False)),
    ("target.space", "enough", {}),
    ("target.space", "little", target(free_bytes=GIB)),
    ("target.space", "full", target(free_bytes=99 * GIB)),
    ("target.file_system", "plain", {}),
    ("target.file_system", "plain", target(file_system="fuseless")),
    ("target.file_system", "unknown", target(file_system=None)),
    ("target.file_system", "memory", target(file_system="tmpfs")),
    ("target.file_system", "remote", target(file_system="nfs4")),
    ("target.file_system", "remote", target(file_system="fuse.sshfs")),
    ("target.file_system", "layered", target(file_system="overlay")),
    ("target.file_system", "copying", target(file_system="btrfs")),
    ("target.mount", "plain", {}),
    ("target.mount", "plain", target(options=("rw", "relatime", "nodiscard", "compress=no"))),
    ("target.mount", "plain", target(options=())),
    ("target.mount", "no_barrier", options("nobarrier")),
    ("target.mount", "no_barrier", options("barrier=0")),
    ("target.mount", "sync", options("sync")),
    ("target.mount", "journal", options("data=journal")),
    ("target.mount", "compress", options("compress=zstd:3")),
    ("target.mount", "atime", target(options=("rw",))),
    ("target.mount", "discard", options("discard=async")),
    ("disk.kind", "flash", {}),
    ("disk.kind", "rotating", disk(rotational=1)),
    ("disk.kind", "virtual", disk(name="vda", virtual="virtio")),
    ("disk.kind", "virtual", disk(name="xvda")),
    ("disk.kind", "virtual", disk(model="QEMU HARDDISK")),
    ("disk.kind", "virtual", disk(virtual="nbd")),
    ("disk.kind", "loop", disk(name="loop3", virtual="loop", backing_file="/tmp/image")),
    ("disk.kind", "memory", disk(name="zram0", virtual="zram")),
    ("disk.kind", "stacked", disk(name="md0", virtual="md", members=("sda", "sdb"))),
    ("disk.kind", "none", target(disk=None)),
    ("disk.shared", "alone", {}),
    ("disk.shared", "shared", BOTH),
    ("disk.scheduler", "fits", {}),
    ("disk.scheduler", "fits", disk(rotational=1, scheduler="mq-deadline")),
    ("disk.scheduler", "fits", disk(virtual="virtio", scheduler="mq-deadline")),
    ("disk.scheduler", "hidden", disk(scheduler=None)),
    ("disk.scheduler", "bfq", disk(scheduler="bfq")),
    ("disk.scheduler", "sorting", disk(scheduler="mq-deadline")),
    ("disk.poll", "on", {}),
    ("disk.poll", "off", disk(io_poll=0)),
    ("disk.poll", "off", disk(name="vda", virtual="virtio", io_poll=0)),
    ("disk.statistics", "on", {}),
    ("disk.statistics", "off", disk(iostats=0)),
    ("disk.merges", "on", {}),
    ("disk.merges", "off", disk(nomerges=2)),
    ("disk.write_cache", "back", {}),
    ("disk.write_cache", "through", disk(write_cache="write through")),
    ("disk.write_cache", "claimed", disk(write_cache="write through", virtual="virtio")),
    ("disk.link", "full", {}),
    ("disk.link", "reduced", disk(link=("8 x2", "16 x4"))),
    ("disk.sync", "idle", disk(virtual="md", sync_action="idle")),
    ("disk.sync", "busy", disk(virtual="md", sync_action="resync")),
]


def checks(diagnosis: Diagnosis, key: str) -> list[Check]:
    return [check for check in diagnosis.checks if check.key == key]


@pytest.mark.parametrize("lang", ["en", "ja"])
@pytest.mark.parametrize(("key", "outcome", "facts"), CASES)
def test_facts_lead_to_their_outcome(
    key: str, outcome: str, facts: dict[str, Any], lang: str
) -> None:
    found = checks(judge(replace(GOOD, **facts), lang), key)
    assert {check.outcome for check in found} == {outcome}
    assert all("{" not in check.found + check.remedy for check in found)
    assert all(check.found and "None" not in check.found for check in found)


def test_every_outcome_has_a_case() -> None:
    cases = {(key, outcome) for key, outcome, _ in CASES}
    assert cases == {(key, name) for key, entry in CHECKS.items() for name in entry.outcomes}


def test_good_machine_has_no_warning() -> None:
    diagnosis = judge(GOOD)
    assert {check.state for check in diagnosis.checks} == {"ok"}
    assert diagnosis.exit_status == 0
    assert all(diagnosis.can(world) for world in ("simulated", "emulated", "measured"))


def test_only_obstacles_to_measuring_set_the_exit_status() -> None:
    bare = Facts(memory_bytes=GIB, ring=Ring("ENOSYS"), fuse="ENOENT", loop_control="ENOENT")
    assert judge(bare).exit_status == 0
    assert not judge(bare).can("emulated") and judge(bare).can("simulated")
    for stopped in (
        replace(GOOD, system="Darwin"),
        replace(GOOD, targets=(TARGET, replace(TARGET, refusal="no"))),
    ):
        assert judge(stopped).exit_status == 1
        assert judge(stopped).can("simulated")


def test_missing_path_has_one_check() -> None:
    diagnosis = judge(replace(GOOD, targets=(Target("/nope/x", refusal="no such directory"),)))
    assert [check.key for check in diagnosis.checks if check.subject] == ["target.place"]


def test_refused_target_shares_no_disk() -> None:
    refused = replace(TARGET, path="/etc/passwd", refusal="not ours")
    (first, _) = checks(judge(replace(GOOD, targets=(TARGET, refused))), "disk.shared")
    assert first.outcome == "alone"


def test_several_mount_options_are_several_checks() -> None:
    found = checks(judge(replace(GOOD, **options("nobarrier", "discard"))), "target.mount")
    assert [check.outcome for check in found] == ["no_barrier", "discard"]
    assert found[1].remedy.startswith("mount -o remount,nodiscard /data")


def test_remedies_name_the_disk_at_hand() -> None:
    facts = replace(GOOD, **disk(name="cciss/c0d0", scheduler="bfq", rotational=1))
    (found,) = checks(judge(facts), "disk.scheduler")
    assert found.remedy == "echo mq-deadline > /sys/block/cciss!c0d0/queue/scheduler"
