"""States at t0: enforced on real servers; a check finds one that differs from its claim."""

from __future__ import annotations

from dataclasses import replace

import pytest
from command import codes
from making import Maker

from tameshi.core.spec_types import Start
from tameshi.servers.cache_state import Residency, enforce, look, verify
from tameshi.servers.private import PrivateServer

MIB = 1 << 20
FILL = {
    "mariadb": [
        "USE tameshi",
        "CREATE TABLE tameshi.t (id int PRIMARY KEY, k int, pad char(200), KEY k (k))",
        "INSERT INTO tameshi.t SELECT seq, seq % 1000, REPEAT('x', 200) FROM seq_1_to_60000",
        "ANALYZE TABLE tameshi.t",
    ],
    "postgresql": [
        "CREATE TABLE t (id int PRIMARY KEY, k int, pad char(200))",
        "INSERT INTO t SELECT n, n % 1000, 'x' FROM generate_series(1, 60000) n",
        "CREATE INDEX k ON t (k)",
        "CHECKPOINT",
    ],
    "sqlite": [
        "CREATE TABLE t (id integer PRIMARY KEY, pad)",
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "LIMIT 60000) SELECT i, hex(zeroblob(100)) FROM n",
        "PRAGMA wal_checkpoint(TRUNCATE)",
    ],
}


def filled(make: Maker, name: str) -> PrivateServer:
    """Start a server with some 15 MiB of data and a pool that can hold it."""
    server = make.server(name, **({} if name == "sqlite" else {"buffer_pool": "64 MiB"}))
    server.start()
    if name == "postgresql":
        address = server.address
        client = type(server.client())(address, address.database, 60, "")
    else:
        client = server.client()
    with client:
        for statement in FILL[name]:
            client.query(statement)
    return server


@pytest.mark.parametrize("name", ["mariadb", "postgresql", "sqlite"])
def test_cold_and_warm_are_enforced_and_distinguished(make: Maker, name: str) -> None:
    server = filled(make, name)
    embedded = server.product.embedded
    enforce(server, Start.cold)
    cold = look(server)
    assert verify(Start.cold, cold, embedded) == []
    assert verify(Start.warm, cold, embedded) != []
    enforce(server, Start.warm)
    warm = look(server)
    assert verify(Start.warm, warm, embedded) == []
    assert [f["level"] for f in verify(Start.cold, warm, embedded)] != []
    assert verify(Start.as_is, warm, embedded) == []
    assert cold.data_bytes > 10 * MIB
    server.stop()


@pytest.mark.parametrize("name", ["mariadb", "postgresql"])
def test_restart_with_page_cache_is_not_cold(make: Maker, name: str) -> None:
    server = filled(make, name)
    server.stop()
    for path in server.home.data.rglob("*"):
        if path.is_file():
            path.read_bytes()
    server.start()
    (finding,) = verify(Start.cold, look(server), embedded=False)
    assert finding["level"] == "invalid"
    assert codes(finding) == ["page_cache_not_cold"]
    server.stop()


COLD = Residency(pool_bytes=MIB, useful_bytes=100 * MIB, page_cache_bytes=0, data_bytes=200 * MIB)


@pytest.mark.parametrize(
    ("start", "found", "embedded", "said"),
    [
        (Start.cold, COLD, False, []),
        (Start.cold, replace(COLD, pool_bytes=11 * MIB), False, ["pool_not_cold"]),
        (Start.cold, replace(COLD, page_cache_bytes=9 * MIB), False, ["page_cache_not_cold"]),
        (Start.cold, replace(COLD, pool_bytes=None), False, ["cold_unknown"]),
        (Start.cold, replace(COLD, pool_bytes=None, useful_bytes=None), True, []),
        (Start.warm, COLD, False, ["pool_not_warm"]),
        (Start.warm, replace(COLD, pool_bytes=95 * MIB), False, []),
        (Start.warm, replace(COLD, pool_bytes=None), False, ["warm_unknown"]),
        (Start.warm, COLD, True, ["page_cache_not_warm"]),
        (Start.warm, replace(COLD, page_cache_bytes=190 * MIB), True, []),
        (Start.as_is, COLD, False, []),
    ],
)
def test_state_is_judged_by_residency(
    start: Start, found: Residency, embedded: bool, said: list[str]
) -> None:
    findings = verify(start, found, embedded)
    assert [code for finding in findings for code in codes(finding)] == said
    assert all(finding["level"] == "invalid" for finding in findings)
