"""Bad input: an error with finding and remedy, and no files left."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from command import codes
from fake import FakeProduct
from making import SIZE, Maker, engine_of

from tameshi.core.errors import BadInput, GuardRefusal, RunFailed
from tameshi.core.spec_types import Engine
from tameshi.run.preflight import _cautions
from tameshi.servers.accounts import account_of
from tameshi.servers.catalog import PRODUCTS, product_named, program_of
from tameshi.servers.installed import Program
from tameshi.servers.placement import Serving, serving_of
from tameshi.servers.private import PrivateServer, prepare_directory


def no_process_in(folder: Path) -> bool:
    """Return whether no running process mentions the folder."""
    lines = [
        " ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])
    ]
    return not any(str(folder) in line for line in lines)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("mariadb", "apt-get install mariadb-server"),
        ("postgresql", "apt-get install postgresql"),
        ("mysql", "--server mysql=mariadb"),
    ],
)
def test_missing_server_names_package(name: str, remedy: str) -> None:
    with pytest.raises(BadInput, match="is not installed") as caught:
        program_of(PRODUCTS[name], Engine(), programs=[])
    assert remedy in str(caught.value)


def test_other_version_is_named_with_installed_one() -> None:
    there = [Program("postgres", "15.18", "/a/postgres"), Program("postgres", "13.2", "/b")]
    with pytest.raises(BadInput, match="another version") as caught:
        program_of(PRODUCTS["postgresql"], Engine(version="16"), there)
    assert "15.18 (/a/postgres)" in str(caught.value) and "16" in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "chosen"), [(None, "/c"), ("15", "/b"), ("9.6", "/a"), ("15.2", "/b")]
)
def test_newest_matching_version_is_chosen(wanted: str | None, chosen: str) -> None:
    there = [
        Program("postgres", "9.6.24", "/a"),
        Program("postgres", "15.2", "/b"),
        Program("postgres", "17.1", "/c"),
        Program("mariadb", "99.9", "/d"),
    ]
    assert program_of(PRODUCTS["postgresql"], Engine(version=wanted), there).path == chosen


def test_unknown_product_is_bad_input() -> None:
    with pytest.raises(BadInput, match="unknown database server") as caught:
        product_named("oracle")
    assert "mariadb" in str(caught.value)


def test_root_without_a_user_for_the_server_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    product = FakeProduct()
    monkeypatch.setattr(FakeProduct, "account", "no-such-account")
    with pytest.raises(BadInput, match="refuses to run as root"):
        account_of(product)


def test_report_on_mysql_states_untested() -> None:
    def said(name: str) -> list[str]:
        serving = Serving(PRODUCTS[name], Program(name, "8.4.3", "/usr/sbin/mysqld"), Engine())
        return [code for found in _cautions({name: serving}) for code in codes(found)]

    assert said("mysql") == ["untested_product"]
    assert said("mariadb") == said("postgresql") == said("sqlite") == []


# --- Buffer pools and options -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "size"), [("mariadb", "2 MiB"), ("mysql", "4 MiB"), ("postgresql", "64 KiB")]
)
def test_a_pool_below_the_servers_minimum_is_bad_input(name: str, size: str) -> None:
    with pytest.raises(BadInput, match="so small a buffer pool") as caught:
        PRODUCTS[name].options(Engine(buffer_pool=size), Program(name, "15", "/none"))
    assert caught.value.key == f"engine.{name}.buffer_pool" and size in str(caught.value)


def test_replacing_product_raises_a_pool_below_its_minimum() -> None:
    serving = serving_of("mysql", Engine(version="5.7", buffer_pool="5 MiB"), {"mysql": "mariadb"})
    assert serving.engine == Engine(buffer_pool="6144 KiB")
    assert "its smallest buffer pool, 6.00 MiB, in place of 5 MiB" in serving.described()
    asked, enough = Engine(buffer_pool="1 MiB"), Engine(buffer_pool="8 MiB")
    assert serving.settled(asked).engine == Engine(buffer_pool="6144 KiB")
    assert [codes(found) for found in serving.findings(asked)] == [["server_pool_raised"]]
    assert serving.settled(enough).engine == enough and not serving.findings(enough)


def test_product_of_the_study_raises_no_pool() -> None:
    with pytest.raises(BadInput, match="so small a buffer pool"):
        serving_of("mariadb", Engine(buffer_pool="5 MiB"), {})


def test_pool_refused_by_server_shows_its_message(make: Maker) -> None:
    options = {"innodb_page_size": "65536"}
    server = make.bare("mariadb", buffer_pool="6 MiB", options=options)
    with pytest.raises(RunFailed, match="innodb_buffer_pool_size"):
        server.initialise()
    assert not server.home.folder.exists()
    assert no_process_in(server.home.folder)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("mariadb", "datadir"),
        ("mariadb", "Bind-Address"),
        ("mariadb", "plugin-load-add"),
        ("mariadb", "WSREP_NOTIFY_CMD"),
        ("mysql", "mysqlx_port"),
        ("postgresql", "data_directory"),
        ("postgresql", "listen_addresses"),
        ("postgresql", "archive_command"),
        ("postgresql", "shared_preload_libraries"),
        ("sqlite", "temp_store_directory"),
    ],
)
def test_no_option_reaches_outside_the_instance(name: str, option: str) -> None:
    with pytest.raises(BadInput, match="Tameshi's to set"):
        PRODUCTS[name].options(Engine(options={option: "x"}), Program(name, "15", "/none"))


def test_a_path_in_an_option_is_bad_input() -> None:
    product = PRODUCTS["mariadb"]
    with pytest.raises(BadInput, match="names no path"):
        product.options(
            Engine(options={"general_log_file": "/etc/passwd"}), program_of(product, Engine())
        )


def test_unknown_option_is_named_with_nearest() -> None:
    product = PRODUCTS["mariadb"]
    program = program_of(product, Engine())
    with pytest.raises(BadInput, match="no such option") as caught:
        product.options(Engine(options={"innodb_io_capacitty": "9"}), program)
    assert "innodb_io_capacity" in str(caught.value)
    with pytest.raises(BadInput, match="no such option"):  # the server would accept this as datadir
        product.options(Engine(options={"datadi": "x"}), program)


def test_an_option_set_twice_is_bad_input() -> None:
    product = PRODUCTS["mariadb"]
    engine = Engine(buffer_pool="8 MiB", options={"innodb-buffer-pool-size": "9"})
    with pytest.raises(BadInput, match="set twice"):
        product.options(engine, program_of(product, Engine()))


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("mariadb", "commit", "on"),
        ("postgresql", "commit", "1"),
        ("sqlite", "commit", "2"),
        ("sqlite", "flush_method", "O_DIRECT"),
        ("sqlite", "doublewrite", "off"),
    ],
)
def test_a_setting_that_a_product_does_not_have_is_bad_input(
    name: str, setting: str, value: str
) -> None:
    with pytest.raises(BadInput, match="no such setting") as caught:
        PRODUCTS[name].options(
            Engine.model_validate({setting: value}), Program(name, "10.11.2", "/none")
        )
    assert caught.value.key == f"engine.{name}.{setting}" and caught.value.accepted


def test_a_pragma_is_one_word() -> None:
    with pytest.raises(BadInput, match="one word"):
        product = PRODUCTS["sqlite"]
        product.options(
            Engine(options={"cache_size": "1; DROP TABLE x"}), program_of(product, Engine())
        )


# --- Places -----------------------------------------------------------------------------------


def test_a_data_directory_with_a_database_in_it_is_not_initialised(make: Maker) -> None:
    server = make.server("fake")
    (server.home.data / "rows").write_text("kept\n")
    with pytest.raises(BadInput, match="not empty"):
        server.initialise()
    assert (server.home.data / "rows").read_text() == "kept\n"


def test_a_directory_that_is_not_tameshis_is_refused(ground: Path) -> None:
    (ground / "mine").mkdir()
    (ground / "mine" / "file").touch()
    with pytest.raises(GuardRefusal):
        prepare_directory(ground / "mine", FakeProduct(), SIZE)
    assert [entry.name for entry in (ground / "mine").iterdir()] == ["file"]


def test_closed_directory_names_the_obstacle(ground: Path) -> None:
    closed = ground / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(GuardRefusal, match="has no access to this directory") as caught:
        prepare_directory(closed / "db", PRODUCTS["mariadb"], SIZE)
    assert f"chmod o+x {closed}" in str(caught.value)
    assert list(closed.iterdir()) == []


def test_a_socket_path_too_long_for_the_kernel_is_bad_input(make: Maker, ground: Path) -> None:
    deep = ground / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    with pytest.raises(BadInput, match="too long for the kernel"):
        make.bare("fake", deep / "db")


def test_socket_in_use_is_bad_input(make: Maker) -> None:
    server = make.server("fake")
    assert server.address.socket
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(server.address.socket))
        other.listen()
        with pytest.raises(BadInput, match="listens on the socket"):
            server.start()
    assert server.pid is None


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_port_in_use_is_bad_input(make: Maker, name: str, ground: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        product = PRODUCTS[name]
        with prepare_directory(ground / "db", product, SIZE, port=port) as directory:
            server = PrivateServer(product, engine_of(name), directory, ground / "run" / "log")
            with pytest.raises(BadInput, match="listens on the port") as caught:
                server.start()
    assert str(port) in str(caught.value)


# --- Failing servers --------------------------------------------------------------------------


def test_server_dying_at_start_shows_last_words(make: Maker) -> None:
    server = make.server("fake", options={"die": "no more ideas"})
    with pytest.raises(RunFailed, match="ended during start-up") as caught:
        server.start()
    assert "cannot go on: no more ideas" in str(caught.value)
    assert server.pid is None


@pytest.mark.slow("a real server starts")
@pytest.mark.parametrize(
    ("name", "damage"), [("mariadb", "ibdata1"), ("postgresql", "global/pg_control")]
)
def test_real_server_dying_at_start_shows_last_words(make: Maker, name: str, damage: str) -> None:
    server = make.server(name)
    (server.home.data / damage).write_bytes(b"")
    with pytest.raises(RunFailed, match="ended during start-up") as caught:
        server.start()
    assert damage.rpartition("/")[2] in str(caught.value)
    assert server.pid is None and no_process_in(server.home.folder)


def test_a_server_that_is_not_ready_in_time_is_killed(make: Maker) -> None:
    server = make.server("fake", options={"late": "600"})
    with pytest.raises(RunFailed, match=r"was not ready in 0.3 s"):
        server.start(patience_seconds=0.3)
    assert server.pid is None and no_process_in(server.home.folder)


def test_hanging_server_is_killed_and_reported(make: Maker) -> None:
    server = make.server("fake", options={"deaf": "yes"})
    server.start()
    with pytest.raises(RunFailed, match=r"did not stop in 0.3 s and was killed"):
        server.stop(patience_seconds=0.3)
    assert server.pid is None and no_process_in(server.home.folder)


def test_failed_initialisation_leaves_nothing(make: Maker) -> None:
    server = make.bare("fake", options={"broken": "yes"})
    with pytest.raises(RunFailed, match=r"could not make a database \(status 3\).*making"):
        server.initialise()
    assert not server.home.folder.exists()


def test_option_unknown_to_postgresql_shows_its_message(make: Maker) -> None:
    server = make.server("postgresql", options={"no_such_thing": "1"})
    with pytest.raises(RunFailed, match='unrecognized configuration parameter "no_such_thing"'):
        server.start()


@pytest.fixture
def small(ground: Path) -> Iterator[Path]:
    """Mount a file system of 90 MiB."""
    point = ground / "small"
    point.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=90m,mode=755", "tmpfs", str(point)], check=True
    )
    yield point
    subprocess.run(["umount", "--lazy", str(point)], check=True)


def test_full_storage_is_reported(small: Path, make: Maker) -> None:
    server = make.bare("mariadb", small / "db", redo_log="128 MiB")
    with pytest.raises(RunFailed, match="The storage ran full"):
        server.initialise()
    assert list(small.iterdir()) == []
