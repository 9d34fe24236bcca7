"""Connection strings of servers with TLS: probes and load log in alike, and the record says how."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from command import outcomes, tameshi

from tameshi import guard
from tameshi.core.spec_types import Engine
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.dsn import secret_name
from tameshi.servers.private import PrivateServer, prepare_directory

SECRET = "pä ss/wörd:%41 \"#'"
QUOTED = SECRET.replace("'", "''")
STUDY = """
title = "My own"
question = "Does it log in?"
[storage.disk]
size = "1 GiB"
[engine.ENGINE]
dsn = "DSN"
[workload.key_update]
tables = 1
rows = 200
row_size = "200 B"
clients = 2
[phase.run]
workload = ["key_update"]
until = { time = "500 ms" }
[run]
interval = "100 ms"
"""
USERS = {
    "mariadb": [
        "CREATE DATABASE `データ-1`",
        f"CREATE USER 'jürg@corp' IDENTIFIED BY '{QUOTED}'",
        f"CREATE USER tls IDENTIFIED BY '{QUOTED}' REQUIRE SSL",
        "GRANT ALL ON `データ-1`.* TO 'jürg@corp'",
        "GRANT ALL ON `データ-1`.* TO tls",
    ],
    "postgresql": [
        f"CREATE ROLE \"jürg@corp\" LOGIN PASSWORD '{QUOTED}'",
        f"CREATE ROLE tls LOGIN PASSWORD '{QUOTED}'",
        'CREATE DATABASE "データ-1" OWNER "jürg@corp"',
        'GRANT CREATE ON DATABASE "データ-1" TO tls',
    ],
}
RULES = """
hostssl all tls all scram-sha-256
host all "jürg@corp" all scram-sha-256
local all "jürg@corp" scram-sha-256
local all postgres trust
"""


def certificates(folder: Path) -> None:
    """Make an authority, and a server's certificate for localhost that it signs."""
    lines = [
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
        "req -newkey rsa:2048 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost "
        "-keyout server.key -out server.csr",
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 2 -copy_extensions copy "
        "-out server.pem",
    ]
    for line in lines:
        subprocess.run(["openssl", *line.split()], cwd=folder, check=True, capture_output=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def with_tls(server: PrivateServer, folder: Path) -> dict[str, str]:
    """Return the options of a server with these certificates, in its own directory."""
    owner = server.home.data.stat()
    paths = {}
    for name in ("ca.pem", "server.pem", "server.key"):
        paths[name] = server.home.run / name
        paths[name].write_bytes((folder / name).read_bytes())
        paths[name].chmod(0o600)
        subprocess.run(["chown", f"{owner.st_uid}:{owner.st_gid}", paths[name]], check=True)
    if server.product.name == "mariadb":
        names = {"ssl_ca": "ca.pem", "ssl_cert": "server.pem", "ssl_key": "server.key"}
        return {option: str(paths[name]) for option, name in names.items()}
    names = {"ssl_cert_file": "server.pem", "ssl_key_file": "server.key"}
    return {"ssl": "on"} | {option: str(paths[name]) for option, name in names.items()}


@contextmanager
def running(name: str) -> Iterator[tuple[PrivateServer, Path]]:
    """Start a server with TLS on a port of loopback; also return the folder of its authority."""
    product = PRODUCTS[name]
    with TemporaryDirectory(prefix="tameshi-test-") as made, ExitStack() as stack:
        folder = Path(made)
        folder.chmod(0o755)
        certificates(folder)
        guard.claim_folder(folder / "run")
        directory = stack.enter_context(
            prepare_directory(folder / "db", product, 8 << 20, port=free_port())
        )
        log = folder / "run" / "server.log"
        server = PrivateServer(product, Engine(buffer_pool="16 MiB"), directory, log)
        stack.callback(server.kill)
        server.initialise()
        server.options |= with_tls(server, folder)
        if name == "postgresql":
            (server.home.data / "pg_hba.conf").write_text(RULES)
        server.start()
        with server.client() as client:
            for statement in USERS[name]:
                client.query(statement)
        if name == "postgresql":
            address = product.address(server.home, {})
            inside = type(address)(name, "データ-1", user=address.user, socket=address.socket)
            with product.enter(inside, 20) as client:
                client.query("GRANT CREATE ON SCHEMA public TO tls")
        yield server, folder


def ran(tmp_path: Path, name: str, user: str, place: str, query: str) -> Any:
    """Run the study with this connection string."""
    dsn = f"{name}://{user}@{place}/データ-1{query}"
    study = STUDY.replace("ENGINE", name).replace("DSN", dsn)
    (tmp_path / "s.toml").write_text(study, encoding="utf-8")
    words = ("--world", "measured", "--fresh", "--out", tmp_path / "out")
    done = tameshi("run", tmp_path / "s.toml", *words)
    assert SECRET not in done.stdout + done.stderr
    return done


def tls_of(tmp_path: Path, *connection: str) -> Any:
    """Run the study with a connection string; return what the record says of TLS."""
    out = tmp_path / "out"
    done = ran(tmp_path, *connection)
    assert done.returncode == 0, (connection, done.stderr, outcomes(out))
    (events,) = out.glob("runs/*/events.jsonl")
    lines = map(json.loads, events.read_text(encoding="utf-8").splitlines())
    (event,) = (line for line in lines if line["kind"] == "running_server")
    tls = event["tls"]
    return tls and (tls["version"], tls["verified"])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_every_connection_string_reaches_its_server(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(secret_name(PRODUCTS[name]), SECRET)
    with running(name) as (server, folder):
        port, ann = server.home.port, "jürg%40corp"
        unverified, verified = ("TLSv1.3", False), ("TLSv1.3", True)
        ca = f"&sslrootcert={folder / 'ca.pem'}"
        local, number = f"localhost:{port}", f"127.0.0.1:{port}"
        for user, place, query, found in (
            (ann, number, "", unverified),
            (ann, number, "?sslmode=disable", None),
            ("tls", number, "", unverified),
            ("tls", number, "?ssl-mode=REQUIRED", unverified),
            ("tls", number, f"?sslmode=verify-ca{ca}", verified),
            ("tls", local, f"?sslmode=verify-full{ca}", verified),
            (ann, "", f"?host={server.address.socket}", None),
        ):
            assert tls_of(tmp_path, name, user, place, query) == found, (user, place, query)
        for query in ("?sslmode=disable", f"?sslmode=verify-full{ca}"):
            done = ran(tmp_path, name, "tls", number, query)
            assert done.returncode == 2
            assert "cannot be reached there" in done.stderr
