"""Processors of a fio job's threads: by number, mask or node."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tameshi.fio import values
from tameshi.fio.jobfile import Setting
from tameshi.fio.values import bad

NODES = Path("/sys/devices/system/node")
_MOST = 1024


def processors_of(settings: Mapping[str, Setting]) -> list[int] | None:
    """Return the processors that a job may use; raise `BadInput` for a missing node."""
    keys = ("cpus_allowed", "cpumask", "numa_cpu_nodes")
    named = [settings[key] for key in keys if key in settings]
    if not named:
        return None
    setting = named[-1]
    match setting.key:
        case "cpus_allowed":
            return _numbers(setting, values.text(setting))
        case "cpumask":
            mask = values.integer(setting)
            return [number for number in range(_MOST) if mask >> number & 1] or None
    nodes = values.text(setting)
    wanted = _nodes() if nodes == "all" else _numbers(setting, nodes)
    found: set[int] = set()
    for node in wanted:
        try:
            text = (NODES / f"node{node}" / "cpulist").read_text(encoding="utf-8").strip()
        except OSError:
            there = ", ".join(map(str, _nodes()))
            raise bad(setting, f"this machine has no node {node}", there or "no nodes") from None
        found |= set(_numbers(setting, text)) if text else set()
    if not found:
        raise bad(setting, "these nodes have no processor", "nodes with processors")
    return sorted(found)


def is_split(settings: Mapping[str, Setting]) -> bool:
    """Return whether each clone has a processor of its own."""
    setting = settings.get("cpus_allowed_policy")
    if setting is None or setting.value == "shared":
        return False
    if setting.value != "split":
        raise bad(setting, "processors are not shared out like this", "shared", "split")
    return True


def _nodes() -> list[int]:
    found = (re.fullmatch(r"node(\d+)", path.name) for path in NODES.glob("node*"))
    return sorted(int(match[1]) for match in found if match)


def _numbers(setting: Setting, text: str) -> list[int]:
    """Parse a list such as `0,2-4`."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if not match or int(match[2] or match[1]) >= _MOST:
            raise bad(setting, f"`{part}` is no number or range of them", "0,2-4")
        found |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return sorted(found)
