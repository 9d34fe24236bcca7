"""Simulated runs on a Dask cluster: `run --cluster`.

`connection` finds or starts the cluster; `collector` hands out `batches` of runs and stores the
records that come back; `members` knows the workers; `remote` is what a worker executes. Scheduling
is Dask's. `docs/cluster.md` is the page for users.
"""

from tameshi.cluster.connection import check, connected

__all__ = ["check", "connected"]
