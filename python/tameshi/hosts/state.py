"""State of each group of hosts, under `/run/tameshi`: what a later command shows and removes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.serve.state import ROOT, is_alive

FILE = "hosts.json"


@dataclass(frozen=True)
class HostState:
    """Host: its address, its share of the processors, and the means and gaps of that share."""

    name: str
    address: str
    processors: tuple[int, ...] = ()
    quota: float | None = None
    means: str = ""
    missing: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    affinity: tuple[int, ...] = ()


@dataclass(frozen=True)
class LinkState:
    """Link: figures asked for, and those measured at the start, in the hosts' time.

    `path_ns`: round trip through the path alone, which is taken off; None: not measured.
    """

    hosts: tuple[str, str]
    profile: str
    round_trip_ns: int
    rate_bytes: int
    loss: float
    mtu: int
    path_ns: int | None = None
    measured_round_trip_ns: int | None = None
    measured_rate_bytes: int | None = None


@dataclass(frozen=True)
class HostsState:
    """Hosts of one group, its processes, and its links.

    `owner` and `forwarder` (the process that forwards packets) are a process and its start time.
    """

    name: str
    owner: tuple[int, int]
    private: bool
    slow: float = 1.0
    forwarder: tuple[int, int] | None = None
    hosts: tuple[HostState, ...] = ()
    links: tuple[LinkState, ...] = field(default=())

    @property
    def folder(self) -> Path:
        """Return the group's folder."""
        return ROOT / self.name

    @property
    def control(self) -> Path:
        """Return the path of the control socket."""
        return self.folder / "control"

    @property
    def is_running(self) -> bool:
        """Return whether the process that made the hosts still runs."""
        return is_alive(self.owner)

    def pin(self, host: str) -> Path:
        """Return the file that a host's namespace is mounted on."""
        return self.folder / f"host-{host}"

    def changed(self, **fields: Any) -> HostsState:
        """Return the state with other values, after writing it down."""
        state = replace(self, **fields)
        state.write()
        return state

    def write(self) -> None:
        """Write the state down."""
        guard.write_file(self.folder / FILE, json.dumps(asdict(self)).encode())


def hosts_states() -> Iterator[HostsState]:
    """Yield the state of each group of hosts, also of killed sessions."""
    if not ROOT.is_dir():
        return
    for name in sorted(os.listdir(ROOT)):
        try:
            state = _read(json.loads((ROOT / name / FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # A drive, of another version of Tameshi, or being written.
        if state.name == name:
            yield state


def _read(fields: Mapping[str, Any]) -> HostsState:
    """Return the state in its fields as JSON has them."""

    def tupled(values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: tuple(of) if isinstance(of, list) else of for key, of in values.items()}

    read = tupled(fields)
    hosts = tuple(HostState(**tupled(host)) for host in read.pop("hosts"))
    links = tuple(LinkState(**tupled(link)) for link in read.pop("links"))
    return HostsState(**read, hosts=hosts, links=links)
