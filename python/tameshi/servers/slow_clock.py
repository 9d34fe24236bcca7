"""Slowed clock of a server in slow motion, by libfaketime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.servers.installed import Program
from tameshi.servers.shared_memory import unlink_named

PACKAGE = "libfaketime"
"""Debian package of the library."""
_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib")
_NAME = "faketime/libfaketimeMT.so.1"
"""Build of the library for programs with threads."""


def library() -> Path | None:
    """Return libfaketime; None if it is not installed."""
    for folder in map(Path, _FOLDERS):
        for place in (folder, *sorted(folder.glob("*-linux-*"))):
            if (place / _NAME).exists():
                return place / _NAME
    return None


def found() -> Iterator[Program]:
    """Yield the library as a program, with its path in place of a version."""
    if place := library():
        yield Program(PACKAGE, str(place), str(place))


def require_library() -> Path:
    """Return libfaketime; raise `BadInput` if it is not installed."""
    found = library()
    if found is None:
        raise BadInput(
            "slow motion of a server needs libfaketime, which slows the server's clock",
            where="--slow",
            found="no libfaketimeMT.so.1",
            hint=f"Install it: apt-get install {PACKAGE}.",
        )
    return found


def variables(slow: float) -> list[str]:
    """Return the variables of a program's environment that slow its clock, as NAME=VALUE."""
    return [f"LD_PRELOAD={require_library()}", f"FAKETIME=+0 x{1 / slow:.12g}", "NO_FAKE_STAT=1"]


def slowed(command: Sequence[str], slow: float) -> list[str]:
    """Return a command whose clock is slowed.

    The program itself loads the library, after a change of user: the library's shared memory
    belongs to the user of the first program that loads it.
    """
    return ["env", *variables(slow), *command] if slow != 1 else list(command)


def bury(pid: int) -> None:
    """Remove the shared memory that the library leaves of a killed process."""
    unlink_named(memory=f"/faketime_shm_{pid}", semaphore=f"/faketime_sem_{pid}")
