"""Hosts of the emulated world: network namespaces on this machine, and links between them.

`Hosts` makes them and removes them. Packets stay within these namespaces: no device, address, route
or rule outside of them is made or changed. Everything is under `/run/tameshi/NAME`.
"""

from tameshi.hosts.control import ask_hosts, find_host, host_sessions
from tameshi.hosts.group import Host, Hosts
from tameshi.hosts.plans import HostPlan, HostsPlan, LinkPlan, check_plan
from tameshi.hosts.session import HostsSession
from tameshi.hosts.show import group_lines, hosts_text, link_change_text
from tameshi.hosts.state import HostsState, hosts_states
from tameshi.hosts.sweep import sweep_all_hosts

__all__ = [
    "Host",
    "HostPlan",
    "Hosts",
    "HostsPlan",
    "HostsSession",
    "HostsState",
    "LinkPlan",
    "ask_hosts",
    "check_plan",
    "find_host",
    "group_lines",
    "host_sessions",
    "hosts_states",
    "hosts_text",
    "link_change_text",
    "sweep_all_hosts",
]
