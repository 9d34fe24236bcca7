"""Hosts and replication of a run with a standby: plans and checks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.core.spec_types import DatabaseSpec, RunSpec
from tameshi.hosts import HostPlan, Hosts, HostsPlan, LinkPlan, check_plan
from tameshi.pairs import REPLICATIONS, Replication
from tameshi.servers.installed import Program

FIRST, SECOND = HostPlan("first", "10.77.9.1"), HostPlan("second", "10.77.9.2")


def replication_of(database: DatabaseSpec, product: str) -> Replication:
    """Return the replication to a run's standby; raise `BadInput` if the product has none."""
    assert database.standby
    name = f"{product}-{database.standby.replication.value.replace('_', '-')}"
    if name not in REPLICATIONS:
        accepted = [each for each in REPLICATIONS if "block-mirror" not in each]
        raise BadInput(
            f"{product} has no standby here",
            key="standby.replication",
            found=database.standby.replication.value,
            accepted=[each for each in accepted if each != "mariadb-galera"],
            hint="MariaDB stands for MySQL: --server mysql=mariadb",
        )
    return REPLICATIONS[name]


def check_standby(run: RunSpec, product: str, program: Program, slow: float) -> None:
    """Raise `BadInput` for a standby that this machine cannot run; make nothing."""
    if run.database and run.database.standby:
        replication_of(run.database, product).require_tools(program)
        check_plan(_plan(run, slow))


@contextmanager
def two_hosts(run: RunSpec, slow: float) -> Iterator[Hosts]:
    """Yield the hosts of a run with a standby, and their link."""
    with Hosts(_plan(run, slow), f"study-{os.getpid()}-hosts") as hosts:
        yield hosts


def _plan(run: RunSpec, slow: float) -> HostsPlan:
    assert run.database and run.database.standby
    written = run.database.standby.link
    link = LinkPlan(
        (FIRST.name, SECOND.name),
        compiled.nanoseconds(written.round_trip),
        compiled.size_bytes(written.rate),
    )
    return HostsPlan((FIRST, SECOND), (link,), seed=run.seed, slow=slow, private=True)
