"""Side of a pair: a host with its server and its drive; fence, power cut, return of the power."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Protocol

import psutil

from tameshi.core.errors import BadInput, RunFailed
from tameshi.hosts import Host
from tameshi.servers.accounts import account_of
from tameshi.servers.private import PrivateServer
from tameshi.servers.product import Client, ClientError, Rows

TOOL_SECONDS = 3600.0
"""Time limit of a tool that copies a database, in s."""
_KEPT_LINES = 5


class PowerCutDrive(Protocol):
    """Drive under a server that loses its power; `serve.ServedDrive` is one."""

    @property
    def node(self) -> Path | None:
        """Return its block device while it is attached."""

    def ask(self, message: str) -> dict[str, Any]:
        """Send the drive a message; return the answer."""

    def restore_power(self, cut_ns: int, *, kill: bool) -> dict[str, Any]:
        """Mount the drive again as after a power cut."""


class Side:
    """Host of a pair with its server, which listens at the host's address.

    `drive` has the server's files; None: they are on a disk of this machine, whose power cannot be
    cut. The thread that starts the server has to outlive it.
    """

    def __init__(
        self, host: Host, server: PrivateServer, port: int, drive: PowerCutDrive | None = None
    ) -> None:
        self.host = host
        self.server = server
        self.drive = drive
        self._cut_ns: int | None = None
        server.home = replace(server.home, port=port, bind=host.address)

    @property
    def name(self) -> str:
        """Return the host's name."""
        return self.host.name

    @property
    def address(self) -> str:
        """Return the address that the other side reaches it by."""
        return self.host.address

    @property
    def is_up(self) -> bool:
        """Return whether its server runs."""
        return self.server.pid is not None

    def query(self, *statements: str) -> Rows:
        """Return the rows of the last statement, all on one connection; raise `RunFailed`."""
        rows: Rows = []
        with self.client() as client:
            for statement in statements:
                try:
                    rows = client.query(statement)
                except ClientError as error:
                    raise RunFailed(f"{statement}: {error}", where=self.name) from None
        return rows

    def value(self, statement: str) -> Any:
        """Return the first value of the first row of a statement."""
        return self.query(statement)[0][0]

    def client(self) -> Client:
        """Connect to the server from outside of the host; raise `RunFailed`."""
        try:
            return self.server.client()
        except ClientError as error:
            ended = self.server.ended()
            raise RunFailed(ended or f"no connection: {error}", where=self.name) from None

    def run_tools(self, *commands: Sequence[str]) -> None:
        """Run programs in the host as the server's user, each fed by the one before.

        Raises `RunFailed` with their messages.
        """
        account = account_of(self.server.product)
        running: list[subprocess.Popen[bytes]] = []
        for number, command in enumerate(commands):
            is_last = number == len(commands) - 1
            source: IO[bytes] | int | None = running[-1].stdout if running else subprocess.DEVNULL
            running.append(
                subprocess.Popen(
                    self.host.running(account.starting(command)),
                    stdin=source,
                    stdout=subprocess.DEVNULL if is_last else subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=self.server.home.run,
                    env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
                )
            )
            if number and running[-2].stdout:
                # The end of the reader ends the writer, too.
                running[-2].stdout.close()
        try:
            failures = [
                failure
                for process, command in zip(reversed(running), reversed(commands), strict=True)
                if (failure := _failure(process, command))
            ]
        except BaseException:
            for process in running:
                process.kill()
                process.wait()
            raise
        if failures:
            raise RunFailed(" / ".join(failures), where=self.name)

    def cpu_seconds(self) -> float:
        """Return the processor time of all programs in the host that still run, in s."""
        total = 0.0
        for pid in self.host.processes():
            with suppress(psutil.NoSuchProcess):
                times = psutil.Process(pid).cpu_times()
                total += times.user + times.system
        return total

    def fence(self) -> None:
        """Kill the server and every other program in the host; raise `RunFailed` if one is left.

        Only a fenced side cannot acknowledge anything more: the other may then take over.
        """
        self.server.kill()
        self.host.kill()
        left = self.host.processes()
        if left:
            raise RunFailed(
                "the fence does not hold: programs are left in the host of the old primary",
                where=self.name,
                found=f"{len(left)} processes",
                hint="The other side must not take over while they run.",
            )

    def cut_power(self) -> dict[str, Any]:
        """Cut the power of drive and host; return the drive's losses. Raises `BadInput`."""
        if self.drive is None:
            raise BadInput(
                "a host without a served drive has no power to cut",
                where=self.name,
                found="a directory of this machine",
                accepted=["kill", "link-cut"],
            )
        self._cut_ns = time.monotonic_ns()
        losses = self.drive.ask("cut")
        self.fence()
        losses.pop("ranges", None)
        return losses

    def restore_power(self) -> None:
        """Mount the drive again after a power cut; do nothing without one."""
        cut_ns, self._cut_ns = self._cut_ns, None
        if cut_ns is not None and self.drive is not None:
            with self.server.directory.let_go():
                self.drive.restore_power(cut_ns, kill=False)


def _failure(process: subprocess.Popen[bytes], command: Sequence[str]) -> str:
    """Wait for the end of a program; return its last messages if it failed, else nothing."""
    _, said = process.communicate(timeout=TOOL_SECONDS)
    if process.returncode == 0:
        return ""
    lines = said.decode(errors="replace").strip().splitlines()[-_KEPT_LINES:]
    return f"{command[0]} failed ({process.returncode}): {' / '.join(lines)}"
