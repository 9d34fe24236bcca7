"""Assembly of a mirrored pair: hosts with a link, and one served drive with a far side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from tameshi.hosts import Hosts
from tameshi.pairs.assembly import OWN_CONNECTIONS, PairPlan, assembled
from tameshi.pairs.deployment import Deployment
from tameshi.pairs.embedded import EmbeddedLoad, EmbeddedServer, EmbeddedService
from tameshi.pairs.galera import MariaDBGalera
from tameshi.pairs.galera_assembly import assembled_galera
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.mirror import BlockMirror, Mirror, MirroredPair, MirroredServer, NearDrive
from tameshi.pairs.service import Service
from tameshi.pairs.side import Side
from tameshi.serve import ServedDrive, ServePlan
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.private import prepare_directory
from tameshi.servers.product import Address

SIDES = 2


@contextmanager
def any_assembled(
    plan: PairPlan, folder: Path, name: str
) -> Iterator[tuple[Deployment, LedgerLoad]]:
    """Yield a deployment of any way as `assembled` does."""
    replication = plan.replication
    made = assembled(plan, folder, name)
    if isinstance(replication, BlockMirror):
        made = _assembled(plan, replication, folder, name)
    elif isinstance(replication, MariaDBGalera):
        made = assembled_galera(plan, folder, name)
    with made as found:
        yield found


@contextmanager
def _assembled(
    plan: PairPlan, replication: BlockMirror, folder: Path, name: str
) -> Iterator[tuple[Deployment, LedgerLoad]]:
    product = PRODUCTS[replication.product]
    with ExitStack() as stack:
        hosts = stack.enter_context(Hosts(plan.as_hosts(), f"{name}-hosts"))
        drive = stack.enter_context(
            ServedDrive(mirrored(plan, replication), f"{name}-mirror", private=True)
        )
        place = drive.make_file_system() / "db"
        directory = stack.enter_context(prepare_directory(place, product, plan.data_bytes))
        mirror = Mirror(drive, directory)
        sides, servers = [], []
        kind = EmbeddedServer if product.embedded else MirroredServer
        for host in (hosts.host(each.name) for each in plan.hosts):
            server = kind(
                *(product, plan.engine, directory, folder / f"{host.name}.log"),
                connections=plan.clients + OWN_CONNECTIONS,
                within=host.running,
            )
            server.mirror = mirror
            stack.callback(server.kill)
            servers.append(server)
            sides.append(Side(host, server, replication.port, NearDrive(mirror)))
        primary, standby = sides
        service = (EmbeddedService if product.embedded else Service)(folder / "service")
        pair = MirroredPair(hosts, (primary, standby), replication, service, mirror)
        primary.server.initialise()
        pair.set_up()
        load = _load_of(plan, service.address, folder / "load", servers)
        load.load(primary.server.address)
        drive.settle()
        drive.switch_on()
        yield pair, load


def _load_of(
    plan: PairPlan, address: Address, folder: Path, servers: Sequence[MirroredServer]
) -> LedgerLoad:
    """Return the load, whose clients have the engine if it is embedded."""
    embedded = [server for server in servers if isinstance(server, EmbeddedServer)]
    if embedded:
        return EmbeddedLoad(address, plan.program, folder, embedded, seed=plan.seed)
    return LedgerLoad(address, plan.program, folder, seed=plan.seed)


def mirrored(plan: PairPlan, replication: BlockMirror) -> ServePlan:
    """Return the drive of a pair with a far side across its link."""
    link = {
        "round_trip": f"{plan.link.round_trip_ns} ns",
        "rate": f"{plan.link.rate_bytes} B",
    }
    node = {"replica": {"of": plan.drive.node, "link": link, "protocol": replication.protocol}}
    return replace(plan.drive, node=node, drives=SIDES * plan.drive.drives)
