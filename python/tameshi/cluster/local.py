"""Cluster on this machine: `python -m tameshi.cluster.local WORKERS` until standard input ends.

It is a process of its own, so that a terminal's Ctrl-C reaches its workers only through the
collector, and so that it ends with a killed collector. Standard output: a JSON line with `address`.
"""

from __future__ import annotations

import json
import sys

LOOPBACK = "127.0.0.1"
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
}
"""Settings of Dask: observation of itself would take the processor from the runs."""


def main() -> None:
    """Start scheduler and workers, each with one thread, and wait."""
    import dask
    from distributed import LocalCluster

    dask.config.set(QUIET)
    cluster = LocalCluster(
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        host=LOOPBACK,
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": f"{LOOPBACK}:0"},
        memory_limit=0,  # Runs are processes of their own, and a worker itself stays small.
    )
    with cluster:
        print(json.dumps({"address": cluster.scheduler_address}), flush=True)
        sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
