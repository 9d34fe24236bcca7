"""Measuring on a fleet: hosts by name, their own permission, records at the collector."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from command import SMALL, outcomes, results, start, tameshi, tameshi_process, wait_until
from dask_cluster import DaskCluster, dask_cluster, kill, tls_settings

HOSTS = ("db1", "db2")
TEXT = SMALL.replace("repetitions = 2", "repetitions = 1")
LONG = TEXT.replace('"0 %", "100 %"', '"100 %"').replace('"120 ms"', '"1000 ms"')
"""One run of two seconds per host."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """Run a scheduler, and a worker per host with a folder that it may use."""
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "study.toml").write_text(TEXT)
    (folder / "long.toml").write_text(LONG)
    with dask_cluster(folder, workers=0) as cluster:
        for host in HOSTS:
            (folder / host).mkdir()
            cluster.start_host(host, folder / host)
        cluster.wait_for_workers(len(HOSTS))
        yield cluster


def line(
    cluster: DaskCluster, study: str, out: Path, places: Sequence[str] = ()
) -> list[str | Path]:
    """Return the command that measures a study on hosts, by default on all."""
    places = places or [f"{host}:disk={cluster.folder / host}" for host in HOSTS]
    words = [word for place in places for word in ("--on", place)]
    study_path = cluster.folder / f"{study}.toml"
    options = ["--world", "measured", "--cluster", cluster.address, *words]
    return ["run", study_path, "--out", out, *options]


def left(cluster: DaskCluster) -> list[str]:
    """Return the files that hosts keep."""
    return [name for host in HOSTS for name in os.listdir(cluster.folder / host)]


def test_study_is_measured_on_every_host(fleet: DaskCluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tameshi(*line(fleet, "study", out))
    assert done.returncode == 0, done.stderr + fleet.log()
    document = results(out)
    (axis,) = [axis for axis in document["axes"] if axis["name"] == "host"]
    assert axis["levels"] == list(HOSTS)
    assert {cell["levels"]["host"] for cell in document["cells"]} == set(HOSTS)
    assert [each["status"] for each in outcomes(out)] == ["complete"] * 4
    sides = [(r["numerator"]["levels"], r["denominator"]["levels"]) for r in document["ratios"]]
    assert any(one["host"] != other["host"] for one, other in sides)
    assert left(fleet) == [], done.stderr
    again = tameshi(*line(fleet, "study", out))
    assert "0 runs to make (4 finished before)" in again.stderr, again.stderr


def test_lost_host_makes_its_run_again_when_it_is_back(fleet: DaskCluster, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(*line(fleet, "long", out))
    wait_until(lambda: left(fleet) == ["tameshi-disk.dat"] * 2, process)
    kill(fleet.workers[-1])
    fleet.start_host("db2", fleet.folder / "db2")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors + fleet.log()
    assert "host db2 is gone: its runs wait for it" in errors
    assert errors.count("begins") == 3 and errors.count(": complete") == 2
    assert left(fleet) == [], errors


@pytest.mark.soak
def test_ctrl_c_on_a_fleet_leaves_partial_runs_to_resume(
    fleet: DaskCluster, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = start(*line(fleet, "long", out))
    wait_until(lambda: len(list(fleet.folder.rglob("runs/*/events.jsonl"))) == 2, process)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors + fleet.log()
    assert "the same command resumes" in errors and "Report:" in printed
    assert {each["status"] for each in outcomes(out)} <= {"partial"}
    again = tameshi(*line(fleet, "long", out))
    assert again.returncode == 0, again.stderr + fleet.log()
    assert [each["status"] for each in outcomes(out)] == ["complete"] * 2
    assert left(fleet) == [], again.stderr


@pytest.mark.soak
def test_host_that_stays_away_leaves_its_runs_to_be_made(
    fleet: DaskCluster, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    process = start(*line(fleet, "long", out))
    wait_until(lambda: len(left(fleet)) == 2, process)
    kill(fleet.workers[-1])
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert "host db2 stays away: its runs remain to be made" in errors
    assert [each["status"] for each in outcomes(out)] == ["complete"]
    fleet.start_host("db2", fleet.folder / "db2")
    fleet.wait_for_workers(len(HOSTS))
    again = tameshi(*line(fleet, "long", out))
    assert again.returncode == 0 and "(1 finished before)" in again.stderr, again.stderr
    assert left(fleet) == [], again.stderr


def test_path_beyond_the_permission_is_refused_by_its_host(
    fleet: DaskCluster, tmp_path: Path
) -> None:
    places = [f"db1:disk={fleet.folder / 'db2'}"]
    done = tameshi(*line(fleet, "study", tmp_path / "out", places))
    assert done.returncode == 2 and "host db1 refuses to measure" in done.stderr, done.stderr
    assert "not started with a permission for this path" in " ".join(done.stderr.split())
    assert "refused: db1: disk: this worker was not started" in fleet.log()
    assert not (tmp_path / "out").exists() and left(fleet) == []


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
    for address in ("tcp://10.0.0.1:8786", "tcp://db.example:8786", "tcp://[fe80::1]:8786"):
        done = tameshi("worker", address, "--allow", tmp_path)
        assert done.returncode == 2 and "--insecure" in done.stderr, done.stderr
    done = tameshi("worker", "somewhere", "--allow", tmp_path)
    assert done.returncode == 2 and "this names no scheduler" in done.stderr


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_fleet_measures_over_tls_with_a_certificate_only(tmp_path: Path) -> None:
    words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=tameshi"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", *words, *files], check=True, capture_output=True)
    folder, out = tmp_path / "cluster", tmp_path / "out"
    (tmp_path / "db1").mkdir()
    with dask_cluster(folder, workers=0, certificate=tmp_path) as cluster:
        done = tameshi_process("worker", cluster.address, "--allow", tmp_path / "db1")
        assert done.returncode == 2 and "distributed.comm.tls" in done.stderr, done.stderr
        cluster.start_host("db1", tmp_path / "db1")
        (folder / "study.toml").write_text(LONG.replace('"1000 ms"', '"120 ms"'))
        words = line(cluster, "study", out, [f"db1:disk={tmp_path / 'db1'}"])
        bare = tameshi(*words)
        assert bare.returncode == 2 and "Dask cannot connect" in bare.stderr, bare.stderr
        done = tameshi_process(*words, env=tls_settings(tmp_path))
    assert done.returncode == 0, done.stderr + cluster.log()
    assert [each["status"] for each in outcomes(out)] == ["complete"]
