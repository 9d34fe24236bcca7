"""Guard's decisions on space in file systems and memory; docs/guard.md names these tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tameshi import guard
from tameshi.core.environment import memory_available
from tameshi.core.errors import GuardRefusal

MIB = 1 << 20
SIZE = 8 * MIB


def room(free: int) -> os.statvfs_result:
    return os.statvfs_result((4096, 4096, 1 << 30, free // 4096, free // 4096, 0, 0, 0, 0, 255))


def machine(folder: Path, memory: str, kind: str = "tmpfs") -> guard.Machine:
    """Return a machine with this much memory, and `folder` on this kind of file system."""
    proc = folder / "proc"
    (proc / "self").mkdir(parents=True, exist_ok=True)
    (proc / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable:   {memory} kB\n")
    mount = str(folder).replace(" ", "\\040")
    (proc / "self/mountinfo").write_text(f"9 1 0:40 / {mount} rw - {kind} none rw\n")
    return guard.Machine(proc, folder / "sys")


def test_targets_on_one_file_system_share_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = guard.RESERVE_BYTES + guard.DATA_OFFSET + SIZE
    monkeypatch.setattr(os, "statvfs", lambda _: room(one + MIB))
    (tmp_path / "sub").mkdir()
    wanted = {"a": (tmp_path, SIZE), "b": (tmp_path / "sub", SIZE)}
    for role, (path, size) in wanted.items():
        guard.check_target(path, size, role)
    with pytest.raises(GuardRefusal, match=r"82.0 MiB needed together") as caught:
        guard.check_targets(wanted)
    assert str(tmp_path / "sub" / "tameshi-b.dat") in caught.value.where
    monkeypatch.setattr(os, "statvfs", lambda _: room(one + MIB + SIZE))
    assert set(guard.check_targets(wanted)) == {"a", "b"}


def test_files_in_memory_must_fit_in_memory(tmp_path: Path) -> None:
    needed = (guard.MEMORY_RESERVE_BYTES + 2 * (guard.DATA_OFFSET + SIZE)) // 1024
    wanted = {"a": (tmp_path, SIZE), "b": (tmp_path, SIZE)}
    guard.check_targets(wanted, machine=machine(tmp_path, str(needed)))
    with pytest.raises(GuardRefusal, match="not enough memory"):
        guard.check_targets(wanted, machine=machine(tmp_path, str(needed - 1)))
    guard.check_targets(wanted, machine=machine(tmp_path, "1", "ext4"))


def test_a_containers_memory_is_its_own_limit(tmp_path: Path) -> None:
    here = machine(tmp_path, str(1 << 40))
    (here.proc / "self/cgroup").write_text("4:memory:/x\n0::/a/b\n")
    assert memory_available(here.proc, here.sys) == 1 << 50
    group = here.sys / "fs/cgroup/a"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("300000000\n")
    (group / "memory.current").write_text("100000000\n")
    assert memory_available(here.proc, here.sys) == 200000000
    (group / "memory.stat").write_text("anon 5\ninactive_file 50000000\n")
    assert memory_available(here.proc, here.sys) == 250000000
    with pytest.raises(GuardRefusal, match="not enough memory"):
        guard.check_target(tmp_path, SIZE, "disk", machine=here)


def test_data_directory_needs_space_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: room(guard.RESERVE_BYTES + SIZE))
    plan = guard.check_data_directory(tmp_path / "new", SIZE)
    target = guard.check_target(tmp_path, MIB, "disk")
    with pytest.raises(GuardRefusal, match="not enough space"):
        guard.check_data_directory(tmp_path / "new", SIZE + MIB)
    assert target.need
    with pytest.raises(GuardRefusal, match="needed together"):
        guard.require_space([plan.need, target.need])
