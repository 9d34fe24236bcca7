"""Environment of a run: readable facts, null for others, no exceptions."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tameshi.core.environment import diskstats_name, environment, identity, mount_of, mounts


def test_the_environment_of_this_machine_is_plain_json(tmp_path: Path) -> None:
    found = environment([tmp_path, tmp_path / "not" / "there"])
    assert json.loads(json.dumps(found)) == found
    assert found["machine"]["memory_bytes"] > 0 and found["machine"]["cpus"] > 0
    assert found["kernel"] == os.uname().release
    assert len(found["targets"]) == 2
    here, there = found["targets"].values()
    assert here["file_system"] == there["file_system"] != ""
    assert here["device"] == there["device"]


def test_memory_and_kernel_file_systems_have_no_device() -> None:
    proc = environment([Path("/proc/self")])["targets"]["/proc/self"]
    assert (proc["file_system"], proc["device"]) == ("proc", None)
    assert diskstats_name(Path("/proc/self")) is None


def test_nothing_readable_gives_nulls(tmp_path: Path) -> None:
    found = environment([tmp_path], proc=tmp_path / "none", sys=tmp_path / "none")
    target = found["targets"][str(tmp_path)]
    assert target["file_system"] is target["device"] is found["machine"]["cpu_model"] is None
    assert identity(found)["targets"] == [{"file_system": None, "partition": None, "device": None}]


@pytest.fixture
def fake(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Make a target, with a /proc and /sys that place it on the first partition of a flash
    drive."""
    target = tmp_path / "a target"
    target.mkdir()
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    (proc / "self").mkdir(parents=True)
    point = str(target).replace(" ", "\\040")
    (proc / "self" / "mountinfo").write_text(
        "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
        f"30 22 0:99 / {point} rw,noatime shared:1 - tmpfs hidden rw\n"
        f"31 22 0:50 / {point} rw,noatime shared:1 - btrfs /dev/nvme0n1p1 rw,ssd,noatime\n"
        "nonsense\n"
    )
    disk = sys / "devices" / "pci" / "nvme0" / "nvme0n1"
    for path, text in {
        "size": "2000",
        "device/model": "Fast Drive  \n",
        "device/serial": " S123 ",
        "device/firmware_rev": "1.0",
        "queue/scheduler": "[none] mq-deadline",
        "queue/rotational": "0",
        "queue/logical_block_size": "512",
        "queue/write_cache": "write back",
        "queue/nr_requests": "1023",
        "nvme0n1p1/partition": "1",
    }.items():
        (disk / path).parent.mkdir(parents=True, exist_ok=True)
        (disk / path).write_text(text)
    number = target.stat().st_dev
    (sys / "dev" / "block").mkdir(parents=True)
    link = sys / "dev" / "block" / f"{os.major(number)}:{os.minor(number)}"
    link.symlink_to(disk / "nvme0n1p1")
    return target, proc, sys


def test_a_partition_leads_to_its_disk_and_the_disks_facts(fake: tuple[Path, Path, Path]) -> None:
    target, proc, sys = fake
    facts = environment([target], proc=proc, sys=sys)["targets"][str(target)]
    assert (facts["file_system"], facts["partition"]) == ("btrfs", "nvme0n1p1")
    assert facts["mount_options"] == ["rw", "noatime", "ssd"]
    device = facts["device"]
    expected = {
        "name": "nvme0n1",
        "model": "Fast Drive",
        "serial": "S123",
        "size_bytes": 1024000,
        "virtual": None,
        "scheduler": "none",
        "rotational": 0,
        "logical_block_bytes": 512,
        "physical_block_bytes": None,
        "write_cache": "write back",
        "requests": 1023,
    }
    assert {fact: device[fact] for fact in expected} == expected
    assert diskstats_name(target, proc=proc, sys=sys) == "nvme0n1"


def test_last_mount_on_one_point_counts(fake: tuple[Path, Path, Path]) -> None:
    target, proc, _ = fake
    found = mount_of(target / "deep" / "inside", proc)
    assert found and (found.file_system, found.point) == ("btrfs", target)
    assert len(mounts(proc)) == 3


def test_identity_keeps_drive_and_drops_volatile_facts(fake: tuple[Path, Path, Path]) -> None:
    target, proc, sys = fake
    found = environment([target], proc=proc, sys=sys)

    def changed(change: dict[str, Any], machine: dict[str, Any]) -> bool:
        other = copy.deepcopy(found)
        other["targets"][str(target)]["device"] |= change
        other["machine"] |= machine
        return identity(other) != identity(found)

    assert changed({"serial": "S124"}, {})
    assert changed({"firmware": "1.1"}, {})
    assert changed({}, {"cpu_model": "faster"})
    assert not changed({"name": "nvme1n1"}, {})
    assert not changed({}, {"governor": "powersave"})
