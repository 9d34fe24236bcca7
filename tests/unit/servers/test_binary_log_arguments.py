"""The option `log_bin` becomes the server's own arguments, and is off while data are loaded."""

from pathlib import Path

import pytest

from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.installed import Program
from tameshi.servers.product import Home

MARIADB = PRODUCTS["mariadb"]


def arguments(options: dict[str, str], binlog: Path | None = None) -> list[str]:
    """Return the arguments that concern the binary log."""
    home = Home(Path("/own"), Path("/own/data"), binlog=binlog)
    line = MARIADB.command(Program("mariadb", "10.11.19", "/usr/sbin/mariadbd"), home, options)
    return [word for word in line if "log-bin" in word or "server-id" in word]


@pytest.mark.parametrize(
    ("switch", "expected"),
    [
        ("ON", ["--log-bin=binlog", "--server-id=1"]),
        ("1", ["--log-bin=binlog", "--server-id=1"]),
        ("OFF", ["--skip-log-bin"]),
        ("0", ["--skip-log-bin"]),
    ],
)
def test_switch_names_a_file_or_skips_the_log(switch, expected):
    assert arguments({"log_bin": switch, "sync_binlog": "1"}) == expected


def test_without_the_option_the_servers_own_default_holds():
    assert arguments({"sync_binlog": "1"}) == []


def test_own_storage_places_the_log_there():
    assert arguments({}, Path("/fast/binlog")) == [
        "--log-bin=/fast/binlog/binlog",
        "--server-id=1",
    ]


def test_loading_writes_no_binary_log():
    assert MARIADB.loading({"log_bin": "ON"})["log_bin"] == "OFF"
    assert "log_bin" not in MARIADB.loading({})
