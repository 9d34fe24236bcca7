"""Running server of the user: loaded and sampled, and left unchanged. Private ones take its
part."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from command import outcomes, results, tameshi

from tameshi import guard
from tameshi.core.spec_types import Engine
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.dsn import secret_name
from tameshi.servers.private import PrivateServer, prepare_directory

SECRET = "s3cret-of-ann"
STORAGE = """[storage.disk]
size = "1 GiB"
"""
STUDY = """
title = "My own"
question = "What does it do?"
[storage.disk]
size = "1 GiB"
[engine.ENGINE]
dsn = "DSN"
[workload.key_update]
tables = 1
rows = 1000
row_size = "300 B"
clients = 2
[phase.run]
workload = ["key_update"]
until = { time = "1500 ms" }
[run]
interval = "100 ms"
"""
SETTINGS = {
    "mariadb": {"redo_log": "8 MiB", "buffer_pool": "16 MiB"},
    "postgresql": {"redo_log": "64 MiB", "buffer_pool": "16 MiB"},
}
ANN = {
    "mariadb": [
        "CREATE DATABASE shop",
        f"CREATE USER ann IDENTIFIED BY '{SECRET}'",
        "GRANT ALL ON shop.* TO ann",
        "CREATE TABLE shop.kept (word varchar(20))",
        "INSERT INTO shop.kept VALUES ('mine')",
    ],
    "postgresql": [
        f"CREATE ROLE ann LOGIN PASSWORD '{SECRET}'",
        "CREATE DATABASE shop OWNER ann",
    ],
}


@contextmanager
def running(name: str) -> Iterator[PrivateServer]:
    """Start a server with a database `shop` and a user with a password."""
    product = PRODUCTS[name]
    with TemporaryDirectory(prefix="tameshi-test-") as made, ExitStack() as stack:
        folder = Path(made)
        folder.chmod(0o755)
        guard.claim_folder(folder / "run")
        directory = stack.enter_context(prepare_directory(folder / "db", product, 8 << 20))
        engine = Engine.model_validate(SETTINGS[name])
        server = PrivateServer(product, engine, directory, folder / "run" / "server.log")
        stack.callback(server.kill)
        server.initialise()
        if name == "postgresql":  # user ann needs her password
            rules = server.home.data / "pg_hba.conf"
            rules.write_text("local all ann scram-sha-256\n" + rules.read_text())
        server.start()
        with server.client() as client:
            for statement in ANN[name]:
                client.query(statement)
        yield server


def dsn_of(server: PrivateServer, database: str = "shop") -> str:
    return f"{server.product.name}://ann@/{database}?socket={server.address.socket}"


def loaded(tmp_path: Path, name: str, dsn: str, *more: str) -> Any:
    study = STUDY.replace("ENGINE", name).replace("DSN", dsn)
    if not any(option.startswith("--on=disk=") for option in more):
        study = study.replace(STORAGE, "")
    (tmp_path / "s.toml").write_text(study)
    out = tmp_path / "out"
    return tameshi("run", tmp_path / "s.toml", "--world", "measured", "--out", out, *more)


def tables(server: PrivateServer) -> set[str]:
    address = PRODUCTS[server.product.name].address(server.home, {})
    inside = server.product.enter(
        type(address)(address.product, "shop", user=address.user, socket=address.socket), 20
    )
    with inside as client:
        return server.product.tables(client, "shop")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", list(ANN))
def test_running_server_is_loaded_sampled_and_left_unchanged(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(name) as server:
        before, pid = tables(server), server.pid
        monkeypatch.setenv(secret_name(server.product), SECRET)
        # A study of a running server needs no storage; `server` is then the name of its place.
        place = "server" if name == "postgresql" else "disk"
        done = loaded(tmp_path, name, dsn_of(server), f"--on={place}={tmp_path}")
        assert done.returncode == 0, (done.stderr, outcomes(tmp_path / "out"))
        assert tables(server) == before and server.pid == pid
        if name == "mariadb":
            with server.client() as client:
                assert [list(r) for r in client.query("SELECT word FROM shop.kept")] == [["mine"]]
        assert "tables are created in it, and dropped after each run" in done.stdout
        (cell,) = results(tmp_path / "out")["cells"]
        found = {(e["subject"], e["metric"]): e["value"] for e in cell["estimates"]}
        assert found["key_update", "transaction.rate"] > 0
        assert found["server", "server.hit_ratio"] >= 0
        # The password appears in no output, record or message.
        assert SECRET not in done.stdout + done.stderr
        for path in (tmp_path / "out").rglob("*"):
            assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path
        environment = json.loads(
            next((tmp_path / "out").glob("runs/*/environment.json")).read_text()
        )
        assert environment["servers"][name]["running"].startswith(f"{name}://ann@")


def test_missing_or_forbidden_server_is_refused_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running("mariadb") as server:
        before = tables(server)
        dsn = dsn_of(server)
        name = secret_name(server.product)

        def refused(expected: str, text: str = "", dsn: str = dsn) -> None:
            study = STUDY.replace("ENGINE", "mariadb").replace("DSN", dsn)
            study = study.replace("[workload", f"{text}\n[workload", 1)
            (tmp_path / "s.toml").write_text(study)
            out = tmp_path / "out"
            done = tameshi("run", tmp_path / "s.toml", "--world", "measured", "--out", out)
            assert done.returncode == 2, (expected, done.stderr)
            assert expected in " ".join(done.stderr.split()), (expected, done.stderr)
            assert "wrong-secret" not in done.stderr and not out.exists()

        monkeypatch.setenv(name, "wrong-secret")
        refused("cannot be reached there")
        refused(f"environment variable {name}")
        monkeypatch.setenv(name, SECRET)
        refused("does not configure a running server", text='buffer_pool = "1 GiB"')
        refused("has another version", text='version = "5.5"')
        refused("cannot be reached there", dsn=dsn.replace("/run/sock", "/run/none"))
        refused("neither killed nor cut off", text='[event.x]\nat = "1 s"\nkill = {}')
        (tmp_path / "s.toml").unlink()
        study = STUDY.replace("ENGINE", "mariadb").replace("DSN", dsn) + 'start = "cold"\n'
        (tmp_path / "s.toml").write_text(study)
        done = tameshi("run", tmp_path / "s.toml", "--world", "measured")
        assert done.returncode == 2 and "it is never restarted" in " ".join(done.stderr.split())
        assert tables(server) == before


def test_existing_table_is_neither_overwritten_nor_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running("mariadb") as server:
        monkeypatch.setenv(secret_name(server.product), SECRET)
        with server.client() as client:
            client.query("CREATE TABLE shop.TAMESHI_LEDGER (mine int)")
        done = loaded(tmp_path, "mariadb", dsn_of(server))
        assert done.returncode == 1
        (outcome,) = outcomes(tmp_path / "out")
        assert "Tameshi overwrites none" in outcome["reason"]["values"]["text"]
        assert "DROP TABLE tameshi_ledger" in outcome["reason"]["values"]["text"]
        assert {t.lower() for t in tables(server)} == {"kept", "tameshi_ledger"}


def test_user_without_rights_or_connections_is_refused_before_loading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running("mariadb") as server:
        monkeypatch.setenv(secret_name(server.product), SECRET)
        before = tables(server)
        with server.client() as client:
            client.query("REVOKE ALL ON shop.* FROM ann")
            client.query("GRANT SELECT, INSERT, CREATE ON shop.* TO ann")
        done = loaded(tmp_path, "mariadb", dsn_of(server))
        assert done.returncode == 1
        (outcome,) = outcomes(tmp_path / "out")
        said = outcome["reason"]["values"]["text"]
        assert "lacks a right that a run needs" in said
        assert "DROP command denied to user 'ann'" in said
        with server.client() as client:
            client.query("GRANT UPDATE ON shop.* TO ann WITH MAX_USER_CONNECTIONS 3")
        done = loaded(tmp_path, "mariadb", dsn_of(server))
        assert done.returncode == 2
        assert "room for 3, of 11 needed" in " ".join(done.stderr.split())
        assert tables(server) == before


def test_no_process_shows_the_password() -> None:
    """A worker's command line names the place of the password, not the password."""
    from tameshi.run.database_work import _database

    os.environ["TAMESHI_TEST_SECRET"] = SECRET
    try:
        address = {"product": "mariadb", "database": "d", "user": "u", "host": "h"}
        fields = address | {"secret_in": "TAMESHI_TEST_SECRET"}
        assert SECRET not in json.dumps(fields)
        assert _database(fields)["mariadb"]["password"] == SECRET
        assert "password" not in _database(address)["mariadb"]
    finally:
        del os.environ["TAMESHI_TEST_SECRET"]
