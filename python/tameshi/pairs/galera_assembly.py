"""Assembly of a Galera cluster: two nodes on served drives, and an arbiter on this machine's disk.

The arbiter flushes nothing and never holds the others back: it is there to vote.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from tameshi.hosts import Host, HostPlan, Hosts, HostsPlan
from tameshi.pairs.assembly import OWN_CONNECTIONS, PairPlan
from tameshi.pairs.galera import ARBITER, GaleraPair, MariaDBGalera, addresses_of
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.pair import Pair
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.serve import ServedDrive
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.private import PrivateServer, prepare_directory

ARBITER_OPTIONS = {
    "innodb_flush_log_at_trx_commit": "0",
    "innodb_doublewrite": "OFF",
    "wsrep_provider_options": "gcs.fc_limit=1000000",
    "wsrep_sst_donor": "",
}
"""No flushes, and no flow control: the arbiter holds no commit back."""


def hosts_of(plan: PairPlan) -> HostsPlan:
    """Return the hosts of a pair and the arbiter's, each joined with each."""
    network = plan.hosts[-1].address.rpartition(".")[0]
    arbiter = HostPlan(ARBITER, f"{network}.{len(plan.hosts) + 1}")
    hosts = (*plan.hosts, arbiter)
    pairs = itertools.combinations((host.name for host in hosts), 2)
    links = tuple(replace(plan.link, hosts=pair) for pair in pairs)
    return HostsPlan(hosts, links, seed=plan.seed, private=True, keeps_shares=True)


@contextmanager
def assembled_galera(plan: PairPlan, folder: Path, name: str) -> Iterator[tuple[Pair, LedgerLoad]]:
    """Yield a cluster with loaded data and all nodes, as `assembled` does a pair."""
    replication = plan.replication
    assert isinstance(replication, MariaDBGalera)
    hosts_plan = hosts_of(plan)
    cluster = [host.address for host in hosts_plan.hosts]
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts(hosts_plan, f"{name}-hosts"))
        drives: list[ServedDrive] = []
        sides: list[Side] = []
        for each in plan.hosts:
            served = ServedDrive(plan.drive, f"{name}-{each.name}", private=True)
            drives.append(stack.enter_context(served))
            place = drives[-1].make_file_system() / "db"
            sides.append(_side(plan, hosts.host(each.name), place, folder, drives[-1], stack))
        arbiter = _side(plan, hosts.host(ARBITER), folder.parent / ARBITER, folder, None, stack)
        primary, standby = sides
        primary.server.initialise()
        pair = GaleraPair(
            hosts, (primary, standby), replication, Service(folder / "service"), arbiter
        )
        arbiter.server.options |= replication.options(len(cluster)) | ARBITER_OPTIONS
        for side in (*sides, arbiter):
            side.server.options |= addresses_of(side.address, side.name, cluster)
        joining = primary.server.options
        primary.server.options = joining | addresses_of(primary.address, primary.name, ())
        primary.server.start()
        primary.server.options = joining
        pair.service.lead_to(primary)
        load = LedgerLoad(pair.service.address, plan.program, folder / "load", seed=plan.seed)
        load.load(primary.server.address)
        pair.set_up()
        for drive in drives:
            drive.settle()
            drive.switch_on()
        yield pair, load


def _side(
    plan: PairPlan,
    host: Host,
    place: Path,
    folder: Path,
    drive: ServedDrive | None,
    stack: ExitStack,
) -> Side:
    """Return a node with an empty directory."""
    product = PRODUCTS[plan.replication.product]
    directory = stack.enter_context(prepare_directory(place, product, plan.data_bytes))
    server = PrivateServer(
        *(product, plan.engine, directory, folder / f"{host.name}.log"),
        connections=plan.clients + OWN_CONNECTIONS,
        within=host.running,
    )
    stack.callback(server.kill)
    return Side(host, server, plan.replication.port, drive)
