"""Replications of pairs: GTID histories, errors of a standby, arguments, the moving address."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tameshi.core.errors import BadInput, RunFailed
from tameshi.pairs import REPLICATIONS, Service, Side, TrialPlan, replication_named
from tameshi.pairs.ledger_load import acknowledged_in, quantile
from tameshi.pairs.mariadb import error_in, holds, sequence
from tameshi.pairs.mirror import BlockMirror
from tameshi.pairs.pair import Failover
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.installed import Program
from tameshi.servers.product import Address, Home

PROGRAMS = {"mariadb": "/usr/sbin/mariadbd", "postgresql": "/usr/lib/postgresql/15/bin/postgres"}


@pytest.mark.parametrize(("position", "number"), [("0-1-57", 57), ("", 0), ("0-2-8", 8)])
def test_position_has_the_number_of_its_last_transaction(position: str, number: int) -> None:
    assert sequence(position) == number


@pytest.mark.parametrize(
    ("history", "last", "is_held"),
    [
        ("0-1-98,0-2-150", "0-1-98", True),
        ("0-1-98,0-2-150", "0-1-99", False),
        ("0-1-98, 0-2-150", "0-2-150", True),
        ("0-1-98", "0-2-1", False),
        ("", "0-1-1", False),
        ("", "", True),
    ],
)
def test_history_holds_only_transactions_of_its_own(history: str, last: str, is_held: bool) -> None:
    assert holds(history, last) is is_held


def test_only_a_thread_that_stopped_has_a_problem() -> None:
    error = {"Last_IO_Errno": 1236, "Last_IO_Error": "diverged", "Last_SQL_Errno": 0}
    running = {"Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes"}
    stopped = {"Slave_IO_Running": "No", "Slave_SQL_Running": "Yes"}
    assert error_in({**error, **running}) == ""
    assert error_in({**error, **stopped}) == "diverged"
    assert error_in({**error, **stopped, "Last_IO_Errno": 2003}) == "", "it tries again"
    assert error_in({}) == ""


@pytest.mark.parametrize("name", [name for name in REPLICATIONS if "sqlite" not in name])
def test_server_of_a_side_listens_at_the_address_of_its_host(name: str) -> None:
    replication = replication_named(name)
    product = PRODUCTS[replication.product]
    home = Home(Path("/own"), Path("/own/data"), port=replication.port, bind="10.77.0.1")
    program = Program(product.program, "1", PROGRAMS[product.name])
    line = product.command(program, home, replication.options(2))
    if product.name == "mariadb":
        assert "--bind-address=10.77.0.1" in line and "--port=3306" in line
        numbers = [word for word in line if "server-id" in word]
        assert numbers == ([] if isinstance(replication, BlockMirror) else ["--server-id=2"])
    else:
        assert "listen_addresses=10.77.0.1" in line and "port=5432" in line


def test_unknown_names_of_a_trial_are_refused() -> None:
    with pytest.raises(BadInput, match="mariadb-semi-synchronous"):
        replication_named("mariadb")
    with pytest.raises(BadInput, match="link-cut-then-kill"):
        TrialPlan(event="earthquake")


def side(server_socket: Path, processes: tuple[int, ...] = ()) -> Side:
    """Return a side without host and server."""
    host = SimpleNamespace(
        name="left", address="10.77.0.1", kill=lambda: 0, processes=lambda: list(processes)
    )
    home = Home(server_socket.parent, server_socket.parent)
    address = Address("mariadb", "tameshi", user="root", socket=server_socket)
    server = SimpleNamespace(home=home, address=address, kill=lambda: None)
    return Side(host, server, 3306)  # type: ignore[arg-type]


def test_service_leads_to_one_side_after_the_other(tmp_path: Path) -> None:
    service = Service(tmp_path / "service")
    for number in range(2):
        service.lead_to(side(tmp_path / str(number) / "sock"))
        assert service.address.socket == tmp_path / "service" / "sock"
        assert service.address.socket.readlink() == tmp_path / str(number) / "sock"
    assert service.address.user == "root"


def test_fence_that_leaves_a_program_is_an_error(tmp_path: Path) -> None:
    side(tmp_path / "sock").fence()
    with pytest.raises(RunFailed, match=r"the fence does not hold.*1 processes"):
        side(tmp_path / "sock", processes=(7,)).fence()


def test_side_without_a_drive_has_no_power_to_cut(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no power to cut"):
        side(tmp_path / "sock").cut_power()


def test_commits_of_a_journal_leave_a_torn_line_out() -> None:
    assert acknowledged_in("run 1\na 1 3\nu 4\na 6 6\na 7 9") == 4


def test_quantile_is_the_value_that_the_share_reaches() -> None:
    counts = {10: 50, 30: 1, 20: 49}
    assert [quantile(counts, share) for share in (0.5, 0.51, 0.99, 1)] == [10, 20, 20, 30]
    assert quantile({}, 0.5) == 0


def test_steps_of_a_failover_add_up_to_all_of_it() -> None:
    spans = Failover(5, 10, 30, 70, 150).spans_ns()
    assert list(spans.values()) == [5, 20, 40, 80, 145]
