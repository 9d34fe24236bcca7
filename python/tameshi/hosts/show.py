"""Words of hosts: a group with its links, a change of a link."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.core.units import format_value
from tameshi.hosts.namespaces import is_pinned, processes_in
from tameshi.hosts.state import HostsState, HostState, LinkState

NO_QUOTA = "this machine's control groups cannot keep it"
LEFT = "left by a killed session; remove it: tameshi hosts remove"
FAR = 0.05
"""Share by which a measured figure may miss the one asked for before a warning says so."""


def hosts_text(states: Sequence[HostsState], left_drives: Sequence[str] = ()) -> list[str]:
    """Return lines on all groups of hosts of this machine, and on drives without a session."""
    if not states and not left_drives:
        return ["no hosts: nothing is up, and nothing is left"]
    lines = [f"drive {name}: {LEFT}" for name in left_drives]
    for state in states:
        lines += [f"{state.name}: {_condition(state)}", *(f"  {line}" for line in _lines(state))]
    return lines


def _condition(state: HostsState) -> str:
    if state.is_running:
        return f"up, made by process {state.owner[0]}"
    return LEFT


def _lines(state: HostsState) -> Iterator[str]:
    for host in state.hosts:
        yield f"{host_text(host)}{_inside(state, host)}"
    yield from map(link_text, state.links)


def _inside(state: HostsState, host: HostState) -> str:
    """Return the number of processes in a host, if they are seen from here."""
    pin = state.pin(host.name)
    if os.geteuid() != 0 or not is_pinned(pin):
        return ""
    count = len(processes_in(pin))
    return f", {count} {'process' if count == 1 else 'processes'}"


def group_lines(state: HostsState) -> list[str]:
    """Return lines on a group that is ready, and warnings."""
    lines = [f"host {host_text(host)}" for host in state.hosts]
    lines += [f"link {link_text(link)}" for link in state.links]
    return [*lines, *warnings(state)]


def host_text(host: HostState) -> str:
    """Return a phrase on a host: its address and its share of the processors."""
    parts = [f"{host.name} {host.address}"]
    if host.processors:
        numbers = ", ".join(map(str, host.processors))
        parts.append(f"processors {numbers} by {host.means}")
    if host.quota is not None:
        kept = ", not kept" if "quota" in host.missing else f" by {host.means}"
        parts.append(f"quota {host.quota:.0%} of a processor{kept}")
    return ", ".join(parts)


def link_text(link: LinkState) -> str:
    """Return a phrase on a link: figures asked for and measured."""
    name = " - ".join(link.hosts) + (f" ({link.profile})" if link.profile else "")
    asked = format_value("latency", link.round_trip_ns)
    round_trip = f"round trip {asked}{_measured('latency', link.measured_round_trip_ns)}"
    rate = format_value("bandwidth", link.rate_bytes)
    rate = f"rate {rate}{_measured('bandwidth', link.measured_rate_bytes)}"
    loss = f", loss {link.loss:.3g}" if link.loss else ""
    return f"{name}: {round_trip}, {rate}{loss}"


def _measured(kind: str, value: int | None) -> str:
    return f" ({format_value(kind, value)} measured)" if value is not None else " (not measured)"


def warnings(state: HostsState) -> list[str]:
    """Return sentences on what these hosts and links do not do as asked for."""
    found = []
    for host in state.hosts:
        if "quota" in host.missing:
            found.append(
                f"warning: host {host.name} has no limit of its processor time: {NO_QUOTA}"
            )
    for link in state.links:
        name = " - ".join(link.hosts)
        path, met = link.path_ns, link.measured_round_trip_ns
        if path is not None and path > link.round_trip_ns:
            found.append(
                f"warning: the link {name} is too fast for the path: a round trip of "
                f"{format_value('latency', link.round_trip_ns)} takes "
                f"{format_value('latency', met or path)} here"
            )
        rate = link.measured_rate_bytes
        if rate is not None and rate < link.rate_bytes * (1 - FAR):
            found.append(
                f"warning: this machine carries {format_value('bandwidth', rate)} over the link "
                f"{name}, less than its {format_value('bandwidth', link.rate_bytes)}"
            )
    return found


def link_change_text(answer: Mapping[str, Any]) -> str:
    """Return a sentence on both directions of a link after a change."""
    first, second = answer["hosts"]
    there, back = (_way_text(way) for way in answer["ways"])
    return f"{first} to {second}: {there}; {second} to {first}: {back}"


def _way_text(way: Mapping[str, Any]) -> str:
    if way["is_cut"]:
        return "cut"
    delay = format_value("latency", way["half_round_trip_ns"])
    text = f"{delay}, {format_value('bandwidth', way['rate_bytes'])}"
    text += f", loss {way['loss']:.3g}" if way["loss"] else ""
    return text + (f", {way['slow']:g} times as slow" if way["slow"] != 1 else "")
