"""Running server of the user: address, password, and no state-changing method."""

from __future__ import annotations

import json

import pytest

from tameshi.core.errors import BadInput
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.dsn import RunningServer, read_dsn, secret_name
from tameshi.servers.product import Address, ClientError


@pytest.mark.parametrize(
    ("name", "dsn", "host", "port", "socket"),
    [
        ("mariadb", "mariadb://ann@db.example:3307/shop", "db.example", 3307, None),
        ("mysql", "mysql://ann@[::1]/shop", "::1", None, None),
        ("postgresql", "postgres://ann@/shop?socket=/run/pg/.s.PGSQL.5432", "", None, "/run/pg"),
    ],
)
def test_connection_string_parses_to_address(
    name: str, dsn: str, host: str, port: int | None, socket: str | None
) -> None:
    address = read_dsn(PRODUCTS[name], dsn)
    assert (address.user, address.database, address.host, address.port) == (
        *("ann", "shop"),
        *(host, port),
    )
    assert (address.socket is not None) == (socket is not None)
    assert str(address.socket or "").startswith(socket or "")


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ann:s3cret@db/shop",
        "postgresql://ann@db/shop?password=s3cret",
        "postgresql://ann@db/shop?Pwd=s3cret",
    ],
)
def test_password_in_connection_string_is_refused_unseen(dsn: str) -> None:
    with pytest.raises(BadInput, match="a password must not stand") as caught:
        read_dsn(PRODUCTS["postgresql"], dsn)
    assert "s3cret" not in str(caught.value)
    assert "TAMESHI_POSTGRESQL_PASSWORD" in str(caught.value)


@pytest.mark.parametrize(
    "dsn",
    [
        "",
        "db",
        "oracle://ann@db/shop",
        "mariadb://db/shop",
        "mariadb://ann@db",
        "mariadb://a@b:x/c",
    ],
)
def test_invalid_connection_string_is_bad_input(dsn: str) -> None:
    with pytest.raises(BadInput, match="invalid connection string") as caught:
        read_dsn(PRODUCTS["mariadb"], dsn)
    assert "mariadb://USER@HOST:PORT/DATABASE" in str(caught.value)


def test_password_comes_from_environment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    product = PRODUCTS["mariadb"]
    monkeypatch.setenv(secret_name(product), "s3cret")
    server = RunningServer(product, "mariadb://ann@127.0.0.1:1/shop")
    given: list[str] = []

    def connect(address: Address, timeout: float, secret: str = "") -> None:
        given.append(secret)
        raise ClientError("no server there")

    monkeypatch.setattr(product, "connect", connect)
    with pytest.raises(ClientError):
        server.client()
    assert given == ["s3cret"]
    assert "s3cret" not in repr(vars(server)) + json.dumps(server.address.as_json())


def test_running_server_has_no_state_changing_method() -> None:
    public = {name for name in dir(RunningServer) if not name.startswith("_")}
    assert public == {"client"}


def test_sqlite_has_no_server_that_could_run() -> None:
    with pytest.raises(BadInput, match="has no server, so that none"):
        read_dsn(PRODUCTS["sqlite"], "sqlite://x@y/z")
