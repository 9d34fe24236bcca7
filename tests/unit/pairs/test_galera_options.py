"""Galera's options, hosts and recovered positions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tameshi.commands.failover import pair_plan, program_of
from tameshi.core.errors import BadInput
from tameshi.pairs import galera
from tameshi.pairs.galera import MariaDBGalera, addresses_of, recovered_position
from tameshi.pairs.galera_assembly import hosts_of
from tameshi.servers.installed import Program

MARIADB = Program("mariadb", "10.11", "/usr/sbin/mariadbd")


def test_each_host_of_a_cluster_is_joined_with_each() -> None:
    plan = pair_plan(
        "mariadb-block-mirror", "sata-ssd-480gb", "tcp-1gbe", program_of(0, 10, 1), "64MiB"
    )
    plan = replace(plan, replication=MariaDBGalera())
    hosts = hosts_of(plan)
    assert [host.name for host in hosts.hosts] == ["left", "right", "arbiter"]
    assert len({host.address for host in hosts.hosts}) == 3
    pairs = [link.hosts for link in hosts.links]
    assert pairs == [("left", "right"), ("left", "arbiter"), ("right", "arbiter")]
    assert {link.round_trip_ns for link in hosts.links} == {plan.link.round_trip_ns}


def test_node_without_other_addresses_founds_the_cluster() -> None:
    founding = addresses_of("10.77.8.1", "left", ())
    joining = addresses_of("10.77.8.1", "left", ("10.77.8.1", "10.77.8.2"))
    assert founding["wsrep_cluster_address"] == "gcomm://"
    assert joining["wsrep_cluster_address"] == "gcomm://10.77.8.1,10.77.8.2"


def test_missing_library_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(galera, "PROVIDERS", ("/nowhere/libgalera_smm.so",))
    with pytest.raises(BadInput, match="apt-get install galera-4"):
        MariaDBGalera().require_tools(MARIADB)


@pytest.mark.parametrize(
    ("log", "position"),
    [
        ("[Note] WSREP: Recovered position: {uuid}:1234\n", "{uuid}:1234"),
        ("no such line\n", "00000000-0000-0000-0000-000000000000:-1"),
    ],
)
def test_position_of_a_killed_node_is_read_from_its_log(
    tmp_path: Path, log: str, position: str
) -> None:
    uuid = "8ab0b8f4-0000-11ee-8000-0242ac120002"
    (tmp_path / "recovery.log").write_text(log.format(uuid=uuid))
    server = SimpleNamespace(home=SimpleNamespace(run=tmp_path), command=lambda: ["mariadbd"])
    ran: list[tuple[list[str], ...]] = []
    side = SimpleNamespace(server=server, run_tools=lambda *commands: ran.append(commands))
    assert recovered_position(side) == position.format(uuid=uuid)  # type: ignore[arg-type]
    assert ran[0][0][:2] == ["mariadbd", "--wsrep-recover"]
