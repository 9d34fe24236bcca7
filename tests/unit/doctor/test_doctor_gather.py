"""Facts read from files, probed, or None."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tameshi.doctor import probes
from tameshi.doctor.facts import Disk
from tameshi.doctor.gather import gather
from tameshi.servers import sqlite
from tameshi.servers.installed import Program, installed


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def fake(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Make a target on an NVMe drive, with its /proc and /sys."""
    place, proc, sys = tmp_path / "data", tmp_path / "proc", tmp_path / "sys"
    place.mkdir()
    write(
        proc,
        {
            "self/mountinfo": f"1 0 8:1 / {place} rw,relatime - ext4 /dev/nvme0n1 rw,discard\n",
            "self/status": "Name:\tx\nCapEff:\t0000000000204000\n",
            "self/cgroup": "3:cpu,cpuacct:/a\n2:memory:/a/b\n0::/c\n",
            "cpuinfo": "flags\t\t: fpu hypervisor\n",
            "loadavg": "1.25 0.5 0.1 1/2 3\n",
        },
    )
    write(
        sys,
        {
            "devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
            "devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
            "devices/system/cpu/cpu0/cpuidle/state0/latency": "0\n",
            "devices/system/cpu/cpu0/cpuidle/state0/disable": "0\n",
            "devices/system/cpu/cpu0/cpuidle/state1/latency": "133\n",
            "devices/system/cpu/cpu0/cpuidle/state1/disable": "0\n",
            "devices/system/cpu/cpu0/cpuidle/state2/latency": "900\n",
            "devices/system/cpu/cpu0/cpuidle/state2/disable": "1\n",
            "devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
            "kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
            "fs/cgroup/memory/a/memory.limit_in_bytes": "1000000\n",
            "fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
            "fs/cgroup/cpu/a/cpu.cfs_quota_us": "150000\n",
            "fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
            "fs/cgroup/c/cpu.max": "max 100000\n",
            "block/loop0/loop/backing_file": "/image\n",
            "block/loop1/size": "0\n",
        },
    )
    drive = sys / "devices/pci/0000:01:00.0/nvme/nvme0/nvme0n1"
    write(
        drive,
        {
            "device/model": "Fast Drive\n",
            "queue/scheduler": "none [mq-deadline]\n",
            "queue/rotational": "0\n",
            "queue/io_poll": "0\n",
            "queue/iostats": "1\n",
            "queue/nomerges": "2\n",
            "queue/write_cache": "write through\n",
            "device/device/current_link_speed": "8.0 GT/s PCIe\n",
            "device/device/current_link_width": "2\n",
            "device/device/max_link_speed": "16.0 GT/s PCIe\n",
            "device/device/max_link_width": "4\n",
        },
    )
    number = place.stat().st_dev
    (sys / "dev/block").mkdir(parents=True)
    (sys / "dev/block" / f"{os.major(number)}:{os.minor(number)}").symlink_to(drive)
    (sys / "block/nvme0n1").symlink_to(drive)
    return place, proc, sys


def test_facts_are_read_from_proc_and_sys(fake: tuple[Path, Path, Path]) -> None:
    place, proc, sys = fake
    found = gather([place], proc=proc, sys=sys, dev=place / "no-dev")
    assert found.virtual_machine and found.load == 1.25
    assert found.governors == ("performance", "powersave")
    assert found.idle_wake_us == 133
    assert (found.clock_source, found.huge_pages) == ("hpet", "always")
    assert (found.memory_limit, found.cpu_quota) == (1000000, 1.5)
    assert found.may_lock_memory and found.may_mount
    assert found.loops_free == 1
    assert found.fuse == found.loop_control == found.tun == "ENOENT"
    assert found.memory_bytes > 0


def test_a_targets_disk_is_described(fake: tuple[Path, Path, Path]) -> None:
    place, proc, sys = fake
    (target,) = gather([place], proc=proc, sys=sys).targets
    assert (target.file_system, target.mount_point) == ("ext4", str(place))
    assert target.options == ("rw", "relatime", "discard")
    assert target.total_bytes and target.free_bytes
    assert target.disk == Disk(
        "nvme0n1",
        model="Fast Drive",
        rotational=0,
        scheduler="mq-deadline",
        io_poll=0,
        nomerges=2,
        iostats=1,
        write_cache="write through",
        link=("8.0 GT/s x2", "16.0 GT/s x4"),
    )


