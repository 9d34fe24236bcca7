"""Group of hosts with their links: set-up, programs inside, end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

from tameshi import guard
from tameshi.core.errors import BadInput, RunFailed
from tameshi.hosts.links import Links, state_of
from tameshi.hosts.namespaces import ENTERING, new_network, processes_in, within
from tameshi.hosts.plans import HostPlan, HostsPlan, check_plan
from tameshi.hosts.processors import Processors, share_of
from tameshi.hosts.state import HostsState, HostState
from tameshi.hosts.sweep import sweep_hosts
from tameshi.serve.state import ROOT, identified
from tameshi.serve.users import kill_all

CONNECT_SECONDS = 10.0

T = TypeVar("T")


class Host:
    """Host of a running group, as this process outside of it reaches it."""

    def __init__(self, state: HostsState, host: HostState) -> None:
        self._state = state
        self._host = host

    @property
    def name(self) -> str:
        """Return the host's name."""
        return self._host.name

    @property
    def address(self) -> str:
        """Return the address that other hosts reach it by."""
        return self._host.address

    def running(self, command: Sequence[str]) -> list[str]:
        """Return a command that runs in the host, with its share of the processors.

        It stays a child of the process that starts it, and has its process number.
        """
        share = Processors(self._host.groups, self._host.affinity)
        pin = self._state.pin(self.name)
        return [ENTERING, f"--net={pin}", "--", *share.running(command)]

    def within(self, action: Callable[[], T]) -> T:
        """Return the result of an action in the host's network, in a thread of its own."""
        network = os.open(self._state.pin(self.name), os.O_RDONLY | os.O_CLOEXEC)
        try:
            return within(network, action)
        finally:
            os.close(network)

    def connect(self, port: int, seconds: float = CONNECT_SECONDS) -> socket.socket:
        """Return a connection to a port of the host, for use in this process."""
        place = (self.address, port)
        return self.within(lambda: socket.create_connection(place, timeout=seconds))

    def processes(self) -> list[int]:
        """Return the processes in the host."""
        return processes_in(self._state.pin(self.name))

    def kill(self) -> int:
        """Kill all processes in the host, as its power cut does; return their number."""
        found = self.processes()
        kill_all(found)
        return len(found)


class Hosts:
    """Hosts and links of a plan; a context manager that leaves nothing."""

    def __init__(self, plan: HostsPlan, name: str) -> None:
        self.plan = plan
        self.state = HostsState(name, identified(os.getpid()), plan.private, plan.slow)
        self.links: Links | None = None
        self._sweeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Make the hosts and their links, and measure the links."""
        check_plan(self.plan)
        guard.claim_folder(ROOT)
        guard.claim_folder(self.state.folder)
        self.state.write()
        words = [sys.executable, "-m", "tameshi.hosts.sweeper", self.state.name]
        self._sweeper = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
        networks: dict[str, int] = {}
        try:
            for host in self.plan.hosts:
                self._note(host)
                networks[host.name] = new_network(self.state.pin(host.name), host.address)
            if self.plan.links:
                self._join(networks)
        except BaseException:
            self.__exit__()
            raise
        finally:
            for network in networks.values():
                os.close(network)
        return self

    def _note(self, host: HostPlan) -> None:
        """Make a host's control groups, and write the host down before its namespace exists."""
        share = share_of(host, self.state.name)
        noted = HostState(
            name=host.name,
            address=host.address,
            processors=host.processors,
            quota=host.quota,
            means=share.means,
            missing=share.missing,
            groups=share.groups,
            affinity=share.affinity,
        )
        self.state = self.state.changed(hosts=(*self.state.hosts, noted))
        if self.plan.keeps_shares and share.missing:
            raise BadInput(
                "this machine's control groups cannot keep a host's processor time",
                where=f"host.{host.name}.quota",
                found=f"no controller cpu for {host.quota:.0%} of a processor",
                accepted=["no quota", "processors by their numbers"],
                hint="Switch the controller cpu on at the root of the control groups.",
            )

    def _join(self, networks: dict[str, int]) -> None:
        """Start the links, and write down what is measured of them."""
        self.state = self.state.changed(links=tuple(map(state_of, self.plan.links)))
        self.links = Links(self.plan, networks, self.state.folder)
        self.state = self.state.changed(forwarder=identified(self.links.server.process.pid))
        self.state = self.state.changed(links=tuple(self.links.switch_on(networks)))

    def __exit__(self, *_: object) -> None:
        """Kill the programs in the hosts, and remove everything."""
        assert self._sweeper
        sweep_hosts(self.state, spared=self._sweeper.pid)
        if self.links:
            self.links.server.end()
        if self._sweeper.stdin:
            self._sweeper.stdin.close()
        self._sweeper.wait()

    @property
    def forwarder(self) -> subprocess.Popen[bytes] | None:
        """Return the process that forwards packets, if there is a link."""
        return self.links.server.process if self.links else None

    def host(self, name: str) -> Host:
        """Return a host; raise `BadInput` for an unknown one."""
        return host_of(self.state, name)

    def status(self) -> dict[str, Any]:
        """Return figures and state of the links."""
        return self.links.ask("status") if self.links else {"links": []}

    def require_links(self) -> None:
        """Raise `RunFailed` if the process that forwards packets has ended."""
        if self.links and self.links.server.process.poll() is not None:
            raise RunFailed(self.links.server.last_words())


def host_of(state: HostsState, name: str) -> Host:
    """Return a host of a group; raise `BadInput` for an unknown one."""
    for host in state.hosts:
        if host.name == name:
            return Host(state, host)
    accepted = [host.name for host in state.hosts]
    raise BadInput("no host has this name", where="host", found=name, accepted=accepted)


def stop(process: subprocess.Popen[bytes], seconds: float = 5.0) -> None:
    """End a process, by force if it does not end by itself."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
        return
    process.kill()
    process.wait()
