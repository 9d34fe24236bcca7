"""Reports in the layouts of tpcc-mysql and sysbench: lines and figures."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from command import results, tameshi
from layouts import SYSBENCH, TPCC_MYSQL, mismatch

from tameshi import guard
from tameshi.core.spec_types import Engine
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.private import PrivateServer, prepare_directory

STUDY = """
title = "Forms"
question = "Do old scripts read it?"
[storage.disk]
size = "1 GiB"
[engine.PRODUCT]
[workload.PROGRAM]
SETTINGS
[phase.run]
workload = ["PROGRAM"]
ramp = "300 ms"
until = { time = "2300 ms" }
[run]
interval = "500 ms"
"""


def ran(study, tmp_path: Path, place: Path, product: str, program: str, settings: str) -> Path:
    text = STUDY.replace("PRODUCT", product).replace("PROGRAM", program)
    out = tmp_path / "out"
    path = study(text.replace("SETTINGS", settings))
    done = tameshi("run", path, "--world", "measured", f"--on=disk={place}", "--out", out)
    assert done.returncode == 0, done.stderr
    return out


def reported(out: Path, form: str) -> str:
    done = tameshi("report", out, "--format", form)
    assert done.returncode == 0, done.stderr
    return done.stdout


def estimates(out: Path) -> dict[tuple[str, str], float]:
    (cell,) = results(out)["cells"]
    return {(e["subject"], e["metric"]): e["value"] for e in cell["estimates"]}


@pytest.mark.timeout(300)
def test_tpcc_prints_in_tpcc_mysqls_layout(study, tmp_path, place):
    out = ran(study, tmp_path, place, "sqlite", "tpcc", "clients = 2")
    text = reported(out, "tpcc-mysql")
    assert mismatch(TPCC_MYSQL, text) == ""
    found = estimates(out)
    tpmc = float(re.search(r"([\d.]+) TpmC", text)[1])
    assert tpmc == pytest.approx(found["tpcc.new_order", "transaction.tpmc"], rel=1e-3)
    rows = re.findall(r"\[(\d)\] sc:(\d+)  lt:(\d+)  rt:(\d+)  fl:(\d+)", text)
    total = sum(int(sc) + int(lt) for _, sc, lt, _, _ in rows)
    per_line = re.findall(r"trx: (\d+),.*max_rt: [\d.]+" + r", (\d+)\|[\d.]+" * 4, text)
    assert 0 < sum(int(n) for line in per_line for n in line) <= total
    retries = sum(int(rt) for *_, rt, _ in rows)
    seconds = total / found["tpcc", "transaction.rate"]
    assert retries == pytest.approx(found["tpcc", "transaction.retry_rate"] * seconds, abs=0.51)
    # The same run prints in sysbench's layout too, with any program.
    assert mismatch(SYSBENCH, reported(out, "sysbench")) == ""


@pytest.mark.timeout(300)
def test_oltp_prints_in_sysbenchs_layout(study, tmp_path, place):
    settings = 'mix = "read_write"\nclients = 2\ntables = 1\nrows = 500'
    out = ran(study, tmp_path, place, "mariadb", "oltp", settings)
    text = reported(out, "sysbench")
    assert mismatch(SYSBENCH, text) == ""
    assert mismatch(SYSBENCH, sysbenchs_own(place)) == ""
    found = estimates(out)
    kinds = {k: int(n) for k, n in re.findall(r" {8}(\w+): +(\d+)\n", text)}
    events = int(re.search(r"events: +(\d+)", text)[1])
    queries = int(re.search(r"queries: +(\d+)", text)[1])
    assert kinds["read"] + kinds["write"] + kinds["other"] == kinds["total"] == queries
    # Fourteen selects, four changes, BEGIN and COMMIT; the window's ends cut some off.
    assert queries / events == pytest.approx(20, rel=0.2)
    assert kinds["read"] / kinds["write"] == pytest.approx(14 / 4, rel=0.2)
    per_second = float(re.search(r"transactions: +\d+ +\(([\d.]+) per sec", text)[1])
    assert per_second == pytest.approx(found["oltp", "transaction.rate"], rel=1e-3)
    average = float(re.search(r"avg: +([\d.]+)", text)[1])
    assert average == pytest.approx(found["oltp", "transaction.latency.mean"] / 1e6, abs=0.006)


def sysbenchs_own(place: Path) -> str:
    """Return sysbench's own output, on a private server."""
    product = PRODUCTS["mariadb"]
    engine = Engine.model_validate({"redo_log": "8 MiB", "buffer_pool": "16 MiB"})
    guard.claim_folder(place / "log")
    with prepare_directory(place / "sb", product, 64 << 20) as directory:
        server = PrivateServer(product, engine, directory, place / "log" / "server.log")
        try:
            server.initialise()
            server.start()
            address = server.address
            words = [
                *("sysbench", "oltp_read_write", "--db-driver=mysql", "--threads=2"),
                *(f"--mysql-socket={address.socket}", f"--mysql-user={address.user}"),
                *(f"--mysql-db={address.database}", "--tables=1", "--table-size=500"),
                *("--time=2", "--report-interval=1"),
            ]
            for command in ("prepare", "run"):
                done = subprocess.run([*words, command], capture_output=True, text=True)
                assert done.returncode == 0, done.stdout + done.stderr
        finally:
            server.kill()
            directory.discard()
    return done.stdout


def test_study_without_program_of_layout_is_refused(study, tmp_path, place):
    settings = "tables = 1\nrows = 200\nrow_size = '300 B'\nclients = 1"
    out = ran(study, tmp_path, place, "sqlite", "key_update", settings)
    done = tameshi("report", out, "--format", "tpcc-mysql")
    assert done.returncode == 2 and "no run of this study has a phase of TPC-C" in done.stderr
    done = tameshi("report", out, "--format", "sysbenchh")
    assert done.returncode == 2 and "sysbench" in done.stderr
