"""Limits of servers: those of a study's clients, of connections, and a server's sudden end."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from command import outcomes, results, start, tameshi, wait_until

STUDY = """
title = "Limits"
question = "Does it run?"
[storage.disk]
size = "1 GiB"
[axis.product]
mariadb = { use.engine = "mariadb" }
postgresql = { use.engine = "postgresql" }
[engine.mariadb]
buffer_pool = "16 MiB"
redo_log = "8 MiB"
options = { MARIADB }
[engine.postgresql]
buffer_pool = "16 MiB"
redo_log = "64 MiB"
options = { POSTGRESQL }
[workload.key_update]
tables = 1
rows = 500
row_size = "200 B"
clients = CLIENTS
[phase.run]
workload = ["key_update"]
until = { time = "TIME" }
[run]
interval = "100 ms"
"""


def text(mariadb: str = "", postgresql: str = "", clients: int = 2, time: str = "1 s") -> str:
    values = {"MARIADB": mariadb, "POSTGRESQL": postgresql, "CLIENTS": str(clients), "TIME": time}
    study = STUDY
    for name, value in values.items():
        study = study.replace(name, value)
    return study


def run(study: Path, place: Path, out: Path) -> Any:
    return tameshi("run", study, "--world", "measured", f"--on=disk={place}", "--out", out)


def reasons(out: Path) -> list[str]:
    return [outcome["reason"]["values"]["text"] for outcome in outcomes(out)]


@pytest.mark.timeout(300)
def test_limits_of_clients_do_not_reach_tameshis_statements(study, tmp_path, place):
    """Loading, checks and sampling work; the clients alone may not write, and each run says so."""
    options = (
        'transaction_read_only = "1", max_statement_time = "0.001", lock_wait_timeout = "1"',
        'default_transaction_read_only = "on", lock_timeout = "1ms"',
    )
    done = run(study(text(*options)), place, tmp_path / "out")
    assert done.returncode == 1, done.stderr
    said = sorted(reasons(tmp_path / "out"))
    assert len(said) == 2
    assert "READ ONLY transaction" in said[0]
    assert "read-only transaction" in said[1]
    assert all("no transaction was completed" in each for each in said)
    assert "Traceback" not in done.stderr


@pytest.mark.timeout(300)
def test_clients_beyond_the_servers_default_are_admitted(study, tmp_path, place):
    done = run(study(text(clients=160)), place, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    rates = {
        cell["levels"]["product"]: [
            estimate["value"]
            for estimate in cell["estimates"]
            if estimate["metric"] == "transaction.rate"
        ]
        for cell in results(tmp_path / "out")["cells"]
    }
    assert all(values and values[0] > 0 for values in rates.values()), rates


def test_limit_below_a_studys_clients_is_refused_before_loading(study, tmp_path, place):
    limit = 'max_connections = "20"'
    done = run(study(text(limit, limit, clients=40)), place, tmp_path / "out")
    assert done.returncode == 2
    assert "options.max_connections" in done.stderr
    assert not (tmp_path / "out").exists()
    assert list(place.iterdir()) == []


@pytest.mark.timeout(300)
def test_killed_server_is_told_with_its_signal(study, tmp_path, place):
    path = study(text(time="12 s").replace("postgresql = { use", "# "))
    out = tmp_path / "out"
    process = start("run", path, "--world", "measured", f"--on=disk={place}", "--out", out)
    wait_until(lambda: any(out.glob("runs/*/series/load.csv")), process)
    (server,) = (
        each
        for each in psutil.process_iter(["name", "cmdline"])
        if each.info["name"] == "mariadbd" and str(place) in " ".join(each.info["cmdline"] or [])
    )
    os.kill(server.pid, signal.SIGKILL)
    _, errors = process.communicate()
    assert process.returncode == 1, errors
    assert reasons(out) == ["during the run, MariaDB ended (killed by signal 9)"]
