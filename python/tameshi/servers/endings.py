"""Cause of an unplanned end of a server."""

from __future__ import annotations

import signal

from tameshi.core.memory_group import MemoryGroup
from tameshi.guard import size_text


def cause_of(status: int, before: MemoryGroup, after: MemoryGroup, pool_bytes: int) -> str:
    """Return a phrase on a server's exit status; `before` is the control group at its start.

    A kill is the kernel's, for lack of memory, if the group counts one more.
    """
    if status >= 0:
        return f"status {status}"
    how = f"killed by signal {-status}"
    if status != -signal.SIGKILL or after.kills == before.kills:
        return how
    if after.limit_bytes is None:
        return f"{how} because the machine ran out of memory"
    limit = f"the control group's memory limit of {size_text(after.limit_bytes)}"
    if pool_bytes >= after.limit_bytes:
        return f"{how}: {limit} is below the buffer pool of {size_text(pool_bytes)}"
    return f"{how} at {limit}"
