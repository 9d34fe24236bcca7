"""Session of hosts that are made by hand: set-up, control socket, command, end."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.core.errors import BadInput
from tameshi.hosts.group import Hosts, stop
from tameshi.hosts.plans import HostsPlan
from tameshi.serve.control import ControlSocket

TICK_SECONDS = 1.0


class HostsSession:
    """Hosts with a command or a control socket; a context manager that leaves nothing."""

    def __init__(self, plan: HostsPlan, command: Sequence[str] = ()) -> None:
        self.hosts = Hosts(plan, f"hosts-{os.getpid()}")
        self._words = list(command)
        self._command: subprocess.Popen[bytes] | None = None
        self._control: ControlSocket | None = None
        self._stopped = False

    def __enter__(self) -> HostsSession:
        """Make the hosts, and listen for messages."""
        for stopping in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(stopping, self._stop)
        self.hosts.__enter__()
        try:
            self._control = ControlSocket(self.hosts.state.control, self.obey)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End the command, and remove the hosts with all programs in them."""
        if self._command and self._command.poll() is None:
            stop(self._command)
        if self._control:
            self._control.close()
        self.hosts.__exit__()

    def obey(self, message: str) -> Mapping[str, Any]:
        """Answer a control message: `status`, or `HERE THERE both|one-way CHANGE`."""
        links = self.hosts.links
        match message.split():
            case ["status"]:
                return self.hosts.status()
            case [here, there, ("both" | "one-way") as ways, *change] if links is not None:
                try:
                    direction = links.direction(here, there, one_way=ways == "one-way")
                except BadInput as error:
                    return {"error": str(error)}
                return links.change(direction, " ".join(change))
        return {"error": f"these hosts have no such link, or there is no such message: {message}"}

    def run(self) -> int:
        """Stay until the command ends, or a signal; return the exit status."""
        if self._words:
            # The terminal's Ctrl-C is for the command, as in a shell.
            signal.signal(signal.SIGINT, lambda *_: None)
            group = {"TAMESHI_HOSTS": self.hosts.state.name}
            self._command = subprocess.Popen(self._words, env={**os.environ, **group})
        assert self._control
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            for process in filter(None, (self.hosts.forwarder, self._command)):
                selector.register(os.pidfd_open(process.pid), selectors.EVENT_READ)
            while not self._stopped:
                events = selector.select(TICK_SECONDS)
                if any(key.fileobj is self._control for key, _ in events):
                    self._control.serve_client()
                self.hosts.require_links()
                if self._command and self._command.poll() is not None:
                    status = self._command.returncode
                    return status if status >= 0 else 128 - status
        return 0

    def _stop(self, *_: object) -> None:
        self._stopped = True
