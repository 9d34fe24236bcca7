"""Programs on real servers: load, run, check, and the same after a kill under load."""

from __future__ import annotations

import csv
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from making import Maker

from tameshi.core.compiled import Oltp, database_target, query
from tameshi.core.errors import RunFailed
from tameshi.servers.private import PrivateServer

PRODUCTS = ["mariadb", "postgresql", "sqlite"]
SERVED = ["mariadb", "postgresql"]
SMALL = {
    "key_update": {"tables": 2, "rows": 400, "row_size": "300 B", "clients": 2},
    "oltp": {"mix": "read_write", "clients": 2, "tables": 2, "rows": 500},
    "ycsb": {"mix": "F", "records": 300, "clients": 2},
    "document": {"documents": 200, "size": "500 B", "clients": 2},
    "scan": {"size": "100 KB", "clients": 1},
    "pgbench": {"clients": 2},
}


def spec(
    server: PrivateServer, program: dict[str, Any], folder: Path, seconds: float = 1
) -> dict[str, Any]:
    time = f"{round(seconds * 1000)} ms"
    phase = {"name": "run", "ramp": "0 s", "time": time}
    for name in ("series", "histograms", "journal"):
        (folder / name).mkdir(exist_ok=True)
    return {
        "target": database_target(server.address.as_json()),
        "program": program,
        "data_seed": 1,
        "seed": 2,
        "interval": "100 ms",
        "phases": [phase],
        "ledger": {"journal": str(folder / "journal")},
    }


def total(folder: Path, metric: str) -> int:
    with (folder / "series" / "load.csv").open() as series:
        rows = csv.DictReader(series)
        return sum(int(row["value"]) for row in rows if row["metric"] == metric)


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = (folder / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["kind"] == kind]


# pgbench's smallest data set has 100000 accounts: on its own product.
EACH = [(w, p) for w in SMALL for p in PRODUCTS if w != "pgbench" or p == "postgresql"]


@pytest.mark.parametrize(("program", "product"), EACH)
def test_every_program_runs_on_every_product(
    make: Maker, tmp_path: Path, product: str, program: str
) -> None:
    server = make.server(product)
    server.start()
    oltp = Oltp(spec(server, {program: SMALL[program]}, tmp_path, 0.5))
    assert oltp.load() >= 200
    done = oltp.execute(tmp_path, time.monotonic_ns())
    assert done["status"] == "complete"
    assert done["completed"] > 0
    # Clients that draw the same row collide: deadlocks, and sysbench's second insert of one key.
    collisions = ("1213", "40", "23505", "1062") if program == "oltp" else ("1213", "40")
    assert not [e for e in done["errors"] if not any(code in e for code in collisions)], done
    assert total(tmp_path, "transaction.count") == done["completed"]
    found = oltp.check(fresh=False)
    assert found["holds"], found
    if program != "scan":
        assert found["ledger"]["acknowledged"] > 0
    elif product == "mariadb":
        ((profile,),) = ([event["profile"]] for event in events(tmp_path, "profile"))
        assert profile["statements"] == done["completed"]
        assert sum(stage["ns"] for stage in profile["stages"]) > 0


SYSBENCH = [
    {"db_ps_mode": "disable", "reconnect": 1, "skip_trx": True},
    {"secondary": True, "create_secondary": False, "popularity": "pareto", "rand_pareto_h": 0.5},
    {"mix": "insert", "auto_inc": False, "db_ps_mode": "disable"},
]


@pytest.mark.parametrize("product", PRODUCTS)
def test_sysbenchs_options_hold_on_every_product(make: Maker, tmp_path: Path, product: str) -> None:
    server = make.server(product)
    server.start()
    for number, options in enumerate(SYSBENCH):
        folder = tmp_path / str(number)
        folder.mkdir()
        each = spec(server, {"oltp": SMALL["oltp"] | options}, folder, 0.4)
        oltp = Oltp({**each, "ledger": None})
        assert oltp.load() == (0 if "auto_inc" in options else 1000)
        done = oltp.execute(folder, time.monotonic_ns())
        # Without transactions, two clients can delete the same row and then both insert it.
        twice = () if "mix" in options else ("23505", "1062", "ConstraintViolation")
        collisions = ("1213", "40", "Busy", *twice)
        assert not [e for e in done["errors"] if not any(c in e for c in collisions)], done
        assert done["completed"] > 0
        assert bool(total(folder, "load.reconnects")) == ("reconnect" in options)
        target = database_target(server.address.as_json())
        for table in oltp.tables():
            ((rows,),) = query(target, f"SELECT COUNT(*) FROM {table}")
            assert int(rows or 0) >= (1 if "auto_inc" in options else 490)
            query(target, f"DROP TABLE {table}")


@pytest.mark.parametrize("product", PRODUCTS)
def test_tpcc_loads_and_keeps_its_conditions(make: Maker, tmp_path: Path, product: str) -> None:
    server = make.server(product, buffer_pool="64 MiB")
    server.start()
    tpcc = {"warehouses": 1, "clients": 4}
    oltp = Oltp(spec(server, {"tpcc": tpcc}, tmp_path, 3))
    rows = oltp.load()
    assert 590_000 < rows < 610_000  # a warehouse with random order lines
    target = database_target(server.address.as_json())
    assert query(target, "SELECT COUNT(*) FROM stock") == [["100000"]]
    fresh = oltp.check(fresh=True)
    assert fresh["holds"], fresh
    assert len(fresh["conditions"]) == 12
    done = oltp.execute(tmp_path, time.monotonic_ns())
    assert done["completed"] > 10
    (audited,) = events(tmp_path, "mix_audit")
    # A driver that loses the number of deleted rows skips every district.
    assert audited["tally"]["skipped_districts"] == 0
    after = oltp.check(fresh=False)
    wrong = [c for c in after["conditions"] if c["broken"]]
    assert after["holds"], (wrong, after["ledger"])


@pytest.mark.parametrize("product", SERVED)
def test_clients_survive_kill_without_lost_commits(
    make: Maker, tmp_path: Path, product: str
) -> None:
    server = make.server(product)
    server.start()
    oltp = Oltp(spec(server, {"key_update": SMALL["key_update"]}, tmp_path, 12))
    oltp.load()

    # This thread starts the server, which dies with its starter.
    ended: list[dict[str, Any]] = []
    begin = time.monotonic_ns()
    load = threading.Thread(target=lambda: ended.append(oltp.execute(tmp_path, begin)))
    load.start()
    time.sleep(1.5)
    server.kill()
    time.sleep(0.5)
    server.start()
    load.join()
    (done,) = ended
    assert done["status"] == "complete"
    (outage,) = (event["outage"] for event in events(tmp_path, "outage"))
    assert outage["first_error_ns"] > 1_000_000_000
    assert outage["first_success_ns"] > outage["first_error_ns"] + 500_000_000
    assert outage["unserved"] > 0
    found = oltp.check(fresh=False)
    assert found["holds"], found
    assert found["ledger"]["ambiguous"] <= 2  # at most what two clients had in flight


def test_missing_server_is_an_error(make: Maker, tmp_path: Path) -> None:
    for product in SERVED:
        server = make.server(product)
        oltp = Oltp(spec(server, {"oltp": SMALL["oltp"]}, tmp_path))
        with pytest.raises(RunFailed, match="connecting failed"):
            oltp.load()
