"""Assembly of a pair: hosts with a link, a served drive and a server for each, loaded data."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core.spec_types import Engine
from tameshi.hosts import HostPlan, Hosts, HostsPlan, LinkPlan, check_plan
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.pair import Pair
from tameshi.pairs.replication import Replication
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.serve import ServedDrive, ServePlan
from tameshi.serve.plans import check_plan as check_drive
from tameshi.servers.accounts import account_of
from tameshi.servers.catalog import PRODUCTS, program_of
from tameshi.servers.private import PrivateServer, prepare_directory

SIDES = 2
OWN_CONNECTIONS = 8
"""Connections of Tameshi and of the standby, next to those of clients."""


@dataclass(frozen=True)
class PairPlan:
    """Pair to assemble: two hosts alike, each with a drive and a server alike.

    `drive` is served to each host; `data_bytes`: most bytes of the database. `program`: load of the
    clients, as the database driver reads it.
    """

    replication: Replication
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
        return HostsPlan(self.hosts, (self.link,), seed=self.seed, private=True)


def check_pair(plan: PairPlan) -> None:
    """Raise `BadInput` for what this machine cannot assemble; make nothing."""
    product = PRODUCTS[plan.replication.product]
    program = program_of(product, plan.engine)
    account_of(product)
    product.options(plan.engine, program)
    plan.replication.require_tools(program)
    check_plan(plan.as_hosts())
    both = SIDES * plan.drive.limit_bytes
    check_drive(replace(plan.drive, limit_bytes=both))


@contextmanager
def assembled(plan: PairPlan, folder: Path, name: str) -> Iterator[tuple[Pair, LedgerLoad]]:
    """Yield a pair with loaded data, an attached standby and drives that have their latencies.

    `folder` is one of Tameshi's that the server's user may enter, for logs and journals. `name`:
    begin of the names of hosts and drives. The process has mounts of its own.
    """
    product = PRODUCTS[plan.replication.product]
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts(plan.as_hosts(), f"{name}-hosts"))
        drives: list[ServedDrive] = []
        sides: list[Side] = []
        for host in (hosts.host(each.name) for each in plan.hosts):
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
        primary, standby = sides
        pair = Pair(hosts, (primary, standby), plan.replication, Service(folder / "service"))
        primary.server.initialise()
        primary.server.start()
        pair.service.lead_to(primary)
        load = LedgerLoad(pair.service.address, plan.program, folder / "load", seed=plan.seed)
        load.load(primary.server.address)
        pair.set_up()
        for drive in drives:
            drive.settle()
            drive.switch_on()
        yield pair, load


@contextmanager
def place_of_pair() -> Iterator[Path]:
    """Yield a folder of Tameshi's that every user may enter; remove it in the end."""
    with tempfile.TemporaryDirectory(prefix="tameshi-pair-") as made:
        place = Path(made)
        place.chmod(0o755)
        guard.claim_folder(place / "run")
        yield place / "run"
