"""Running server of the user: sampled and loaded, never configured, restarted, stopped or dropped.

The environment holds its password, which appears in no study, record, message or command line.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from tameshi.core.errors import BadInput
from tameshi.servers.installed import Program, version_in
from tameshi.servers.product import Address, Client, ClientError, Product
from tameshi.servers.tls import PARAMETERS, tls_of

_SCHEMES = {
    "mariadb": ("mariadb", "mysql"),
    "mysql": ("mysql",),
    "postgresql": ("postgresql", "postgres"),
}


class RunningServer:
    """Server given by a connection string, without any method that changes its state."""

    def __init__(self, product: Product, dsn: str) -> None:
        self.product = product
        self.address = read_dsn(product, dsn)
        self.pid: int | None = None
        """Unknown: it may run on another machine."""

    def client(self, timeout_seconds: float = 60.0) -> Client:
        """Connect with the password of the environment; raise `ClientError`."""
        secret = os.environ.get(secret_name(self.product), "")
        return self.product.enter(self.address, timeout_seconds, secret)


def reached(product: Product, dsn: str) -> tuple[RunningServer, Program]:
    """Return the server of a connection string, and its version.

    Raises `BadInput` if it is unreachable, refuses, or is another product.
    """
    server = RunningServer(product, dsn)
    try:
        with server.client(timeout_seconds=10) as client:
            said = str(client.query("SELECT VERSION()")[0][0])
    except ClientError as error:
        raise BadInput(
            f"{product.title} cannot be reached there",
            key=f"engine.{product.name}.dsn",
            found=str(error),
            hint=f"The environment variable {secret_name(product)} holds its password.",
        ) from None
    if product.name in ("mariadb", "mysql") and ("mariadb" in said.lower()) != (
        product.name == "mariadb"
    ):
        message = f"this server is not {product.title}"
        raise BadInput(message, key=f"engine.{product.name}.dsn", found=said)
    return server, Program(product.program, version_in(said), "")


def require_room(server: RunningServer, connections: int) -> None:
    """Raise `BadInput` if the server does not admit this many more connections."""
    product = server.product
    try:
        with server.client(timeout_seconds=10) as client:
            room = product.room(client)
    except ClientError:
        return  # a user without the right to look; the run itself will tell
    if room is not None and room < connections:
        raise BadInput(
            f"{product.title} admits fewer connections than clients and Tameshi need",
            key=f"engine.{product.name}.dsn",
            found=f"room for {room}, of {connections} needed",
            hint="Raise max_connections of the server or of its user, or use fewer clients.",
        )


def where_it_is(address: Address) -> str:
    """Return a server's address for display and for a run's identity, without a password."""
    place = str(address.socket) if address.socket else address.host
    port = f":{address.port}" if address.port else ""
    return f"{address.product}://{address.user}@{place}{port}/{address.database}"


def secret_name(product: Product) -> str:
    """Return the environment variable of the password."""
    return f"TAMESHI_{product.name.upper()}_PASSWORD"


def read_dsn(product: Product, dsn: str) -> Address:
    """Parse a connection string: `mariadb://user@host:3306/database?sslmode=require`.

    `?socket=` and `?host=` name a Unix socket, or its folder as libpq does.

    Raises `BadInput`, which shows nothing of a string with a password.
    """
    key = f"engine.{product.name}.dsn"
    schemes = _SCHEMES.get(product.name, ())
    example = [f"{scheme}://USER@HOST:PORT/DATABASE" for scheme in schemes[:1]]
    if not schemes:
        message = f"{product.title} has no server, so that none can be running already"
        raise BadInput(message, key=key)
    try:
        parts = urlsplit(dsn)
        port = parts.port
        further = parse_qs(parts.query, strict_parsing=bool(parts.query))
    except ValueError:
        raise BadInput("invalid connection string", key=key, accepted=example) from None
    if parts.password is not None or {"password", "passwd", "pwd"} & {n.lower() for n in further}:
        raise BadInput(
            "a password must not stand in a study or a connection string",
            key=key,
            found="a connection string with a password",
            accepted=example,
            hint=f"Put it into the environment variable {secret_name(product)}.",
        )
    database = unquote(parts.path.lstrip("/"))
    if parts.scheme not in schemes or not parts.username or not database:
        raise BadInput("invalid connection string", key=key, found=dsn, accepted=example)
    given = {name: values[-1] for name, values in further.items()}
    known = ("socket", "host", "port", *PARAMETERS)
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise BadInput("unknown parameter", key=key, found=unknown[0], accepted=known)
    number = given.get("port", "")
    if number and not number.isdigit():
        raise BadInput("invalid connection string", key=key, found=dsn, accepted=example)
    port = int(number) if number else port
    host = given.get("host") or _host_in(parts.netloc)
    path = given.get("socket") or (host if host.startswith("/") else "")
    socket = Path(path) if path else None
    if socket and socket.is_dir():
        socket = product.socket_in(socket, port)
    return Address(
        product.name,
        database,
        user=unquote(parts.username),
        host="" if socket else host or "localhost",
        port=None if socket else port,
        socket=socket,
        tls=tls_of(given, key),
    )


def _host_in(netloc: str) -> str:
    """Return the host of `user@host:port`; a percent-encoded path keeps its case."""
    place = netloc.rpartition("@")[2]
    bracketed = re.match(r"\[(.*)\]", place)
    return bracketed[1] if bracketed else unquote(place.partition(":")[0])
