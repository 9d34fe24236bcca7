"""Simulated runs on a Dask cluster: `run --cluster`.

`connection` finds or starts the cluster; `collector` hands out `batches` of runs and stores the
records that come back; `members` knows the workers; `remote` is what a worker executes. Scheduling
is Dask's. `docs/cluster.md` is the page for users.

A `fleet` measures on hosts: `serving` is the worker's process, `permission` what it may use, and
`measuring` what it executes. `docs/fleet.md` is the page.
"""

from tameshi.cluster.connection import check, check_address, connected, fleet_of

__all__ = ["check", "check_address", "connected", "fleet_of"]
