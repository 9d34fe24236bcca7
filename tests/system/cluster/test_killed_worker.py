"""Study of 200 runs on a cluster with a worker killed on the way, next to `--jobs 2`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from bench._many_cells import CELLS, many_cells
from command import outcomes, start, tameshi_process, wait_until
from dask_cluster import dask_cluster, kill
from sealing import folder_content

CALM_S = 0.5
"""Time of a run on a busy machine."""


@pytest.mark.parametrize("runs", [200, pytest.param(10_000, marks=pytest.mark.soak)])
def test_cluster_with_a_killed_worker_gives_equal_results(
    study: Callable[..., Path], tmp_path: Path, runs: int
) -> None:
    path = study(many_cells(repetitions=runs // CELLS))
    here, out = tmp_path / "here", tmp_path / "out"
    done = tameshi_process("run", path, "--out", here, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    with dask_cluster(tmp_path / "cluster", workers=2) as cluster:
        process = start("run", path, "--out", out, "--cluster", cluster.address)
        wait_until(
            lambda: len(list(out.glob("runs/*/outcome.json"))) > min(runs // 5, 200), process
        )
        kill(cluster.workers[0])
        _, errors = process.communicate(timeout=runs * CALM_S)
    assert process.returncode == 0, errors + cluster.log()
    assert "is gone: " in errors and "that it had go to others" in errors
    assert errors.count(": complete") == runs and "failed" not in errors
    assert (out / "results.json").read_bytes() == (here / "results.json").read_bytes()
    assert folder_content(out / "runs") == folder_content(here / "runs")


def test_killed_collector_resumes_on_one_machine(
    study: Callable[..., Path], tmp_path: Path
) -> None:
    path = study(many_cells())
    here, out = tmp_path / "here", tmp_path / "out"
    with dask_cluster(tmp_path / "cluster", workers=2) as cluster:
        process = start("run", path, "--out", out, "--cluster", cluster.address)
        wait_until(lambda: len(outcomes(out)) > 5, process)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    for folder in (out, here):
        done = tameshi_process("run", path, "--out", folder, "--jobs", "2")
        assert done.returncode == 0, done.stderr
    assert (out / "results.json").read_bytes() == (here / "results.json").read_bytes()
