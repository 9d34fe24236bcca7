"""Metrics of a running study: files as they grow, names, addresses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tameshi.core import compiled
from tameshi.core.data import DASHBOARD
from tameshi.core.errors import BadInput
from tameshi.monitor.exposition import Exposition, exposed
from tameshi.monitor.run_files import Buckets, RunFiles
from tameshi.monitor.service import parsed

HEADER = "t_ns,dt_ns,subject,metric,value\n"
KINDS = {metric["name"]: metric["kind"] for metric in compiled.metrics()}


def write(folder: Path, rows: str, name: str = "load") -> Path:
    (folder / "series").mkdir(exist_ok=True)
    path = folder / "series" / f"{name}.csv"
    with path.open("a") as file:
        file.write(rows)
    return path


def test_counters_add_up_and_half_lines_wait(tmp_path: Path) -> None:
    files = RunFiles(tmp_path, KINDS)
    files.catch_up()
    write(tmp_path, f"{HEADER}1,1,s,read.count,10\n2,1,s,read.count,5\n2,1,s,read.by")
    files.catch_up()
    assert files.counters == {("read.count", "s"): 15}
    write(tmp_path, "tes,4096\n3,1,data,server.pool_bytes,7\n4,1,data,server.pool_bytes,9\n")
    files.catch_up()
    files.catch_up()
    assert files.counters["read.bytes", "s"] == 4096
    assert files.states == {("server.pool_bytes", "data"): 9}


def test_buckets_are_cumulative_and_hold_every_operation() -> None:
    buckets = Buckets()
    for latency_ns, count in ((500, 1), (1000, 2), (1001, 4), (20_000_000_000, 8)):
        buckets.add(latency_ns, count)
    listed = dict(buckets.cumulative())
    assert listed["1e-06"] == 3 and listed["2e-06"] == 7
    assert listed["10"] == 7 and listed["+Inf"] == 15
    assert list(listed.values()) == sorted(listed.values())
    assert buckets.sum_s == pytest.approx(160.0000065)


@pytest.mark.parametrize(
    ("metric", "name", "factor"),
    [
        ("read.count", "tameshi_read_count", 1.0),
        ("disk.busy_ns", "tameshi_disk_busy_seconds", 1e-9),
        ("read.latency_sum", "tameshi_read_latency_sum_seconds", 1e-9),
        ("power.energy_nj", "tameshi_power_energy_joules", 1e-9),
    ],
)
def test_metric_has_base_units(metric: str, name: str, factor: float) -> None:
    units = {m["name"]: m["unit"] for m in compiled.metrics()}
    assert exposed(metric, units[metric]) == (name, factor)


def test_names_of_the_registry_stay_distinct() -> None:
    names = [exposed(metric["name"], metric["unit"])[0] for metric in compiled.metrics()]
    assert len(names) == len(set(names))


def test_exposition_is_valid_openmetrics(tmp_path: Path) -> None:
    exposition = Exposition()
    registry = CollectorRegistry()
    registry.register(exposition)
    exposition.begin(2, 4_000_000_000)
    exposition.began("measured #1", "measured", tmp_path)
    write(tmp_path, f"{HEADER}1,1,s,read.count,10\n")
    stream = {"name": "s", "operations_per_second": 10, "bytes_per_second": 40_960}
    stream |= {"p50_ns": 1000, "p99_ns": 2000, "p999_ns": 3000}
    progress = {"elapsed_ns": 2_000_000_000, "phase": 0, "streams": [stream]}
    exposition.progress("measured #1", "run", progress)
    text = generate_latest(registry).decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["tameshi_read_count"].samples[0].value == 10
    assert families["tameshi_progress_ratio"].samples[0].value == 0.5
    assert families["tameshi_run_elapsed_seconds"].samples[0].labels["run"] == "measured #1"
    exposition.ended("measured #1", "complete", 2_000_000_000)
    text = generate_latest(registry).decode()
    assert 'tameshi_runs_total{status="complete"} 1.0' in text
    assert "tameshi_read_count_total" in text and "tameshi_run_elapsed_seconds{" not in text


def test_ended_runs_are_forgotten_when_there_are_many(tmp_path: Path) -> None:
    exposition = Exposition()
    for number in range(60):
        exposition.began(f"#{number}", "simulated", tmp_path)
        exposition.ended(f"#{number}", "complete", 0)
    list(exposition.collect())
    assert len(exposition._runs) == 50 and "#59" in exposition._runs


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("9400", ("127.0.0.1", 9400)),
        ("0.0.0.0:9400", ("0.0.0.0", 9400)),
        ("[::1]:0", ("::1", 0)),
        ("lab.example:9400", ("lab.example", 9400)),
    ],
)
def test_address_of_metrics_is_loopback_by_default(asked: str, found: tuple[str, int]) -> None:
    assert parsed(asked) == found


@pytest.mark.parametrize("asked", ["", "host", ":9400", "65536", "a:b:1", "-1", "1.5"])
def test_bad_address_of_metrics_is_refused(asked: str) -> None:
    with pytest.raises(BadInput, match="no address to serve"):
        parsed(asked)


def test_dashboard_names_metrics_of_the_registry() -> None:
    known = {exposed(metric["name"], metric["unit"])[0] for metric in compiled.metrics()}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", ()):
            words = target["expr"].replace("{", " ").replace("(", " ").split()
            for word in (word for word in words if word.endswith("_total")):
                assert word.removesuffix("_total") in known | {"tameshi_runs"}
