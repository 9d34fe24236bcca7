"""State of each served drive, under `/run/tameshi`: what a later command needs to clean up."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.serve.users import started

ROOT = Path("/run/tameshi")


@dataclass(frozen=True)
class State:
    """Processes, mounts and device of one drive.

    `owner` and `server` are a process and its start time. `made_mount_point`: the directory is
    Tameshi's to remove. `socket`: path and inode of a Unix socket of NBD.
    """

    name: str
    profile: str
    owner: tuple[int, int]
    private: bool
    server: tuple[int, int] | None = None
    node: str | None = None
    mount_point: str | None = None
    made_mount_point: bool = False
    socket: tuple[str, int] | None = None

    @property
    def folder(self) -> Path:
        """Return the drive's folder."""
        return ROOT / self.name

    @property
    def drive(self) -> Path:
        """Return the file that is the drive."""
        return self.folder / "drive"

    @property
    def source(self) -> str:
        """Return the drive's name in the kernel's table of mounts."""
        return f"tameshi-{self.name}"

    @property
    def control(self) -> Path:
        """Return the path of the control socket."""
        return self.folder / "control"

    def changed(self, **fields: Any) -> State:
        """Return the state with other values, after writing it down."""
        state = replace(self, **fields)
        state.write()
        return state

    def write(self) -> None:
        """Write the state down."""
        guard.write_file(self.folder / "state.json", json.dumps(asdict(self)).encode())


def identified(pid: int) -> tuple[int, int]:
    """Return a process with its start time, which tells it from a later one of its number."""
    return pid, started(pid) or 0


def is_alive(process: tuple[int, int] | None) -> bool:
    """Return whether a process still runs."""
    return process is not None and started(process[0]) == process[1]


def states() -> Iterator[State]:
    """Yield the state of each drive, also of killed sessions."""
    if not ROOT.is_dir():
        return
    for name in sorted(os.listdir(ROOT)):
        try:
            fields = json.loads((ROOT / name / "state.json").read_text(encoding="utf-8"))
            for process in ("owner", "server", "socket"):
                fields[process] = tuple(fields[process]) if fields.get(process) else None
            state = State(**fields)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # Of another version of Tameshi, or being written.
        yield state
