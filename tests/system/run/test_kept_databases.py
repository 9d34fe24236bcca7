"""`--keep`: the database of the last run stays, with the commands that start and query it."""

from __future__ import annotations

import shlex
import subprocess
import time
from pathlib import Path

import pytest
from command import tameshi

STUDY = """
title = "Kept"
question = "Can the database be queried afterwards?"
[storage.disk]
size = "1 GiB"
[engine.ENGINE]
buffer_pool = "16 MiB"
[workload.key_update]
tables = 1
rows = 321
row_size = "200 B"
clients = 1
[phase.run]
workload = ["key_update"]
until = { time = "300 ms" }
[run]
interval = "100 ms"
"""


@pytest.mark.timeout(200)
@pytest.mark.parametrize("engine", ["mariadb", "postgresql", "sqlite"])
def test_kept_database_answers_queries_until_removed(
    study, tmp_path: Path, place: Path, engine: str
) -> None:
    path = study(STUDY.replace("ENGINE", engine))
    command = ("run", path, "--world", "measured", f"--on=disk={place}", "--out", tmp_path / "out")
    done = tameshi(*command, "--keep")
    assert done.returncode == 0, done.stderr
    told = dict(
        line.strip().split(":", 1)
        for line in done.stderr.splitlines()
        if line.startswith(("  start:", "  query:", "  remove:"))
    )
    assert f"in {place / 'tameshi-disk-db'}" in done.stderr
    query = shlex.split(told["query"])
    server = subprocess.Popen(shlex.split(told["start"])) if "start" in told else None
    try:
        assert rows(query, engine) == "321"
    finally:
        if server:
            server.terminate()
            server.wait(60)
    assert (server is None) == (engine == "sqlite")
    assert "without --keep" in told["remove"]
    assert tameshi(*command).returncode == 0
    assert list(place.iterdir()) == []


def rows(query: list[str], engine: str) -> str:
    """Return the number of rows by the printed command, once the server answers."""
    words = {"mariadb": ["-N", "-e"], "postgresql": ["-At", "-c"], "sqlite": []}[engine]
    for _ in range(100):
        asked = [*query, *words, "SELECT count(*) FROM key_update1"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.strip()
        time.sleep(0.1)
    raise AssertionError(done.stderr)
