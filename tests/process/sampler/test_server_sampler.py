"""Server counters: exact increases from a fictitious server, and samples of real ones."""

from __future__ import annotations

import csv
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from making import Maker, place_for_all

from tameshi import guard
from tameshi.core import compiled
from tameshi.run.server_sampler import ServerSampler
from tameshi.servers.innodb import _COUNTERS, _GAUGES
from tameshi.servers.postgresql import counted
from tameshi.servers.private import PrivateServer
from tameshi.servers.product import Client, ClientError, Counted, Product

HOUR_NS = 3600 * 10**9


class MadeUp:
    """Server whose counters the test sets; each sample adds one statement of its own."""

    def __init__(self) -> None:
        self.birth = "1"
        self.statements = 0
        self.requests = 0
        self.misses = 0
        self.down = False
        self.closed = 0

    def count(self, client: Client, database: str) -> Counted:
        if self.down:
            raise ClientError("gone away")
        self.statements += 1
        counters = {
            "server.statements": self.statements,
            "server.page_requests": self.requests,
            "server.page_misses": self.misses,
        }
        return Counted(
            self.birth, counters, {"server.threads_running": 3.0}, {"server.statements": 1}
        )

    def connect(self) -> Client:
        if self.down:
            raise ClientError("no server there")
        return cast(Client, self)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    guard.claim_folder(tmp_path / "run")
    return tmp_path / "run"


def sampler(folder: Path, server: MadeUp, interval_ns: int = HOUR_NS) -> ServerSampler:
    return ServerSampler(
        folder,
        0 if interval_ns == HOUR_NS else time.monotonic_ns(),
        interval_ns,
        cast(Product, server),
        server.connect,
    )


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "series" / "server.csv").open() as file:
        return list(csv.DictReader(file))


def values(folder: Path, metric: str) -> list[float]:
    return [float(row["value"]) for row in rows(folder) if row["metric"] == metric]


def test_increases_exclude_sampler_statements(folder: Path) -> None:
    server = MadeUp()
    with sampler(folder, server) as taken:
        server.statements += 100
        server.requests, server.misses = 1000, 30
    assert values(folder, "server.statements") == [100]
    assert values(folder, "server.hit_ratio") == [0.97]
    assert values(folder, "server.threads_running") == [3.0]
    assert len(values(folder, "sampler.look_ns")) == 1
    assert {row["metric"] for row in rows(folder) if row["subject"] == "server-sampler"} == {
        *("process.cpu_user_ns", "process.cpu_system_ns", "sampler.look_ns")
    }
    assert taken.problems == [] and server.closed == 1


def test_an_interval_without_requests_has_no_hit_ratio(folder: Path) -> None:
    with sampler(folder, MadeUp()):
        pass
    assert values(folder, "server.hit_ratio") == []
    assert values(folder, "server.page_requests") == [0]


def test_unreachable_server_has_no_rows_until_back(folder: Path) -> None:
    server = MadeUp()
    with sampler(folder, server, 20_000_000) as taken:
        time.sleep(0.1)
        server.down = True
        time.sleep(0.1)
        server.birth, server.statements, server.down = "2", 0, False
        time.sleep(0.1)
        server.statements += 7
        time.sleep(0.1)
    assert "the server could not be sampled: gone away" in taken.problems
    assert sum(values(folder, "server.statements")) == 7
    assert min(values(folder, "server.statements")) >= 0


def test_restart_between_samples_shows_by_birth(folder: Path) -> None:
    server = MadeUp()
    with sampler(folder, server) as taken:
        server.birth, server.statements = "2", 1000
    assert values(folder, "server.statements") == []
    assert taken.problems == ["the counters of server began anew during the run"]


def test_every_metric_of_a_server_is_in_the_registry() -> None:
    result: dict[str, Any] = {
        "birth": 1,
        "running": 1,
        "waiting": 0,
        "log_age": 5,
        "database": {
            "xact_commit": 1,
            "xact_rollback": 2,
            "blks_hit": 3,
            "blks_read": 4,
            "deadlocks": 0,
        },
        "pg_stat_bgwriter": {"buffers_checkpoint": 1, "checkpoints_req": 1, "maxwritten_clean": 0},
        "pg_stat_wal": {"wal_bytes": 1, "wal_write": 1, "wal_sync": 1, "wal_fpi": 1},
    }
    postgres = counted(result)
    named = {*_COUNTERS, *_GAUGES, *postgres.counters, *postgres.gauges}
    named |= {"server.hit_ratio", "sampler.look_ns"}
    known = {metric["name"]: metric["kind"] for metric in compiled.metrics()}
    assert named <= set(known)
    assert all(known[name] == "gauge" for name in (*_GAUGES, *postgres.gauges))
    assert all(known[name] == "counter" for name in (*_COUNTERS, *postgres.counters))