def test_nothing_readable_gives_no_facts(tmp_path: Path) -> None:
    nothing = tmp_path / "nothing"
    found = gather([tmp_path], proc=nothing, sys=nothing, dev=nothing)
    assert found.clock_source is found.load is found.idle_wake_us is found.memory_limit is None
    assert found.governors == () and found.loops_free == 0
    assert found.targets[0].disk is None


def test_probe_leaves_target_unchanged(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_text("mine")
    tried = probes.try_target(tmp_path)
    assert tried.refusal is None and tried.direct in (True, False)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis"]
    assert "did not make this" in (probes.try_target(tmp_path / "thesis").refusal or "")
    assert (tmp_path / "thesis").read_text() == "mine"
    assert probes.try_target(tmp_path / "new.dat").refusal is None
    assert not (tmp_path / "new.dat").exists()


def test_own_target_is_probed_and_kept(tmp_path: Path) -> None:
    from tameshi import guard

    plan = guard.check_target(tmp_path / "disk.dat", 1 << 20, "disk")
    guard.open_target(plan, direct=False).close()
    before = plan.path.read_bytes()
    assert probes.try_target(plan.path).refusal is None
    assert plan.path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["disk.dat"]


def test_a_failing_probe_removes_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(probes, "_written", fail)
    tried = probes.try_target(tmp_path)
    # Without direct I/O nothing is written here, so nothing fails.
    assert "Input/output error" in (tried.refusal or "") or tried.direct is False
    assert list(tmp_path.iterdir()) == []


def test_missing_directory_is_refused_without_its_parent(tmp_path: Path) -> None:
    (target,) = gather([tmp_path / "nope" / "x"]).targets
    assert "no such directory" in (target.refusal or "")
    assert target.file_system is target.disk is None


def test_invalid_path_is_refused_without_traceback(tmp_path: Path) -> None:
    (target,) = gather([tmp_path / ("x" * 300) / "y"]).targets
    assert target.refusal and target.direct is None


def test_device_file_opens_or_names_error(tmp_path: Path) -> None:
    assert probes.try_device(Path("/dev/null")) is None
    assert probes.try_device(tmp_path / "nothing") == "ENOENT"
    assert probes.try_device(tmp_path) == "EISDIR"


def test_ring_probe_reports_result(monkeypatch: pytest.MonkeyPatch) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    ring = probes.try_ring(setting=0)
    assert ring.setting == 0
    assert ring.error is None or ring.error.startswith("E")
    assert len(os.listdir("/proc/self/fd")) == descriptors
    monkeypatch.setattr(probes, "_IO_URING_SETUP", 0xFFFF)
    assert probes.try_ring().error == "ENOSYS"


def program(path: Path, says: str, status: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    path.chmod(0o755)
    return path


def test_servers_and_tools_outside_path_are_found(tmp_path: Path) -> None:
    maria = program(tmp_path / "usr/sbin/mariadbd", "mariadbd  Ver 10.11.6-MariaDB-0 for Linux")
    (tmp_path / "usr/sbin/mysqld").symlink_to(maria)
    bins = tmp_path / "usr/local/bin"
    mysql = program(bins / "mysqld", "mysqld  Ver 8.4.2 for Linux (MySQL Community)")
    fio = program(bins / "fio", "fio-3.33")
    program(bins / "sysbench", "broken", status=1)
    postgres = [
        program(tmp_path / f"usr/lib/postgresql/{v}/bin/postgres", f"postgres (PostgreSQL) {v}.4")
        for v in (15, 17)
    ]
    # It has no --version.
    xfs = program(tmp_path / "usr/sbin/mkfs.xfs", "mkfs.xfs version 6.1.0")
    xfs.write_text('#!/bin/sh\n[ "$1" = -V ] && echo mkfs.xfs version 6.1.0\n')
    assert list(installed(tmp_path, search=str(bins))) == [
        Program("mariadb", "10.11.6-MariaDB-0", str(maria)),
        Program("mysql", "8.4.2", str(mysql)),
        *(Program("postgres", f"{v}.4", str(p)) for v, p in zip((15, 17), postgres, strict=True)),
        Program("fio", "3.33", str(fio)),
        Program("xfsprogs", "6.1.0", str(xfs)),
    ]


def test_the_embedded_sqlite_is_the_drivers_own() -> None:
    (program,) = sqlite.driven()
    assert program.product == "sqlite" and program.version.startswith("3.")


def test_hanging_program_is_skipped(tmp_path: Path) -> None:
    program(tmp_path / "bin/fio", "").write_text("#!/bin/sh\nexec sleep 30\n")
    assert list(installed(tmp_path, search=str(tmp_path / "bin"), patience=0.2)) == []
