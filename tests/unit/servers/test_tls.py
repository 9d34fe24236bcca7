"""Encryption that a connection string asks for, and its address by host or socket."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from tameshi.core.errors import BadInput
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.dsn import read_dsn
from tameshi.servers.tls import MODES, Tls


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("", "prefer"),
        ("?sslmode=disable", "disable"),
        ("?ssl-mode=DISABLED", "disable"),
        ("?ssl-mode=PREFERRED", "prefer"),
        ("?sslmode=require", "require"),
        ("?ssl-mode=REQUIRED", "require"),
    ],
)
@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_mode_of_tls_is_read_in_words_of_both_products(name, query, mode):
    address = read_dsn(PRODUCTS[name], f"{name}://ann@db/shop{query}")
    assert address.tls == Tls(mode)
    assert address.as_json()["tls"] == {"mode": mode}


@pytest.mark.parametrize("word", ["verify-ca", "verify-full", "VERIFY_CA", "VERIFY_IDENTITY"])
def test_verifying_mode_needs_a_file_of_authorities(word, tmp_path):
    authorities = tmp_path / "ca.pem"
    dsn = f"mariadb://ann@db/shop?ssl-mode={word}"
    for query in ("", f"&ssl-ca={authorities}"):
        with pytest.raises(BadInput, match="needs the certificates of the authorities"):
            read_dsn(PRODUCTS["mariadb"], dsn + query)
    authorities.touch()
    address = read_dsn(PRODUCTS["mariadb"], f"{dsn}&ssl-ca={authorities}")
    assert address.tls == Tls(MODES[word.lower()], authorities)
    assert address.tls.verifies


def test_unknown_mode_is_refused_with_the_accepted_ones():
    with pytest.raises(BadInput, match="unknown mode of TLS") as caught:
        read_dsn(PRODUCTS["mariadb"], "mariadb://ann@db/shop?sslmode=yes")
    assert caught.value.found == "yes"
    assert "verify-full" in caught.value.accepted


def test_context_verifies_only_as_the_mode_asks():
    assert Tls("disable").context() is Tls("prefer").context() is None
    context = Tls("require").context()
    assert context and context.verify_mode is ssl.CERT_NONE and not context.check_hostname


@pytest.mark.parametrize(
    ("dsn", "host", "port"),
    [
        ("mariadb://ann@[::1]:3399/shop", "::1", 3399),
        ("mariadb://ann@/shop?host=db.example&port=7", "db.example", 7),
        ("mariadb://ann@Db.Example/shop", "Db.Example", None),
        ("mariadb://ann@/shop", "localhost", None),
    ],
)
def test_host_is_read_from_its_place_or_parameter(dsn, host, port):
    address = read_dsn(PRODUCTS["mariadb"], dsn)
    assert (address.host, address.port, address.socket) == (host, port, None)


def test_folder_of_a_socket_is_read_as_libpq_does(tmp_path: Path):
    folder = tmp_path / "Run"
    folder.mkdir()
    encoded = str(folder).replace("/", "%2F")
    for dsn in (
        f"postgresql://ann@/shop?host={folder}&port=5499",
        f"postgresql://ann@/shop?socket={folder}&port=5499",
        f"postgresql://ann@{encoded}:5499/shop",
        f"postgresql://ann@/shop?socket={folder}/.s.PGSQL.5499",
    ):
        address = read_dsn(PRODUCTS["postgresql"], dsn)
        assert address.socket == folder / ".s.PGSQL.5499"
        assert (address.host, address.port) == ("", None)
    address = read_dsn(PRODUCTS["postgresql"], f"postgresql://ann@/shop?host={folder}")
    assert address.socket == folder / ".s.PGSQL.5432"


def test_names_in_utf_8_are_read_plain_and_encoded():
    for dsn in (
        "mariadb://j%C3%BCrg%40corp@db/%E3%83%87%E3%83%BC%E3%82%BF",
        "mariadb://jürg%40corp@db/データ",
    ):
        address = read_dsn(PRODUCTS["mariadb"], dsn)
        assert (address.user, address.database) == ("jürg@corp", "データ")
