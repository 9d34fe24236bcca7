"""`tameshi run --cluster`: refusals, a cluster here, and faults of processes of a real one."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from command import SMALL, outcomes, results, start, tameshi, wait_until
from dask_cluster import DaskCluster, dask_cluster, free_port, kill
from sealing import folder_content

import tameshi as tm
from tameshi.cluster import collector, connection

Study = Callable[..., Path]
LONG = SMALL.replace('"120 ms"', '"400 s"').replace('interval = "10 ms"', 'interval = "10 s"')
"""About a second of real time per run."""
QUESTION = (
    *("--database-size", "100MB", "--buffer-pool", "8MiB", "--storage", "es3000-1.2t"),
    *("--target-qps", "2000", "--clients", "2", "--redo-log", "32MiB", "--scale", "1"),
    *("--time", "200 ms", "--ramp", "50 ms", "--no-sensitivity"),
)
OTHER_CORE = "from tameshi.core import compiled\ncompiled.core_hash = lambda: 'f' * 64\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    """Run a cluster of two workers, which no test kills."""
    with dask_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as made:
        yield made


@pytest.fixture
def here(study: Study, tmp_path: Path) -> Path:
    """Run the small study on this machine."""
    done = tameshi("run", study(), "--out", tmp_path / "here", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    return tmp_path / "here"


def refused(tmp_path: Path, study: Path, *options: str) -> str:
    done = tameshi("run", study, "--out", tmp_path / "out", *options)
    assert done.returncode == 2, done.stderr
    assert not (tmp_path / "out").exists() and "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def test_missing_library_is_named_with_remedy(study: Study, tmp_path: Path) -> None:
    with patch.dict(sys.modules, {"distributed": None}):
        said = refused(tmp_path, study(), "--cluster", "local")
    assert "--cluster: this needs the library distributed" in said
    assert "pip install 'tameshi[cluster]'" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cluster", "somewhere"], "this names no cluster. Found: somewhere. Accepted: local"),
        (["--cluster", "tcp://host"], "this names no cluster"),
        (["--cluster", "tls://127.0.0.1:{port}"], "no scheduler answers here"),
        (["--cluster", "tcp://127.0.0.1:{port}"], "no scheduler answers here. Found: tcp://127"),
        (
            ["--cluster", "local", "--world", "measured", "--on", "disk={folder}"],
            "only simulated runs go to a cluster. Found: measured",
        ),
    ],
)
def test_unusable_cluster_is_refused_before_a_run(
    study: Study, tmp_path: Path, options: list[str], message: str
) -> None:
    given = [each.format(port=free_port(), folder=tmp_path) for each in options]
    assert message in refused(tmp_path, study(), *given)


def test_scheduler_without_workers_is_refused(study: Study, tmp_path: Path) -> None:
    with (
        dask_cluster(tmp_path / "cluster", workers=0) as empty,
        patch.object(connection, "WORKERS_S", 0.5),
    ):
        said = refused(tmp_path, study(), "--cluster", empty.address)
    assert "no worker is connected to this scheduler" in said
    assert f"dask worker {empty.address}" in said


def test_records_of_a_cluster_equal_those_made_here(
    cluster: DaskCluster, study: Study, here: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = tameshi("run", study(), "--out", out, "--cluster", cluster.address)
    assert done.returncode == 0, done.stderr + cluster.log()
    assert "2 workers, 2 threads" in done.stderr and done.stderr.count(": complete") == 4
    assert (out / "results.json").read_bytes() == (here / "results.json").read_bytes()
    assert folder_content(out / "runs") == folder_content(here / "runs")
    again = tameshi("run", study(), "--out", out, "--cluster", cluster.address)
    assert "0 runs to make (4 finished before)" in again.stderr


def test_local_cluster_gives_the_same_results(study: Study, here: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = tameshi("run", study(), "--out", out, "--cluster", "local", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "1 worker, 1 thread" in done.stderr
    assert (out / "results.json").read_bytes() == (here / "results.json").read_bytes()


def test_cluster_packs_the_same_records(cluster: DaskCluster, study: Study, tmp_path: Path) -> None:
    for name, options in (("here", []), ("out", ["--cluster", cluster.address])):
        line = ("run", study(), "--out", tmp_path / name, "--records", "parquet", *options)
        done = tameshi(*line)
        assert done.returncode == 0, done.stderr
        assert list((tmp_path / name / "runs").iterdir()) == []
    found = [(tmp_path / name / "results.json").read_bytes() for name in ("here", "out")]
    assert found[0] == found[1]


def test_records_pass_through_a_shared_file_system(
    cluster: DaskCluster, study: Study, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    left_at = collector.left_at
    monkeypatch.setattr(collector, "left_at", lambda place: taken.append(place) or left_at(place))
    monkeypatch.setenv("TAMESHI_SHARED", str(cluster.shared))
    out = tmp_path / "out"
    done = tameshi("run", study(), "--out", out, "--cluster", cluster.address)
    assert done.returncode == 0, done.stderr + cluster.log()
    assert len(taken) == 4 and list(cluster.shared.iterdir()) == []
    assert folder_content(out / "runs") == folder_content(here / "runs")
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("TAMESHI_SHARED", str(tmp_path / "other"))
    done = tameshi("run", study(), "--out", tmp_path / "apart", "--cluster", cluster.address)
    assert done.returncode == 0 and len(taken) == 4, done.stderr


def test_client_of_the_caller_stays_open(cluster: DaskCluster, here: Path, tmp_path: Path) -> None:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        small = tm.Study.from_text(SMALL, "small")
        made = small.run(out=tmp_path / "out", cluster=client)
        assert made.document == results(here)
        assert client.status == "running"


def test_question_is_answered_by_a_cluster(cluster: DaskCluster, tmp_path: Path) -> None:
    for name, options in (("here", []), ("out", ["--cluster", cluster.address])):
        done = tameshi("ask", *QUESTION, "--out", tmp_path / name, *options)
        assert done.returncode == 0, done.stderr
    assert "cluster at tcp://" in done.stderr
    found = [(tmp_path / name / "results.json").read_bytes() for name in ("here", "out")]
    assert found[0] == found[1]


def test_ctrl_c_on_a_cluster_leaves_a_partial_result(
    cluster: DaskCluster, study: Study, tmp_path: Path
) -> None:
    long = LONG.replace('"400 s"', '"80000 s"').replace("repetitions = 2", "repetitions = 1")
    path, out = study(long), tmp_path / "out"
    options = ["--out", str(out), "--cluster", cluster.address]
    process = start("run", path, *options)
    wait_until(lambda: bool(list(cluster.folder.rglob("runs/*/events.jsonl"))), process)
    time.sleep(1)
    os.kill(process.pid, signal.SIGINT)
    printed, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors + cluster.log()
    assert "the same command resumes" in errors and "Report:" in printed
    statuses = [outcome["status"] for outcome in outcomes(out)]
    assert statuses and set(statuses) == {"partial"}
    wait_until_empty(cluster.folder)


def wait_until_empty(folder: Path) -> None:
    """Wait until no worker has a run any more."""
    until_s = time.monotonic() + 20
    while list(folder.rglob("runs/*/spec.json")):
        assert time.monotonic() < until_s, list(folder.rglob("runs/*"))
        time.sleep(0.1)


def test_killed_collector_ends_the_runs_of_workers(
    cluster: DaskCluster, study: Study, tmp_path: Path
) -> None:
    path = study(LONG.replace('"400 s"', '"80000 s"'))
    process = start("run", path, "--out", tmp_path / "out", "--cluster", cluster.address)
    wait_until(lambda: bool(list(cluster.folder.rglob("runs/*/events.jsonl"))), process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    wait_until_empty(cluster.folder)


def test_worker_with_another_core_gets_no_runs(study: Study, here: Path, tmp_path: Path) -> None:
    preload = tmp_path / "other_core.py"
    preload.write_text(OTHER_CORE)
    out = tmp_path / "out"
    with dask_cluster(tmp_path / "cluster", workers=1) as mixed:
        other = mixed.start_worker(preload)
        mixed.wait_for_workers(2)
        done = tameshi("run", study(), "--out", out, "--cluster", mixed.address)
        assert other.poll() is None
    assert done.returncode == 0, done.stderr + mixed.log()
    assert "gets no runs: it has Tameshi" in done.stderr
    assert "with core ffffffffffff, this machine" in done.stderr
    assert (out / "results.json").read_bytes() == (here / "results.json").read_bytes()


@pytest.mark.slow("starts a scheduler twice")
def test_restarted_scheduler_loses_no_run(study: Study, tmp_path: Path) -> None:
    path, out = study(LONG), tmp_path / "out"
    with dask_cluster(tmp_path / "cluster", workers=1) as cluster:
        process = start("run", path, "--out", out, "--cluster", cluster.address)
        wait_until(lambda: len(outcomes(out)) >= 1, process)
        cluster.kill_scheduler()
        for worker in cluster.workers:
            if worker.poll() is None:
                kill(worker)
        cluster.start_scheduler()
        cluster.start_worker()
        _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors + cluster.log()
    assert "the connection to the scheduler is lost" in errors
    assert "the scheduler answers again" in errors
    assert errors.count(": complete") == 4
    assert [outcome["status"] for outcome in outcomes(out)] == ["complete"] * 4
