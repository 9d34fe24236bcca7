"""Grafana's dashboard on a real Prometheus: every query returns data while runs are measured."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tameshi.core.data import DASHBOARD

STREAMS = """
title = "Streams"
question = "Does it run?"
[storage.disk]
device = "null"
size = "16 MiB"
[workload.stream.reader]
[workload.stream.writer]
read = "0 %"
sync = { fdatasync = { every = 8 } }
[phase.p]
workload = ["stream.reader", "stream.writer"]
until.time = "15 s"
[run]
interval = "500 ms"
"""
DATABASE = """
title = "Database"
question = "Does it run?"
[storage.data]
device = "null"
size = "2 GiB"
[engine.postgresql]
buffer_pool = "32 MiB"
[workload.oltp]
mix = "read_write"
tables = 1
rows = 1000
clients = 2
[phase.p]
workload = ["oltp"]
until.time = "15 s"
[run]
interval = "500 ms"
"""
LIMIT_S = 25


def queries() -> dict[str, str]:
    """Every query of the dashboard as Prometheus takes it, by its place."""
    dashboard = json.loads(DASHBOARD.read_text())
    asked = {}
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            text = target["expr"].replace("$__rate_interval", "5s").replace("$run", ".*")
            assert "$" not in text
            asked[f"{panel['title']} {target['refId']}"] = text
    return asked


@contextmanager
def running(command: Sequence[str | Path]) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def metrics_of(process: subprocess.Popen) -> str:
    """Address and port that a run serves its metrics at."""
    for line in process.stdout:
        if found := re.search(r"http://(\S+)/metrics", line):
            return found[1]
    raise AssertionError("the run serves no metrics")


def results(prometheus: str, query: str) -> list:
    with urlopen(f"{prometheus}/api/v1/query?{urlencode({'query': query})}", timeout=5) as answer:
        return json.load(answer)["data"]["result"]


def free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder that the server's user may enter."""
    folder = Path("/tmp") / f"tameshi-monitor-{tmp_path.name}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


def test_every_query_of_the_dashboard_returns_data(place: Path, tmp_path: Path) -> None:
    (tmp_path / "streams.toml").write_text(STREAMS)
    (tmp_path / "database.toml").write_text(DATABASE)
    run = [sys.executable, "-m", "tameshi", "run", "--world", "measured", "--metrics", "0"]
    port, left = free_port(), queries()
    with ExitStack() as stack:
        targets = []
        for name, storage in (("streams", f"disk={place}"), ("database", f"data={place}")):
            asked = [*run, tmp_path / f"{name}.toml", "--on", storage, "--out", tmp_path / name]
            targets.append(metrics_of(stack.enter_context(running(asked))))
        jobs = [{"job_name": "tameshi", "static_configs": [{"targets": targets}]}]
        scraping = {"scrape_interval": "1s", "scrape_timeout": "1s"}
        config = {"global": scraping, "scrape_configs": jobs}
        (tmp_path / "prometheus.yml").write_text(json.dumps(config))
        prometheus = f"http://127.0.0.1:{port}"
        server = [
            "prometheus",
            f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        stack.enter_context(running(server))
        end_s = time.monotonic() + LIMIT_S
        while left and time.monotonic() < end_s:
            time.sleep(1)
            try:
                left = {name: text for name, text in left.items() if not results(prometheus, text)}
            except OSError:
                continue
    assert left == {}
