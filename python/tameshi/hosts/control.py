"""Messages to running groups of hosts that were made by hand."""

from __future__ import annotations

from typing import Any

from tameshi.core.errors import BadInput, RunFailed
from tameshi.hosts.group import Host, host_of
from tameshi.hosts.state import HostsState, hosts_states
from tameshi.serve.control import ask_socket

HINT = "Make some: tameshi hosts up NAME NAME --link PROFILE."


def host_sessions() -> list[HostsState]:
    """Return the groups that take messages: not the hosts of a study."""
    return [state for state in hosts_states() if state.is_running and state.control.exists()]


def chosen_group(name: str | None) -> HostsState:
    """Return a running group, by default the only one; raise `BadInput` for none or several."""
    running = host_sessions()
    chosen = [state for state in running if name in (None, state.name)]
    if len(chosen) == 1:
        return chosen[0]
    no_such = "no hosts of this name are up" if name else "no hosts are up"
    raise BadInput(
        no_such if name or not running else "several groups of hosts are up",
        where="--group",
        found=name or f"{len(running)} groups",
        accepted=[state.name for state in running],
        hint="" if running else HINT,
    )


def find_host(host: str, group: str | None = None) -> Host:
    """Return a host of a running group; raise `BadInput` for an unknown one."""
    return host_of(chosen_group(group), host)


def ask_hosts(message: str, group: str | None = None) -> dict[str, Any]:
    """Send a message to a running group, by default the only one; return its answer."""
    state = chosen_group(group)
    answer = ask_socket(state.control, state.name, message)
    if "error" in answer:
        raise RunFailed(str(answer["error"]))
    return answer
