"""Session of one served drive: set-up, power cuts, control socket, end."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core import compiled
from tameshi.core.errors import RunFailed, TameshiError
from tameshi.serve import block, file_system
from tameshi.serve.control import ControlSocket
from tameshi.serve.kernel import become_subreaper, enter_private_namespace
from tameshi.serve.plans import ServePlan
from tameshi.serve.server_process import ServerProcess
from tameshi.serve.state import ROOT, State, identified
from tameshi.serve.sweep import sweep
from tameshi.serve.users import kill_all, started, users_of

CALIBRATION_READS = 1000
TICK_SECONDS = 1.0


class Session:
    """Served drive with its device and file system; a context manager that leaves nothing."""

    def __init__(self, plan: ServePlan) -> None:
        self.plan = plan
        name = f"{Path(plan.profile).stem}-{os.getpid()}"
        self.state = State(name, plan.profile, identified(os.getpid()), bool(plan.command))
        self.offset_ns = 0
        self.set_up_status: dict[str, Any] = {}
        self.node: Path | None = None
        self.point: Path | None = None
        self.command: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def __enter__(self) -> Session:
        """Serve the drive, attach it and mount it."""
        if self.plan.command:
            enter_private_namespace()
        become_subreaper()
        for stopping in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(stopping, self._stop)
        guard.claim_folder(ROOT)
        guard.claim_folder(self.state.folder)
        self.state.write()
        words = [sys.executable, "-m", "tameshi.serve.sweeper", self.state.name]
        self._sweeper = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
        try:
            self._set_up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove everything; a file system in use is taken away from its users."""
        self._stop_command()
        if self.point and self.node:
            with suppress(TameshiError, OSError):
                # The data end with the drive: write them back without its latencies.
                self.server.ask("bypass")
                file_system.unmount(self.point, kill=bool(self.plan.command))
        if hasattr(self, "control"):
            self.control.close()
        sweep(self.state, spared=self._sweeper.pid)
        if hasattr(self, "server"):
            self.server.end()
        if self._sweeper.stdin:
            self._sweeper.stdin.close()
        self._sweeper.wait()

    def _set_up(self) -> None:
        guard.write_file(self.state.drive, b"")
        spec = self.plan.as_spec(self.state.drive.parent, self.state.source)
        self.server = ServerProcess(spec, self.state.folder / "server.log")
        self.state = self.state.changed(server=identified(self.server.process.pid))
        self.server.ask("status")
        self.control = ControlSocket(self.state.control, self.obey)
        self._attach()
        self._calibrate()
        if self.plan.file_system and self.node:
            file_system.make(self.plan.file_system, self.node)
            self._mount(self._mount_point())
            file_system.settle(self._mounted())
        self.set_up_status = self.status()
        self.server.ask("reset")

    def _mount_point(self) -> Path:
        """Return the mount point, made if there is none."""
        point = Path(os.path.realpath(self.plan.at)) if self.plan.at else self.state.folder / "data"
        made = not point.exists()
        point.mkdir(exist_ok=True)
        self.state = self.state.changed(mount_point=str(point), made_mount_point=made)
        return point

    def _mounted(self) -> Path:
        if self.point is None:
            raise RunFailed("no file system is mounted")
        return self.point

    def _attach(self) -> None:
        self.node = block.attach(self.state.drive, self.plan)
        self.state = self.state.changed(node=str(self.node))

    def _mount(self, point: Path) -> None:
        assert self.node and self.plan.file_system
        file_system.mount(self.plan.file_system, self.node, point)
        self.point = point
        # In use, it is not detached now: the kernel does that once the last user is gone.
        block.release(self.node)

    def _calibrate(self) -> None:
        """Measure the path through the block device, and switch the drive on."""
        assert self.node
        fd = os.open(self.node, os.O_RDONLY | os.O_DIRECT)
        try:
            self.offset_ns = compiled.path_latency(fd, CALIBRATION_READS)
        finally:
            os.close(fd)
        self.server.ask(f"on {self.offset_ns}")

    @property
    def places(self) -> dict[str, Path]:
        """Return the paths of the drive, by kind."""
        named = {"device": self.node, "mounted on": self.point, "file": self.state.drive}
        return {kind: path for kind, path in named.items() if path}

    def status(self) -> dict[str, Any]:
        """Return the state and the figures of the drive."""
        return self.server.ask("status")

    def obey(self, message: str) -> Mapping[str, Any]:
        """Answer a control message."""
        return self.cut() if message == "cut" else self.server.ask(message)

    def cut(self) -> dict[str, Any]:
        """Cut the power of drive and host; switch it on and mount again; return the losses."""
        begin = time.monotonic_ns()
        cut = self.server.ask("cut")
        point, node = self.point, self.node
        users: list[int] = []
        if point:
            users = file_system.cut_off(point)
            self.point = None
        elif node:
            users = users_of([node])
            kill_all(users)
            # A later reader must not find what the host's page cache still holds.
            block.release(node)
        if node:
            block.wait_until_gone(node, self.state.drive)
        self.node = None
        self.server.ask(f"on {self.offset_ns}")
        self._attach()
        if point:
            self._mount(point)
            cut["mounted_ns"] = time.monotonic_ns() - begin
        self._reap()
        return {**cut, "killed": len(users)}

    def run(self, watch: Callable[[Mapping[str, Any]], None]) -> int:
        """Serve until the command ends, or a signal; return the exit status.

        `watch` sees the drive's figures once a second.
        """
        if self.plan.command:
            self._start_command()
        with selectors.DefaultSelector() as selector:
            selector.register(self.control, selectors.EVENT_READ)
            for process in filter(None, (self.server.process, self.command)):
                selector.register(os.pidfd_open(process.pid), selectors.EVENT_READ)
            while not self._stopped:
                events = selector.select(TICK_SECONDS)
                if any(key.fileobj is self.control for key, _ in events):
                    self.control.serve_client()
                if self.server.process.poll() is not None:
                    raise RunFailed(self.server.last_words())
                if self.command and self.command.poll() is not None:
                    return _status_of(self.command.returncode)
                self._reap()
                if not events:
                    watch(self.status())
        return 0

    def _start_command(self) -> None:
        # The terminal's Ctrl-C is for the command, as in a shell.
        signal.signal(signal.SIGINT, lambda *_: None)
        places = {
            "TAMESHI_DRIVE": self.state.name,
            "TAMESHI_DEVICE": str(self.node),
            **({"TAMESHI_MOUNT": str(self.point)} if self.point else {}),
        }
        self.command = subprocess.Popen(
            list(self.plan.command),
            env={**os.environ, **places},
        )

    def _stop_command(self) -> None:
        """End the command and all its descendants."""
        if self.command is None:
            return
        kill_all(_descendants(self._known()))
        self.command.poll()

    def _known(self) -> set[int]:
        server = {self.server.process.pid} if hasattr(self, "server") else set()
        return {self._sweeper.pid, *server}

    def _reap(self) -> None:
        """Reap orphans that this process has adopted."""
        command = {self.command.pid} if self.command else set()
        for pid in _children() - self._known() - command:
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
