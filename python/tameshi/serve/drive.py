"""Served drive: server process, loop device, file system, power cuts, end."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tameshi import guard
from tameshi.core import compiled
from tameshi.core.clock import Clock
from tameshi.core.errors import RunFailed, TameshiError
from tameshi.serve import block, file_system
from tameshi.serve.faults import change_mirror
from tameshi.serve.plans import ServePlan
from tameshi.serve.server_process import ServerProcess
from tameshi.serve.state import ROOT, State, identified
from tameshi.serve.sweep import sweep
from tameshi.serve.users import kill_all, users_of

CALIBRATION_READS = 1000


class ServedDrive:
    """Drive with its block device and, once mounted, its file system.

    A context manager that leaves nothing. The drive answers at once, without its model, until it is
    switched on. `private`: only processes of this session see its mounts.
    """

    def __init__(self, plan: ServePlan, name: str, *, private: bool) -> None:
        self.plan = plan
        self._clock = Clock(plan.slow)
        self.state = State(name, plan.profile, identified(os.getpid()), private)
        self.offset_ns = 0
        self.server: ServerProcess | None = None
        self.node: Path | None = None
        self.point: Path | None = None
        self._sweeper: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Serve the drive and attach it."""
        guard.claim_folder(ROOT)
        guard.claim_folder(self.state.folder)
        self.state.write()
        words = [sys.executable, "-m", "tameshi.serve.sweeper", self.state.name]
        self._sweeper = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
        try:
            guard.write_file(self.state.drive, b"")
            spec = self.plan.as_spec(self.state.drive.parent, self.state.source)
            self.server = ServerProcess(spec, self.state.folder / "server.log")
            self.state = self.state.changed(server=identified(self.server.process.pid))
            self.status()
            self._attach()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove everything; a file system in use is taken away from its users."""
        assert self._sweeper
        if self.point and self.node:
            with suppress(TameshiError, OSError):
                # The data end with the drive: write them back without its latencies.
                self.ask("bypass")
                file_system.unmount(self.point, kill=self.state.private)
        sweep(self.state, spared=self._sweeper.pid)
        if self.server:
            self.server.end()
        if self._sweeper.stdin:
            self._sweeper.stdin.close()
        self._sweeper.wait()

    @property
    def helpers(self) -> set[int]:
        """Return the processes of the drive itself."""
        found = (self._sweeper, self.server and self.server.process)
        return {process.pid for process in found if process}

    @property
    def places(self) -> dict[str, Path]:
        """Return the paths of the drive, by kind."""
        file = None if self.plan.nbd else self.state.drive
        named = {"device": self.node, "mounted on": self.point, "file": file}
        return {kind: path for kind, path in named.items() if path}

    def ask(self, message: str) -> dict[str, Any]:
        """Send the drive's server a message; return the answer."""
        assert self.server
        return self.server.ask(message)

    def status(self) -> dict[str, Any]:
        """Return the state and the figures of the drive."""
        return self.ask("status")

    def _attach(self) -> None:
        """Make the drive's block device; by NBD, note the socket."""
        address = self.plan.nbd
        if address:
            if address.path:
                inode = os.lstat(address.path).st_ino
                self.state = self.state.changed(socket=(str(address.path), inode))
            return
        self.node = block.attach(self.state.drive, self.plan)
        self.state = self.state.changed(node=str(self.node))

    def switch_on(self) -> None:
        """Measure the path through the block device or socket, and switch the model on."""
        if self.plan.nbd:
            self.offset_ns = compiled.nbd_latency(self.plan.nbd.text, CALIBRATION_READS)
            self.ask(f"on {self.offset_ns}")
            return
        assert self.node
        fd = os.open(self.node, os.O_RDONLY | os.O_DIRECT)
        try:
            self.offset_ns = compiled.path_latency(fd, CALIBRATION_READS)
        finally:
            os.close(fd)
        self.ask(f"on {self.offset_ns}")

    def make_file_system(self) -> Path:
        """Make the plan's file system, mount it, and return the mount point."""
        assert self.node and self.plan.file_system
        file_system.make(self.plan.file_system, self.node)
        at = self.plan.at
        point = Path(os.path.realpath(at)) if at else self.state.folder / "data"
        made = not point.exists()
        point.mkdir(exist_ok=True)
        self.state = self.state.changed(mount_point=str(point), made_mount_point=made)
        self._mount(point)
        file_system.settle(point)
        return point

    def _mount(self, point: Path) -> None:
        assert self.node and self.plan.file_system
        file_system.mount(self.plan.file_system, self.node, point, self.plan.slow)
        self.point = point
        # In use, it is not detached now: the kernel does that once the last user is gone.
        block.release(self.node)

    def settle(self) -> None:
        """Write back all that the file system holds."""
        if self.point:
            file_system.settle(self.point)

    def cut(self) -> dict[str, Any]:
        """Cut the power of drive and host; switch it on and mount again; return the losses."""
        begin = self._clock.now_ns()
        cut = self.ask("cut")
        users = users_of([place for place in (self.point or self.node,) if place])
        kill_all(users)
        return {**cut, **self.restore_power(begin, kill=True), "killed": len(users)}

    def fail_over(self) -> dict[str, Any]:
        """Lose the near side of a block mirror; mount the far side; return the losses."""
        begin = self._clock.now_ns()
        losses = change_mirror(self, "fail_over")
        users = users_of([place for place in (self.point or self.node,) if place])
        kill_all(users)
        return {**losses, **self.restore_power(begin, kill=True), "killed": len(users)}

    def restore_power(self, cut_ns: int, *, kill: bool) -> dict[str, Any]:
        """Take file system and device away, and bring them back as after a power cut.

        `cut_ns`: time of the cut on the drive's clock. `kill` ends remaining users of the file
        system; else they close their files by themselves.
        """
        point, node = self.point, self.node
        if not node:
            # Clients of NBD have lost their connections, and may come again.
            self.ask(f"on {self.offset_ns}")
            self._attach()
            return {}
        if point:
            file_system.cut_off(point, kill=kill)
            self.point = None
        else:
            # A later reader must not find what the host's page cache still holds.
            block.release(node)
        block.wait_until_gone(node, self.state.drive)
        self.node = None
        self.ask(f"on {self.offset_ns}")
        self._attach()
        if not point:
            return {}
        self._mount(point)
        return {"mounted_ns": self._clock.now_ns() - cut_ns}

    def require_server(self) -> None:
        """Raise `RunFailed` if the drive's server has ended."""
        if self.server and self.server.process.poll() is not None:
            raise RunFailed(self.server.last_words())