@pytest.mark.parametrize(
    ("views", "written", "checkpoints"),
    [
        (
            {
                "pg_stat_bgwriter": {
                    "buffers_checkpoint": 1,
                    "buffers_clean": 2,
                    "buffers_backend": 4,
                    "checkpoints_timed": 8,
                    "checkpoints_req": 16,
                }
            },
            7,
            24,
        ),
        (
            {
                "pg_stat_bgwriter": {"buffers_clean": 2},
                "pg_stat_checkpointer": {"buffers_written": 5, "num_done": 3},
            },
            7,
            3,
        ),
        ({}, None, None),
    ],
)
def test_missing_view_omits_its_metrics(
    views: dict[str, Any], written: int | None, checkpoints: int | None
) -> None:
    found = counted({"birth": 1, "database": None, **views}).counters
    assert found.get("server.pages_written") == written
    assert found.get("server.checkpoints") == checkpoints


# --- Real servers ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Maker]:
    with place_for_all() as ground, ExitStack() as stack:
        guard.claim_folder(ground / "run")
        yield Maker(ground, ground, stack)


def work(server: PrivateServer) -> tuple[int, int]:
    """Run 200 inserts, each with a commit, and 100 reads; return statements and commits."""
    table = "tameshi.w" if server.product.name == "mariadb" else "w"
    with server.client() as client:
        client.query(f"CREATE TABLE {table} (id int PRIMARY KEY, pad char(100))")
        for number in range(200):
            client.query(f"INSERT INTO {table} VALUES ({number}, 'x')")
        for number in range(100):
            client.query(f"SELECT pad FROM {table} WHERE id = {number}")
    return 301, 301


@pytest.mark.slow("a real server starts")
def test_mariadb_counters_match_statements(make: Maker, folder: Path) -> None:
    server = make.server("mariadb")
    with server:
        server.start()
        taken = ServerSampler(folder, 0, HOUR_NS, server.product, server.client)
        with taken:
            statements, _ = work(server)
    summed: dict[str, float] = defaultdict(float)
    for row in rows(folder):
        summed[row["metric"]] += float(row["value"])
    assert taken.problems == []
    # A connection begins with a few statements: the client's own, and those on its limits.
    begun = 2 + len(server.product.own_session)
    assert statements <= summed["server.statements"] <= statements + begun
    assert (summed["server.inserts"], summed["server.selects"]) == (200, 100)
    assert summed["server.page_requests"] > 300
    assert summed["server.log_bytes"] > 200 * 100
    # Each insert is a transaction; hardly any page is written meanwhile.
    assert min(summed[f"server.{each}"] for each in ("log_writes", "writes", "fsyncs")) >= 200
    assert summed["server.written_bytes"] >= summed["server.log_bytes"]
    assert 0 < summed["server.hit_ratio"] <= 1
    assert summed["server.pool_bytes"] > 0 and summed["server.threads_running"] >= 0


@pytest.mark.slow("a real server starts")
def test_postgresql_counters_match_statements(make: Maker, folder: Path) -> None:
    server = make.server("postgresql")
    with server:
        server.start()
        taken = ServerSampler(
            folder, 0, HOUR_NS, server.product, server.client, database="postgres"
        )
        with taken:
            _, commits = work(server)
            time.sleep(1.5)  # backends report at most once per second
    summed: dict[str, float] = defaultdict(float)
    for row in rows(folder):
        summed[row["metric"]] += float(row["value"])
    assert taken.problems == []
    assert commits <= summed["server.commits"] <= commits + 10
    assert summed["server.log_bytes"] > 200 * 100
    assert summed["server.log_fsyncs"] >= 200
    assert summed["server.page_requests"] > 300
    assert 0 < summed["server.hit_ratio"] <= 1
    assert summed["server.checkpoint_age_bytes"] > 0
