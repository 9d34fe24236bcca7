"""Memory limit of a process's control group, and its out-of-memory kills."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.environment import PROC, SYS, number_in, text_in

_UNLIMITED = 1 << 62
"""Version 1 of control groups has a larger number where there is no limit."""


@dataclass(frozen=True)
class MemoryGroup:
    """Lowest memory limit of a control group and its parents (None: unlimited), and its kills."""

    limit_bytes: int | None
    kills: int


def memory_group(proc: Path = PROC, sys: Path = SYS) -> MemoryGroup:
    """Return the limit and kills of Tameshi's own control group, which its servers share."""
    limits: list[int] = []
    kills = 0
    for group, parents in _groups(text_in(proc / "self/cgroup") or "", sys / "fs/cgroup"):
        for folder in (group, *parents):
            for name in ("memory.max", "memory.limit_in_bytes"):
                limit = number_in(folder / name)
                if limit is not None and limit < _UNLIMITED:
                    limits.append(limit)
        for name in ("memory.events", "memory.oom_control"):
            match = re.search(r"^oom_kill (\d+)", text_in(group / name) or "", re.M)
            kills += int(match[1]) if match else 0
    return MemoryGroup(min(limits, default=None), kills)


def _groups(membership: str, root: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield the folder of the group and those of its parents, in both versions."""
    roots = {"": (root, root / "unified"), "memory": (root / "memory",)}
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        group = Path(path.lstrip("/"))
        for base in roots.get(controllers, ()):
            yield base / group, [base / parent for parent in group.parents]
