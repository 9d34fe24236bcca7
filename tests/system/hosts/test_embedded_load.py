"""Embedded database under a load whose process has the engine: kill, restart, ledger."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tameshi import guard
from tameshi.core.errors import RunFailed
from tameshi.core.spec_types import Engine
from tameshi.pairs.embedded import EmbeddedLoad, EmbeddedServer, outage
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.private import prepare_directory

PROGRAM = {"key_update": {"tables": 1, "rows": 200, "row_size": "200 B", "clients": 2}}
ENGINE = Engine.model_validate({"commit": "full", "options": {"journal_mode": "wal"}})
MS = 10**6


def test_killed_clients_of_sqlite_start_again_and_lose_nothing(tmp_path: Path) -> None:
    run = tmp_path / "run"
    guard.claim_folder(run)
    with prepare_directory(tmp_path / "db", PRODUCTS["sqlite"], 1 << 20) as directory:
        server = EmbeddedServer(PRODUCTS["sqlite"], ENGINE, directory, run / "server.log")
        server.mirror = SimpleNamespace(holds_back=False)  # type: ignore[assignment]
        server.start()
        assert server.pid is None, "without a load there is no process"
        load = EmbeddedLoad(server.address, PROGRAM, run / "load", [server])
        load.load(server.address)
        with load:
            time.sleep(0.3)
            server.kill()
            known = load.commits()
            server.start()
            while load.commits() < known + 20:
                assert server.pid, server.ended()
                time.sleep(0.02)
        assert server.pid is None
        ledger = load.check()
        assert ledger["acknowledged"] >= known + 20
        assert (ledger["lost"], ledger["twice"], ledger["phantom"]) == (0, 0, 0)
        (found,) = load.outages()
        assert 0 < found["first_error_ns"] < found["first_success_ns"]
        ((median, tail),) = load.latencies_ns([(0, time.monotonic_ns())])
        assert 0 < median <= tail


def test_corrupt_embedded_database_is_refused(tmp_path: Path) -> None:
    guard.claim_folder(tmp_path / "run")
    with prepare_directory(tmp_path / "db", PRODUCTS["sqlite"], 1 << 20) as directory:
        server = EmbeddedServer(PRODUCTS["sqlite"], ENGINE, directory, tmp_path / "run" / "log")
        assert server.address.file
        server.address.file.write_bytes(b"no database" * 1000)
        with pytest.raises(RunFailed, match="is corrupt"):
            server.start()


def test_outage_lasts_from_the_kill_to_the_first_commit() -> None:
    before = [(n * 20 * MS, (n + 1) * 20 * MS, 10) for n in range(100)]
    slow = [((150 + n) * 20 * MS, (151 + n) * 20 * MS, 2) for n in range(50)]
    quick = [((200 + n) * 20 * MS, (201 + n) * 20 * MS, 10) for n in range(100)]
    found = outage(2010 * MS, before, [*slow, *quick], 10 * MS)
    assert (found["first_error_ns"], found["first_success_ns"]) == (2000 * MS, 3010 * MS)
    assert 3800 * MS <= found["recovered_ns"] <= 4000 * MS
    assert outage(2010 * MS, before, [], 0)["first_success_ns"] is None
