"""Storages of an emulated run as served drives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tameshi.run.served_storages import serve_plan
from tameshi.serve.plans import ServePlan
from tameshi.study.file import plan, read_study

STUDY = """
title = "A drive"
question = "How fast?"
[storage.disk]
STORAGE
[workload.stream.io]
block_size = "4 KiB"
read = "50 %"
STREAM
[phase]
run = { workload = ["stream.io"], until.time = "1 s" }
[run]
seed = 1
"""


def served(tmp_path: Path, storage: str, stream: str = "", event: str = "") -> ServePlan:
    path = tmp_path / "s.toml"
    path.write_text(STUDY.replace("STORAGE", storage).replace("STREAM", stream) + event)
    (run,) = plan(read_study(path), "emulated", quick=False).runs
    return serve_plan(run, "disk")


def test_streams_get_a_block_device_that_keeps_nothing(tmp_path: Path) -> None:
    drive = served(tmp_path, 'device = "sas-15k-146gb"\nsize = "1 GiB"')
    assert drive.file_system is None and drive.forgets and not drive.fails
    assert drive.size_bytes == 1 << 30 and drive.storage == "disk" and drive.rotational


def test_verified_data_are_kept(tmp_path: Path) -> None:
    assert not served(
        tmp_path, 'device = "sas-15k-146gb"\nsize = "1 GiB"', 'verify = "checksum"'
    ).forgets


def test_failing_member_is_watched(tmp_path: Path) -> None:
    mirror = 'raid1 = { members = 2, device = "sas-15k-146gb" }\nsize = "1 GiB"'
    dead = '[event.dead]\nat = "100 ms"\nfail.member = 1\n'
    assert served(tmp_path, mirror, event=dead).fails


@pytest.mark.parametrize(
    ("drive", "flushes"),
    [
        ("nvme-tlc-1tb-consumer", True),
        ("sata-ssd-480gb", True),
        ("sas-15k-146gb", False),
        ("optane-p4800x-375g", False),
    ],
)
def test_kernel_sends_flushes_that_take_time(tmp_path: Path, drive: str, flushes: bool) -> None:
    assert served(tmp_path, f'device = "{drive}"').takes_flushes is flushes
