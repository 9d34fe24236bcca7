"""Cost of a synchronous request to a served drive on this machine: processor time, and the rest."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
from validation.server_cells import HOST_CELL, READS_CELL, HostPath

from bench._tameshi import tameshi_run
from tameshi.core.exit_status import ExitStatus
from tameshi.record import store
from tameshi.record.events import read_events
from tameshi.record.store import SealedRun
from tameshi.workflow import study_folder

STUDY = """
title = "What a request costs this machine"
question = "How much processor time and how much other time does a served read take?"
[storage.drive]
device = "cloud-volume-1tb"
size = "1 GiB"
[workload.stream.io]
block_size = "16 KiB"
read = "100 %"
jobs = 4
queue_depth = 1
submission = "plain_calls"
[phase.run]
workload = ["stream.io"]
ramp = "2 s"
until.time = "12 s"
[run]
interval = "500 ms"
seed = 1
"""


def measure(out: Path) -> HostPath:
    """Measure what a request costs, and what a page read costs the server beyond that.

    A request: random reads of 16 KiB by four threads. The rest is the latency that a thread sees
    beyond the modelled one and its processor time. A page read: processor time per transaction of
    the cell with reads, less that of the host's cell without any, per read, in time of the wall.
    """
    processor_us, rest_us = _request(out)
    found = map(store.read_run, (out / "runs").glob("runs/*"))
    runs = {(run.spec.cell["cell"], run.environment.get("slow", 1)): run for run in found if run}
    needed = (READS_CELL, HOST_CELL)
    missing = [cell.name for cell in needed if (cell.name, cell.slow) not in runs]
    if missing:
        sys.exit(f"not measured yet: {', '.join(missing)}")
    (with_us, reads), (without_us, _) = (
        _per_transaction(runs[cell.name, cell.slow]) for cell in needed
    )
    return HostPath(processor_us, (with_us - without_us) / reads - processor_us, rest_us)


def _request(out: Path) -> tuple[float, float]:
    """Return the processor time of a request and the rest of its time, in microseconds."""
    study, results = out / "path" / "path.toml", out / "path" / "out"
    study.parent.mkdir(parents=True, exist_ok=True)
    study.write_text(STUDY, encoding="utf-8")
    log = out / "logs" / "path.txt"
    options = ("--world", "emulated", "--slow", "1.001", "--out", str(results), "--fresh")
    if tameshi_run(study, log, *options) != ExitStatus.DONE:
        sys.exit(f"the path was not measured: {log}")
    (run,) = study_folder.read_runs(results).runs
    sums = _sums(run)
    (drive,) = [each for each in read_events(run.folder) if each["kind"] == "drive_figures"]
    modelled_us = drive["operations"]["read"]["modelled_ns"]["mean"] / 1e3
    processor_us = sums["load.cpu_ns"] / sums["read.count"] / 1e3
    latency_us = sums["read.latency_sum"] / sums["read.count"] / 1e3
    return processor_us, max(latency_us - modelled_us - processor_us, 0.0)


def _per_transaction(run: SealedRun) -> tuple[float, float]:
    """Return a server's processor time, in microseconds of the wall, and its reads."""
    sums, slow = _sums(run), run.environment.get("slow", 1)
    processor_us = slow * (sums["process.cpu_user_ns"] + sums["process.cpu_system_ns"]) / 1e3
    count = sums["transaction.count"]
    return processor_us / count, sums["server.reads"] / count


def _sums(run: SealedRun) -> dict[str, float]:
    """Return the sum of each counter over a run."""
    return dict(run.series().group_by("metric").agg(pl.col("value").sum()).iter_rows())
