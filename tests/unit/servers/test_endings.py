"""Cause of a server's end, and the control group that may be it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tameshi.core.memory_group import MemoryGroup, memory_group
from tameshi.servers.endings import cause_of

MIB = 1 << 20


def tree(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return folder


@pytest.mark.parametrize(
    ("status", "kills", "limit", "pool", "cause"),
    [
        (0, 0, None, 0, "status 0"),
        (3, 1, 400, 512, "status 3"),
        (-9, 0, 400, 512, "killed by signal 9"),
        (-6, 1, 400, 512, "killed by signal 6"),
        (-9, 1, 400, 64, "killed by signal 9 at the control group's memory limit of 400.0 MiB"),
        (
            *(-9, 1, 400, 512),
            "killed by signal 9: the control group's memory limit of 400.0 MiB is below the "
            "buffer pool of 512.0 MiB",
        ),
        (-9, 1, None, 512, "killed by signal 9 because the machine ran out of memory"),
    ],
)
def test_end_of_server_is_told_with_its_cause(status, kills, limit, pool, cause):
    limit_bytes = limit * MIB if limit else None
    before, after = MemoryGroup(limit_bytes, 7), MemoryGroup(limit_bytes, 7 + kills)
    assert cause_of(status, before, after, pool * MIB) == cause


def test_memory_group_of_version_2_is_read(tmp_path):
    tree(tmp_path, self__cgroup="0::/a/b")
    group = tmp_path / "fs/cgroup/a/b"
    tree(group, **{"memory.max": "max", "memory.events": "oom 3\noom_kill 2\noom_group_kill 0"})
    tree(group.parent, **{"memory.max": str(400 * MIB), "memory.events": "oom_kill 9"})
    assert memory_group(tmp_path, tmp_path) == MemoryGroup(400 * MIB, 2)


def test_memory_group_of_version_1_is_read(tmp_path):
    tree(tmp_path, self__cgroup="4:memory:/a\n1:cpu,cpuacct:/\n0::/")
    group = tmp_path / "fs/cgroup/memory/a"
    unlimited = str((1 << 63) - 4096)
    tree(group, **{"memory.limit_in_bytes": str(900 * MIB)})
    tree(group, **{"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 4"})
    tree(group.parent, **{"memory.limit_in_bytes": unlimited})
    assert memory_group(tmp_path, tmp_path) == MemoryGroup(900 * MIB, 4)


def test_machine_without_control_groups_has_no_limit(tmp_path):
    assert memory_group(tmp_path, tmp_path) == MemoryGroup(None, 0)
