"""Cost of a synchronous request to a served drive on this machine: processor time, and the rest."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
from validation.server_cells import HostPath

from bench._tameshi import tameshi_run
from tameshi.core.exit_status import ExitStatus
from tameshi.record.events import read_events
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
submission = "synchronous"
[phase.run]
workload = ["stream.io"]
ramp = "2 s"
until.time = "12 s"
[run]
interval = "500 ms"
seed = 1
"""


def measure(out: Path) -> HostPath:
    """Measure random reads of 16 KiB by four threads; return their cost per read.

    The rest is the latency that a thread sees beyond the modelled one and its processor time.
    """
    study, results = out / "path" / "path.toml", out / "path" / "out"
    study.parent.mkdir(parents=True, exist_ok=True)
    study.write_text(STUDY, encoding="utf-8")
    log = out / "logs" / "path.txt"
    options = ("--world", "emulated", "--slow", "1.001", "--out", str(results), "--fresh")
    if tameshi_run(study, log, *options) != ExitStatus.DONE:
        sys.exit(f"the path was not measured: {log}")
    (run,) = study_folder.read_runs(results).runs
    sums = run.series().group_by("metric").agg(pl.col("value").sum())
    counters = dict(sums.iter_rows())
    (drive,) = [each for each in read_events(run.folder) if each["kind"] == "drive_figures"]
    modelled_us = drive["operations"]["read"]["modelled_ns"]["mean"] / 1e3
    reads = counters["read.count"]
    processor_us = counters["load.cpu_ns"] / reads / 1e3
    latency_us = counters["read.latency_sum"] / reads / 1e3
    return HostPath(processor_us, max(latency_us - modelled_us - processor_us, 0.0))
