"""Verdicts on real runs: a target that answers from memory, and unreachable rates."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tameshi import guard
from tameshi.analysis import results, series
from tameshi.analysis.stats import validity
from tameshi.core.compiled import Execution, Target
from tameshi.core.environment import diskstats_name
from tameshi.core.reasons import reason
from tameshi.core.spec_types import RunSpec
from tameshi.record import store
from tameshi.record.events import append_event
from tameshi.record.store import SealedRun
from tameshi.run.sampler import Sampler
from tameshi.study.file import plan, read_study

STUDY = """
title = "Limits"
question = "Whose?"
[storage.disk]
device = "sas-15k-146gb"
size = "16 MiB"
[workload.stream.s]
{stream}
[phase.p]
workload = ["stream.s"]
ramp = "100 ms"
until = {{ time = "900 ms" }}
[run]
interval = "50 ms"
"""
MEMORY = 'access = "buffered"\n'


def open_loop(rate: int) -> str:
    return f'arrivals = {{ poisson = {{ rate = "{rate} /s" }} }}'


@pytest.fixture
def measured(tmp_path: Path) -> Iterator[Any]:
    """Run one sampled stream on a file of its own, and seal the record."""
    made: list[Path] = []

    def run(stream: str, place: Path = tmp_path) -> SealedRun:
        path = tmp_path / "limits.toml"
        path.write_text(STUDY.format(stream=stream))
        (spec,) = plan(read_study(path), "measured", quick=False).runs
        folder = tmp_path / f"run{len(made)}"
        made.append(folder)
        store.begin_run(folder, spec, "0" * 64, {})
        examined = guard.check_target(place / "target.dat", 16 << 20, "disk")
        direct = MEMORY not in stream
        with guard.open_target(examined, direct=direct, fallback=True) as opened:
            execute(spec, folder, opened)
        return store.seal(folder)

    yield run


@pytest.fixture
def own_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system on a disk of its own, whose counters include no other I/O."""
    image, point = tmp_path / "disk.img", tmp_path / "own disk"
    with image.open("wb") as blank:
        blank.truncate(128 << 20)
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, point], check=True)
    yield point
    subprocess.run(["umount", "--lazy", point], check=True)


def execute(spec: RunSpec, folder: Path, opened: guard.OpenTarget) -> None:
    target = Target("disk", opened.fd, opened.data_offset, opened.data_bytes, opened.direct)
    execution = Execution(spec, folder)
    execution.lay_out(target, spec.seed)
    if not opened.direct:
        opened.path.read_bytes()  # served from memory from here on
    t0_ns = time.monotonic_ns() + 20_000_000
    disks = [name for name in [diskstats_name(opened.path.parent)] if name]
    with Sampler(folder, t0_ns, 50_000_000, disks, {"worker": os.getpid()}):
        execution.run([target], t0_ns, "auto")


def found(run: SealedRun) -> Mapping[str, validity.Finding]:
    """Return the findings of the run's only phase, by code."""
    (window,) = run.outcome["windows"]
    stretch = series.Stretch("p", [tuple(span) for span in window["spans"]], steady=True)
    data = series.Frames(run).window(0, 0, "s", stretch)
    samples = run.series().filter(pl.col("source") == "sampler").drop("source")
    judged = validity.findings(run.spec.phases[0], {"s": data}, samples.iter_rows(), stretch.spans)
    return {finding.code: finding for finding in judged}


def test_reading_memory_in_a_closed_loop_is_invalid(measured, own_disk):
    # If the machine stalls for a moment, no thread seems busy: repeat the run.
    for _ in range(3):
        codes = found(measured(MEMORY + "queue_depth = 8", own_disk))
        assert "memory" in codes
        # On a busy machine, the processors are the limit rather than the thread.
        if {"generator", "processors", "others"} & set(codes):
            return
    pytest.fail(f"nothing was the limit in any of three runs: {codes}")


def test_a_rate_beyond_the_generator_is_invalid(measured):
    run = measured(MEMORY + "queue_depth = 64\n" + open_loop(20_000_000))
    codes = found(run)
    assert {"generator", "processors", "others"} & set(codes)
    assert any(finding.level == "invalid" for finding in codes.values())
    total = dict(run.series().group_by("metric").agg(pl.col("value").sum()).iter_rows())
    assert total["load.unserved"] > total["load.started"], "twenty million are due in a second"


def test_rate_beyond_disk_is_no_generator_limit(measured):
    run = measured('sync = { fdatasync = { every = 1 } }\nread = "0 %"\n' + open_loop(500_000))
    codes = found(run)
    assert "generator" not in codes
    assert {"unserved", "processors", "others"} & set(codes)


def test_a_modest_rate_does_not_saturate_the_generator(measured):
    assert "generator" not in found(measured(open_loop(200)))


CLIENTS = """
title = "Clients"
question = "Whose limit?"
[storage.disk]
size = "1 GiB"
[engine.mariadb]
[workload.oltp]
mix = "point_select"
clients = 2
tables = 1
rows = 1000
[phase.p]
workload = ["oltp"]
until = { time = "2 s" }
[run]
interval = "500 ms"
"""
HALF_NS = 500_000_000


def database_run(tmp_path: Path, busy: float) -> dict[str, Any]:
    """Return results of a record in which each of two client threads was busy for this share of
    time."""
    path = tmp_path / "clients.toml"
    path.write_text(CLIENTS)
    planned = plan(read_study(path), "measured", quick=False)
    folder = tmp_path / "run"
    store.begin_run(folder, planned.runs[0], "0" * 64, {})
    ends = [HALF_NS * number for number in (1, 2, 3, 4)]
    load = {
        "transaction.count": 5000,
        "transaction.latency_sum": 2 * HALF_NS,
        "statement.count": 5000,
        "load.cpu_ns": round(2 * busy * HALF_NS),
    }
    kinds = {"user": 0.8, "system": 0.4, "iowait": 0.0, "idle": 0.8}
    machine = {f"machine.cpu_{kind}_ns": round(n * HALF_NS) for kind, n in kinds.items()}
    spent = {"process.cpu_user_ns": HALF_NS // 4, "process.cpu_system_ns": HALF_NS // 8}
    disk = {"disk.weighted_ns": HALF_NS}
    sampled = {"machine": machine, "worker": spent, "server": spent, "vda": disk}
    for source, subjects in (("load", {"oltp": load}), ("sampler", sampled)):
        lines = [
            f"{end},{HALF_NS},{subject},{metric},{value}"
            for end in ends
            for subject, values in subjects.items()
            for metric, value in values.items()
        ]
        text = "\n".join(["t_ns,dt_ns,subject,metric,value", *lines, ""])
        (folder / "series" / f"{source}.csv").write_text(text)
    for t_ns, kind, fields in (
        (0, "phase_begin", {"phase": 0}),
        (0, "phase_ramped", {"phase": 0}),
        (ends[-1], "phase_end", {"phase": 0, "ended_by": "time"}),
        (ends[-1], "run_end", {"status": "complete"}),
    ):
        append_event(folder, t_ns, kind, **fields)
    return results.results(planned.study, [store.seal(folder)])


def test_a_saturated_client_makes_the_run_of_a_database_invalid(tmp_path):
    verdict = database_run(tmp_path, 0.95)["verdict"]
    assert verdict == {"level": "invalid", "reasons": [reason("client", "oltp")]}


def test_a_client_that_waits_for_its_database_is_no_limit(tmp_path):
    assert database_run(tmp_path, 0.4)["verdict"] == {"level": "valid", "reasons": []}
