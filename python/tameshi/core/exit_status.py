"""Exit statuses of all commands; `docs/exit-status.md` has the table."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """Exit status of the process."""

    DONE = 0
    FAILED = 1
    """A valid request failed: a run, a promise that was checked, the system."""
    REFUSED = 2
    """Unusable input, or a target that is not Tameshi's; nothing was written."""
    INVALID = 3
    """Work done, without figures that can be trusted or compared."""
    UNEXPECTED = 70
    """A fault of Tameshi."""
    INTERRUPTED = 130
    """Ctrl-C; the same command continues."""
