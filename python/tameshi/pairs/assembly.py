"""Assembly of a deployment: hosts and a link, a served drive and a server for each, its data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core.spec_types import Engine
from tameshi.hosts import HostPlan, Hosts, HostsPlan, LinkPlan, check_plan
from tameshi.pairs.deployment import Deployment
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.pair import Pair
from tameshi.pairs.replication import Replication
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.pairs.single import Single, SingleHost
from tameshi.pairs.way import Way
from tameshi.serve import ServedDrive, ServePlan
from tameshi.serve.plans import check_plan as check_drive
from tameshi.servers.accounts import account_of
from tameshi.servers.catalog import PRODUCTS, program_of
from tameshi.servers.private import PrivateServer, prepare_directory

OWN_CONNECTIONS = 8
"""Connections of Tameshi and of the standby, next to those of clients."""


@dataclass(frozen=True)
class PairPlan:
    """Pair to assemble: two hosts alike, each with a drive and a server alike.

    A server alone has the first host. `drive` is served to each host; `data_bytes`: most bytes of
    the database. `program`: load of the clients, as the database driver reads it.
    """

    replication: Way
    engine: Engine
    drive: ServePlan
    hosts: tuple[HostPlan, HostPlan]
    link: LinkPlan
    data_bytes: int
    program: Mapping[str, Any]
    seed: int = 1

    @property
    def clients(self) -> int:
        """Return the number of the clients."""
        ((_, shape),) = self.program.items()
        return int(shape["clients"])

    def as_hosts(self) -> HostsPlan:
        """Return the hosts and the link; only this process and its descendants see the mounts."""
        standbys = self.replication.standbys
        links = (self.link,) if standbys else ()
        hosts = self.hosts[: 1 + standbys]
        return HostsPlan(hosts, links, seed=self.seed, private=True, keeps_shares=True)


def check_pair(plan: PairPlan) -> None:
    """Raise `BadInput` for what this machine cannot assemble; make nothing."""
    product = PRODUCTS[plan.replication.product]
    program = program_of(product, plan.engine)
    account_of(product)
    product.options(plan.engine, program)
    plan.replication.require_tools(program)
    check_plan(plan.as_hosts())
    all_bytes = len(plan.as_hosts().hosts) * plan.drive.limit_bytes
    check_drive(replace(plan.drive, limit_bytes=all_bytes))


@contextmanager
def assembled(plan: PairPlan, folder: Path, name: str) -> Iterator[tuple[Deployment, LedgerLoad]]:
    """Yield a deployment with loaded data, and drives that have their latencies.

    `folder` is one of Tameshi's that the server's user may enter, for logs and journals. `name`:
    begin of the names of hosts and drives. The process has mounts of its own.
    """
    product = PRODUCTS[plan.replication.product]
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts(plan.as_hosts(), f"{name}-hosts"))
        drives: list[ServedDrive] = []
        sides: list[Side] = []
        for host in (hosts.host(each.name) for each in hosts.plan.hosts):
            served = ServedDrive(plan.drive, f"{name}-{host.name}", private=True)
            drive = stack.enter_context(served)
            place = drive.make_file_system() / "db"
            directory = stack.enter_context(prepare_directory(place, product, plan.data_bytes))
            server = PrivateServer(
                *(product, plan.engine, directory, folder / f"{host.name}.log"),
                connections=plan.clients + OWN_CONNECTIONS,
                within=host.running,
            )
            stack.callback(server.kill)
            drives.append(drive)
            sides.append(Side(host, server, plan.replication.port, drive))
        deployment = _deployed(plan.replication, hosts, sides, Service(folder / "service"))
        primary = deployment.primary
        primary.server.initialise()
        primary.server.start()
        deployment.service.lead_to(primary)
        address = deployment.service.address
        load = LedgerLoad(address, plan.program, folder / "load", seed=plan.seed)
        load.load(primary.server.address)
        deployment.set_up()
        for drive in drives:
            drive.settle()
            drive.switch_on()
        yield deployment, load


def _deployed(way: Way, hosts: Hosts, sides: Sequence[Side], service: Service) -> Deployment:
    """Return the deployment of a way on its sides."""
    if isinstance(way, Single):
        return SingleHost(sides[0], way, service)
    assert isinstance(way, Replication)
    primary, standby = sides
    return Pair(hosts, (primary, standby), way, service)


@contextmanager
def place_of_pair() -> Iterator[Path]:
    """Yield a folder of Tameshi's that every user may enter; remove it in the end."""
    with tempfile.TemporaryDirectory(prefix="tameshi-pair-") as made:
        place = Path(made)
        place.chmod(0o755)
        guard.claim_folder(place / "run")
        yield place / "run"
