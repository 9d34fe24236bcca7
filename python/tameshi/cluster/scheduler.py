"""Scheduler of a cluster, as those see it who wait for its answers."""

from __future__ import annotations

from typing import Any

from tameshi.core.errors import RunFailed


def answers(client: Any, hint: str) -> bool:
    """Return whether the scheduler answers; raise `RunFailed` if Dask has given up."""
    if client.status == "closed":
        raise RunFailed(
            "the scheduler of the cluster is gone",
            where=client.scheduler.address if client.scheduler else "",
            hint=hint,
        )
    return bool(client.status == "running")
