"""Data sets: key of everything that files depend on, and exact restore."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest
from making import Maker

from tameshi import guard
from tameshi.core.errors import GuardRefusal, RunFailed
from tameshi.servers.datasets import DataSets, Facts
from tameshi.servers.private import PrivateServer

FACTS = Facts("mariadb", "10.11.19", {"innodb_page_size": "8192"}, {"tpcc": {"warehouses": 2}}, 7)


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def sets(ground: Path) -> DataSets:
    return DataSets(ground / "sets")


@pytest.fixture
def data(ground: Path) -> Path:
    """Make a data directory of Tameshi's with files."""
    plan = guard.check_data_directory(ground / "db", 1 << 20)
    place = guard.claim_data_directory(plan)
    (place / "base" / "empty").mkdir(parents=True)
    (place / "base" / "1").write_bytes(os.urandom(3 << 20))
    (place / "top").write_bytes(b"x")
    (place / "base").chmod(0o700)
    return place


@pytest.mark.parametrize(
    "other",
    [
        replace(FACTS, product="mysql"),
        replace(FACTS, version="10.11.20"),
        replace(FACTS, shaping={"innodb_page_size": "16384"}),
        replace(FACTS, program={"tpcc": {"warehouses": 3}}),
        replace(FACTS, seed=8),
    ],
)
def test_every_shaping_setting_is_in_the_key(other: Facts) -> None:
    assert other.key() != FACTS.key()


def test_the_key_does_not_depend_on_order() -> None:
    one = replace(FACTS, shaping={"a": "1", "b": "2"})
    two = replace(FACTS, shaping={"b": "2", "a": "1"})
    assert one.key() == two.key()


def test_restored_files_equal_kept_files(sets: DataSets, data: Path) -> None:
    before = digests(data)
    seen: list[tuple[int, int]] = []
    manifest = sets.keep(FACTS, data, lambda done, total: seen.append((done, total)))
    assert manifest["size_bytes"] == (3 << 20) + 1 == seen[-1][0] == seen[-1][1]
    (data / "top").write_bytes(b"changed by a run")
    data = guard.empty_data_directory(data.parent)
    sets.restore(FACTS, data)
    assert digests(data) == before
    assert (data / "base" / "empty").is_dir()
    assert (data / "base").stat().st_mode & 0o777 == 0o700
    assert [kept["facts"] for kept in sets.kept()] == [FACTS.as_json()]
    sets.forget(FACTS)
    assert sets.find(FACTS) is None and list(sets.kept()) == []


def test_a_run_does_not_reach_the_kept_files(sets: DataSets, data: Path) -> None:
    sets.keep(FACTS, data)
    kept = digests(sets.folder)
    for path in (data / "top", data / "base" / "1"):
        with path.open("r+b") as file:
            file.write(b"overwritten")
    assert digests(sets.folder) == kept


def test_interrupted_copy_is_no_data_set(
    sets: DataSets, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sets.keep(FACTS, data, interrupt)
    assert sets.find(FACTS) is None
    assert [entry.name for entry in sets.folder.iterdir()] == [guard.MARKER]
    with monkeypatch.context() as patched:  # killed after the files, before the manifest
        patched.setattr(guard, "write_file", lambda *_: None)
        sets.keep(FACTS, data)
    assert sets.find(FACTS) is None
    sets.keep(FACTS, data)
    assert sets.find(FACTS)


def test_incomplete_data_set_is_not_restored(sets: DataSets, data: Path) -> None:
    sets.keep(FACTS, data)
    (damaged,) = sets.folder.glob("*/files/base/1")
    os.truncate(damaged, 5)
    data = guard.empty_data_directory(data.parent)
    with pytest.raises(RunFailed, match="is damaged") as caught:
        sets.restore(FACTS, data)
    assert "base/1" in str(caught.value)
    assert list(data.iterdir()) == []


def test_data_set_is_restored_only_into_empty_own_directory(
    sets: DataSets, data: Path, ground: Path
) -> None:
    sets.keep(FACTS, data)
    with pytest.raises(GuardRefusal, match="only into an empty data directory"):
        sets.restore(FACTS, data)
    (ground / "mine" / "data").mkdir(parents=True)
    with pytest.raises(GuardRefusal, match="only into an empty data directory"):
        sets.restore(FACTS, ground / "mine" / "data")
    assert list((ground / "mine" / "data").iterdir()) == []


def test_copy_without_space_copies_nothing(
    sets: DataSets, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets.keep(FACTS, data)
    data = guard.empty_data_directory(data.parent)

    def full(needs: object) -> None:
        raise GuardRefusal("not enough space on the file system")

    monkeypatch.setattr(guard, "require_space", full)
    with pytest.raises(GuardRefusal, match="not enough space"):
        sets.restore(FACTS, data)
    with pytest.raises(GuardRefusal, match="not enough space"):
        sets.keep(replace(FACTS, seed=9), data)
    assert list(data.iterdir()) == [] and sets.find(replace(FACTS, seed=9)) is None


def test_only_files_and_folders_are_kept(sets: DataSets, data: Path) -> None:
    (data / "link").symlink_to("/etc/passwd")
    with pytest.raises(RunFailed, match="only files and folders"):
        sets.keep(FACTS, data)
    assert sets.find(FACTS) is None


@pytest.mark.parametrize("name", ["mariadb", "postgresql", "sqlite"])
def test_a_real_server_starts_from_a_restored_data_set(
    make: Maker, sets: DataSets, name: str
) -> None:
    server = make.server(name)
    table = "tameshi.kept" if name == "mariadb" else "kept"
    server.start()
    with server.client() as client:
        client.query(f"CREATE TABLE {table} (n int)")
        client.query(f"INSERT INTO {table} VALUES (42)")
        server.product.settle(client)
    server.stop()
    facts = Facts(name, server.program.version, server.product.shaping(server.options), {}, 1)
    sets.keep(facts, server.home.data)
    for _ in range(2):
        server.directory.empty()
        sets.restore(facts, server.home.data)
        assert count_in(server, table) == 1
        server.start()
        with server.client() as client:
            client.query(f"INSERT INTO {table} VALUES (43)")
        server.stop()


def count_in(server: PrivateServer, table: str) -> int:
    server.start()
    with server.client() as client:
        ((count,),) = client.query(f"SELECT count(*) FROM {table}")
    server.stop()
    return int(count)
