"""Removal of hosts: processes in them, links, namespaces, control groups, folder.

The session itself, its sweeper and a later command all use it.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from tameshi import guard
from tameshi.core.errors import RunFailed
from tameshi.hosts.namespaces import empty, is_pinned, processes_in
from tameshi.hosts.processors import remove_groups
from tameshi.hosts.state import HostsState, hosts_states
from tameshi.serve.state import is_alive
from tameshi.serve.tools import run_tool
from tameshi.serve.users import in_mounts, is_sweeper, kill_all


def sweep_all_hosts() -> list[str]:
    """Remove the hosts that killed sessions left; return a sentence for each group."""
    found = []
    for state in hosts_states():
        if not state.is_running:
            sweep_hosts(state)
            found.append(f"removed the hosts that a killed session left: {state.name}")
    return found


def sweep_hosts(state: HostsState, spared: int | None = None) -> None:
    """Remove everything of a group of hosts; `spared` is a process that must go on."""
    if state.forwarder and is_alive(state.forwarder):
        with suppress(ProcessLookupError):
            os.kill(state.forwarder[0], signal.SIGKILL)
    for host in state.hosts:
        pin = state.pin(host.name)
        if is_pinned(pin):
            _empty(pin)
        elif state.private and not state.is_running:
            # The namespace is pinned in the mounts of the killed session alone: all of it may go.
            found = [pid for pid in in_mounts(str(pin)) if not is_sweeper(pid)]
            kill_all([pid for pid in found if pid != spared])
    for host in state.hosts:
        remove_groups(host.groups)
    with suppress(FileNotFoundError):
        guard.remove_folder(state.folder)


def _empty(pin: Path) -> None:
    """Kill the programs in a host, and those that enter it before its pin is gone."""
    network = os.open(pin, os.O_RDONLY | os.O_CLOEXEC)
    try:
        kill_all(processes_in(network))
        while is_pinned(pin):
            try:
                run_tool("umount", str(pin))
            except RunFailed:
                run_tool("umount", "--lazy", str(pin))
        empty(network)
    finally:
        os.close(network)
