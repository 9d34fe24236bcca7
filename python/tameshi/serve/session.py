"""Session of a drive that is served by hand: set-up, control socket, command, end."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tameshi.serve.control import ControlSocket
from tameshi.serve.drive import ServedDrive
from tameshi.serve.faults import (
    change_member,
    change_mirror,
    corrupt,
    refuse_unnamed_losses,
    slow_down,
)
from tameshi.serve.kernel import become_subreaper, enter_private_namespace
from tameshi.serve.plans import ServePlan
from tameshi.serve.users import kill_all, started

TICK_SECONDS = 1.0


class Session:
    """Served drive with a command or a control socket; a context manager that leaves nothing."""

    def __init__(self, plan: ServePlan) -> None:
        self.plan = plan
        name = f"{Path(plan.profile).stem}-{os.getpid()}"
        self.drive = ServedDrive(plan, name, private=bool(plan.command))
        self.command: subprocess.Popen[bytes] | None = None
        self.control: ControlSocket | None = None
        self._stopped = False

    def __enter__(self) -> Session:
        """Serve the drive, attach it and mount it."""
        if self.plan.command and not self.plan.nbd:
            enter_private_namespace()
        become_subreaper()
        for stopping in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(stopping, self._stop)
        self.drive.__enter__()
        try:
            self.control = ControlSocket(self.drive.state.control, self.obey)
            if self.plan.file_system:
                # Without the model: trims of a whole drive would undo its declared state.
                self.drive.make_file_system()
                self.drive.settle()
            self.drive.switch_on()
            self.drive.ask("reset")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End the command and remove everything."""
        self._stop_command()
        self.drive.__exit__()
        if self.control:
            self.control.close()

    @property
    def name(self) -> str:
        """Return the drive's name."""
        return self.drive.state.name

    def obey(self, message: str) -> Mapping[str, Any]:
        """Answer a control message."""
        word, *arguments = message.split() or [""]
        if word in ("fail", "replace"):
            return change_member(self.drive, word, int(arguments[0]))
        if word == "slow":
            return slow_down(self.drive, message)
        if word == "corrupt":
            return corrupt(self.drive, message)
        if word in ("take_back", "link"):
            return change_mirror(self.drive, message)
        if word == "fail_over":
            losses = self.drive.fail_over()
            self._reap()
            return losses
        if word != "cut":
            return self.drive.ask(message)
        refuse_unnamed_losses(self.plan)
        cut = self.drive.cut()
        self._reap()
        return cut

    def run(self, watch: Callable[[Mapping[str, Any]], None]) -> int:
        """Serve until the command ends, or a signal; return the exit status.

        `watch` sees the drive's figures once a second.
        """
        if self.plan.command:
            self._start_command()
        control = self.control
        assert control
        with selectors.DefaultSelector() as selector:
            selector.register(control, selectors.EVENT_READ)
            server = self.drive.server.process if self.drive.server else None
            for process in filter(None, (server, self.command)):
                selector.register(os.pidfd_open(process.pid), selectors.EVENT_READ)
            while not self._stopped:
                events = selector.select(TICK_SECONDS)
                if any(key.fileobj is control for key, _ in events):
                    control.serve_client()
                self.drive.require_server()
                if self.command and self.command.poll() is not None:
                    return _status_of(self.command.returncode)
                self._reap()
                if not events:
                    watch(self.drive.status())
        return 0

    def _start_command(self) -> None:
        # The terminal's Ctrl-C is for the command, as in a shell.
        signal.signal(signal.SIGINT, lambda *_: None)
        places = {
            "TAMESHI_DRIVE": self.name,
            **({"TAMESHI_DEVICE": str(self.drive.node)} if self.drive.node else {}),
            **({"TAMESHI_NBD": self.plan.nbd.uri} if self.plan.nbd else {}),
            **({"TAMESHI_MOUNT": str(self.drive.point)} if self.drive.point else {}),
        }
        self.command = subprocess.Popen(
            list(self.plan.command),
            env={**os.environ, **places},
        )

    def _stop_command(self) -> None:
        """End the command and all its descendants."""
        if self.command is None:
            return
        kill_all(_descendants(self.drive.helpers))
        self.command.poll()

    def _reap(self) -> None:
        """Reap orphans that this process has adopted."""
        command = {self.command.pid} if self.command else set()
        for pid in _children() - self.drive.helpers - command:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _stop(self, *_: object) -> None:
        self._stopped = True


def _status_of(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode


def _children(pid: int | str = "self") -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found |= {int(child) for child in task.read_text("utf-8").split()}
    return found


def _descendants(spared: set[int]) -> list[int]:
    """Return all living descendants of this process but the spared ones."""
    found: list[int] = []
    left = sorted(_children() - spared)
    while left:
        pid = left.pop()
        if started(pid) is not None:
            found.append(pid)
        left += sorted(_children(pid))
    return found
