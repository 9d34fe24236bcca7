"""Inputs from practice with known correct values; each test is named after its case."""

import re
from pathlib import Path

import polars as pl
import pytest
from command import codes, results, tameshi

WRITE_CLIFF = """
title = "Write cliff"
question = "How long does the SLC cache take sequential writes?"
[storage.d]
device = "nvme-tlc-1tb-consumer"
[host]
profile = "free"
[workload.stream.x]
pattern = "sequential"
read = "0 %"
block_size = "128 KiB"
queue_depth = 16
[phase.p]
workload = ["stream.x"]
until.time = "25 s"
[run]
interval = "1 s"
seed = 3
"""
RAMP_AND_AMOUNT = """
title = "A ramp that outlives the amount"
question = "Does anybody tell that nothing was measured?"
[storage.disk]
device = "sata-ssd-480gb"
size = "1 GiB"
[workload.stream.qos]
block_size = "4 KiB"
queue_depth = 16
amount = "4 MiB"
[phase.run]
workload = ["stream.qos"]
ramp = "2 s"
until.time = "4 s"
"""

GROWING_LAG = """
title = "Updates in memory, with a redo log that does not fill up"
question = "Is this window steady?"
[storage.drive]
device = "nvme-nand-1tb-2017"
size = "12 GiB"
[engine.mysql]
version = "8.0"
buffer_pool = "2 GiB"
redo_log = "8 GiB"
flush_method = "O_DIRECT"
doublewrite = "off"
[workload.key_update]
tables = 10
rows = 100000
row_size = "4800 B"
clients = 8
[phase.update]
workload = ["key_update"]
ramp = "200 ms"
until.time = "1200 ms"
[run]
start = "warm"
interval = "200 ms"
"""

FEW_EVENTS = """
title = "A handful of transactions"
question = "Does a percentile lie within the least and the greatest?"
[storage.disk]
device = "sata-7k2-1tb"
[engine.mysql]
version = "5.7"
buffer_pool = "16 MiB"
flush_method = "O_DIRECT"
[workload.key_update]
tables = 1
rows = 1000
row_size = "200 B"
clients = 1
rate = "1 /s"
[phase.run]
workload = ["key_update"]
until.time = "6 s"
"""


def simulated(folder: Path, text: str) -> Path:
    """Return the study's folder after a run."""
    (folder / "study.toml").write_text(text)
    done = tameshi("run", folder / "study.toml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.mark.slow("a whole drive of 1 TB")
def test_v_write_cliff_comes_when_the_whole_cache_is_full(tmp_path: Path) -> None:
    out = simulated(tmp_path, WRITE_CLIFF)
    (run,) = (out / "runs").iterdir()
    written = pl.read_parquet(run / "series.parquet").filter(pl.col("metric") == "write.bytes")
    rates = (written["value"] / written["dt_ns"]).to_list()
    assert all(rate == pytest.approx(5.23, rel=0.01) for rate in rates[:21])
    assert all(rate == pytest.approx(1.39, rel=0.02) for rate in rates[22:])
    assert results(out)["cells"][0]["estimates"][0]["scale"] == 1


def test_p0_ramp_longer_than_amount_is_refused(tmp_path: Path) -> None:
    found = results(simulated(tmp_path, RAMP_AND_AMOUNT))
    assert found["verdict"]["level"] == "warning"
    assert codes(found["verdict"]) == ["ramped"]


def test_v_mirror_sign_window_that_is_not_steady_is_flagged(tmp_path: Path) -> None:
    found = results(simulated(tmp_path, GROWING_LAG))
    assert found["verdict"]["level"] == "warning"
    assert codes(found["verdict"]) == ["checkpoint"]


def test_p4_percentiles_of_few_events_lie_within_extremes(tmp_path: Path) -> None:
    out = simulated(tmp_path, FEW_EVENTS)
    estimates = {e["metric"]: e["value"] for e in results(out)["cells"][0]["estimates"]}
    printed = tameshi("report", out, "--format", "sysbench").stdout
    rows = re.findall(r"^ +(min|max|95th percentile): +([\d.]+)$", printed, re.MULTILINE)
    ms = {name: float(value) for name, value in rows}
    assert 0 < ms["min"] <= ms["95th percentile"] <= ms["max"]
    greatest = estimates["transaction.latency.max"]
    for name in ("p50", "p99", "p999"):
        assert ms["min"] * 1e6 * 0.99 <= estimates[f"transaction.latency.{name}"] <= greatest
