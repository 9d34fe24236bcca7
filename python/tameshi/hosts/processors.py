"""Share of a host in this machine's processors, by control groups.

Version 2 is used where the machine has the controllers `cpu` and `cpuset` switched on at its root,
else version 1. Without both, processors are chosen by affinity, and a quota is not kept. No setting
of an existing group is changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.environment import mounts, text_in
from tameshi.hosts.plans import HostPlan

PREFIX = "tameshi-"
PERIOD_US = 10_000
"""Period of a quota: a host that has used its share waits for the next one."""
GONE_SECONDS = 2.0
"""A group empties a moment after its last process has been reaped."""

JOIN = 'for group in $1; do echo $$ > "$group/cgroup.procs" || exit 125; done; shift; exec "$@"'
"""Script that joins groups, and becomes the command."""


@dataclass(frozen=True)
class Processors:
    """Means by which a host has its share: groups, or processors by affinity.

    `means` is empty if nothing was asked for; `missing` names what this machine cannot keep.
    """

    groups: tuple[str, ...] = ()
    affinity: tuple[int, ...] = ()
    means: str = ""
    missing: tuple[str, ...] = ()

    def running(self, command: Iterable[str]) -> list[str]:
        """Return a command that runs with this share."""
        words = list(command)
        if self.groups:
            words = ["sh", "-c", JOIN, "tameshi", " ".join(self.groups), *words]
        if self.affinity:
            words = ["taskset", "--cpu-list", ",".join(map(str, self.affinity)), *words]
        return words


def share_of(host: HostPlan, label: str) -> Processors:
    """Make the groups of a host, named after `label`; return its means."""
    wanted = [("cpuset", bool(host.processors)), ("cpu", host.quota is not None)]
    controllers = [name for name, asked in wanted if asked]
    if not controllers:
        return Processors()
    name = f"{PREFIX}{label}-{host.name}"
    for means, parents in _hierarchies(controllers):
        made = list(dict.fromkeys(parent / name for parent in parents))
        try:
            for group in made:
                group.mkdir()
            _set_limits(host, made, means)
        except OSError:
            remove_groups(made)
            continue
        return Processors(groups=tuple(map(str, made)), means=means)
    return Processors(
        affinity=host.processors,
        means="affinity" if host.processors else "",
        missing=("quota",) if host.quota is not None else (),
    )


def _hierarchies(controllers: list[str]) -> Iterator[tuple[str, list[Path]]]:
    """Yield ways to have the controllers: the version, and the root of each of them."""
    table = mounts()
    for mount in table:
        switched_on = (text_in(mount.point / "cgroup.subtree_control") or "").split()
        if mount.file_system == "cgroup2" and set(controllers) <= set(switched_on):
            yield "cgroup v2", [mount.point for _ in controllers]
    of = {
        controller: mount.point
        for controller in controllers
        for mount in table
        if mount.file_system == "cgroup" and controller in mount.options
    }
    if len(of) == len(controllers):
        yield "cgroup v1", [of[controller] for controller in controllers]


def _set_limits(host: HostPlan, groups: list[Path], means: str) -> None:
    processors = ",".join(map(str, host.processors))
    quota_us = round(host.quota * PERIOD_US) if host.quota is not None else 0
    for group in groups:
        if means == "cgroup v2":
            settings = {"cpuset.cpus": processors}
            settings |= {"cpu.max": f"{quota_us} {PERIOD_US}" if quota_us else ""}
        elif (group / "cpuset.cpus").exists():
            memory = text_in(group.parent / "cpuset.mems") or "0"
            settings = {"cpuset.cpus": processors, "cpuset.mems": memory}
        else:
            period, quota = str(PERIOD_US), str(quota_us)
            settings = {"cpu.cfs_period_us": period, "cpu.cfs_quota_us": quota}
        for setting, value in settings.items():
            if value:
                (group / setting).write_text(value, encoding="utf-8")


def remove_groups(groups: Iterable[Path | str]) -> None:
    """Remove groups of hosts; one with processes stays."""
    end = time.monotonic() + GONE_SECONDS
    for group in map(Path, groups):
        while group.name.startswith(PREFIX) and group.is_dir():
            with suppress(OSError):
                os.rmdir(group)
                break
            if time.monotonic() > end:
                break
            time.sleep(0.01)
