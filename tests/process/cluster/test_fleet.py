"""Measuring on a fleet: hosts by name, their own permission, records at the collector."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import SMALL, outcomes, results, tameshi
from dask_cluster import DaskCluster, dask_cluster

HOSTS = ("db1", "db2")
TEXT = SMALL.replace("repetitions = 2", "repetitions = 1")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DaskCluster, Path]]:
    """Run a scheduler, and a worker per host with a folder that it may use."""
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "study.toml").write_text(TEXT)
    with dask_cluster(folder, workers=0) as cluster:
        workers = []
        for host in HOSTS:
            (folder / host).mkdir()
            words = ["worker", cluster.address, "--host", host, "--allow", str(folder / host)]
            with (folder / "dask.log").open("ab") as log:
                line = [sys.executable, "-m", "tameshi", *words]
                workers.append(subprocess.Popen(line, stdout=log, stderr=log))
        cluster.workers += workers
        cluster.wait_for_workers(len(HOSTS))
        yield cluster, folder


def line(cluster: DaskCluster, folder: Path, *places: str) -> list[str | Path]:
    words = [word for place in places for word in ("--on", place)]
    return [
        "run",
        folder / "study.toml",
        "--world",
        "measured",
        "--cluster",
        cluster.address,
        *words,
    ]


def test_study_is_measured_on_every_host(fleet: tuple[DaskCluster, Path], tmp_path: Path) -> None:
    cluster, folder = fleet
    places = [f"{host}:disk={folder / host}" for host in HOSTS]
    out = tmp_path / "out"
    done = tameshi(*line(cluster, folder, *places), "--out", out)
    assert done.returncode == 0, done.stderr + cluster.log()
    document = results(out)
    (axis,) = [axis for axis in document["axes"] if axis["name"] == "host"]
    assert axis["levels"] == list(HOSTS)
    assert {cell["levels"]["host"] for cell in document["cells"]} == set(HOSTS)
    assert [each["status"] for each in outcomes(out)] == ["complete"] * 4
    sides = [(r["numerator"]["levels"], r["denominator"]["levels"]) for r in document["ratios"]]
    assert any(one["host"] != other["host"] for one, other in sides)
    assert [name for host in HOSTS for name in os.listdir(folder / host)] == []
    again = tameshi(*line(cluster, folder, *places), "--out", out)
    assert "0 runs to make (4 finished before)" in again.stderr, again.stderr


def test_path_beyond_the_permission_is_refused_by_its_host(
    fleet: tuple[DaskCluster, Path], tmp_path: Path
) -> None:
    cluster, folder = fleet
    places = [f"db1:disk={folder / 'db2'}"]
    done = tameshi(*line(cluster, folder, *places), "--out", tmp_path / "out")
    assert done.returncode == 2 and "host db1 refuses" in done.stderr, done.stderr
    assert "not started with a permission for this path" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists() and not any((folder / "db2").iterdir())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--on", "db1:disk=/x", "--world", "simulated"], "hosts are for measured runs only"),
        (["--on", "db1:disk=/x", "--world", "measured"], "this needs a cluster"),
        (
            ["--on", "db1:disk=/x", "--on", "disk=/y", "--world", "measured", "--cluster", "local"],
            "this does not go to other hosts",
        ),
        (
            ["--on", "a:disk=/x", "--destroy", "S", "--world", "measured", "--cluster", "local"],
            "this does not go to other hosts",
        ),
    ],
)
def test_unusable_hosts_are_refused_before_a_run(
    tmp_path: Path, words: list[str], message: str
) -> None:
    (tmp_path / "study.toml").write_text(TEXT)
    done = tameshi("run", tmp_path / "study.toml", "--out", tmp_path / "out", *words)
    assert done.returncode == 2 and message in " ".join(done.stderr.split()), done.stderr
    assert not (tmp_path / "out").exists()


def test_worker_refuses_a_network_without_tls(tmp_path: Path) -> None:
    for address in ("tcp://10.0.0.1:8786", "tcp://db.example:8786"):
        done = tameshi("worker", address, "--allow", tmp_path)
        assert done.returncode == 2 and "--insecure" in done.stderr, done.stderr
    done = tameshi("worker", "somewhere", "--allow", tmp_path)
    assert done.returncode == 2 and "this names no scheduler" in done.stderr
