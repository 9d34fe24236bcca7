"""Cost of a large study's records and report: seconds and bytes per run, without simulation.

    python -m bench.large_study [--runs 10000] [--plan 1000 10000]

40 small runs are simulated. Their records are sealed again under other levels and identities, as
many as asked for, and go the way of a study's runs: folder, pack, cells, results.json, report.
`plan` times the planner and its memory for studies of some sizes. docs/scale.md holds what was
measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from tameshi import guard
from tameshi.core.spec_types import World
from tameshi.record import store
from tameshi.record.packs import MOST_RUNS, Packs, batched
from tameshi.record.seal import OUTCOME
from tameshi.record.transfer import content_of, write_record
from tameshi.study.file import plan, read_study
from tameshi.workflow import study_folder

CELLS = 40
STUDY = """
title = "Many cells"
question = "Which setting matters?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[axis.read]
set = "workload.stream.s.read"
levels = ["0 %", "25 %", "50 %", "75 %", "100 %"]
[axis.depth]
set = "workload.stream.s.queue_depth"
levels = [1, 2, 3, 4, 5, 6, 7, 8]
[axis.jobs]
set = "workload.stream.s.jobs"
levels = [LEVELS]
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
ramp = "20 ms"
until = { time = "200 ms" }
[run]
interval = "10 ms"
"""
PLAN = """
import re, sys, time
from pathlib import Path
from tameshi.study.file import plan, read_study
study = read_study(Path(sys.argv[1]))
begin = time.process_time()
planned = plan(study, "simulated", quick=False)
took = time.process_time() - begin
memory = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text("utf-8"))[1]
print(len(planned.runs), took, memory)
"""


def study_file(folder: Path, cells: int) -> Path:
    """Write a study with this many cells, a multiple of 40."""
    path = folder / f"many-{cells}.toml"
    levels = ", ".join(map(str, range(1, cells // CELLS + 1)))
    path.write_text(STUDY.replace("LEVELS", levels), encoding="utf-8")
    return path


def planning(folder: Path, cells: int, console: Console) -> None:
    """Print what planning a study costs."""
    words = [sys.executable, "-c", PLAN, str(study_file(folder, cells))]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    runs, cpu_s, memory_kib = done.stdout.split()
    console.print(
        f"plan of {int(runs):,} runs: {float(cpu_s):.2f} s of processor time, "
        f"{int(memory_kib) / 1024:.0f} MiB at most"
    )


def resealed(content: Mapping[str, bytes], jobs: int) -> tuple[str, dict[str, bytes]]:
    """Return a record under another level of `jobs`, with a seal of its own."""
    made = dict(content)
    spec = json.loads(made["spec.json"])
    spec["cell"]["jobs"] = str(jobs)
    made["spec.json"] = json.dumps(spec).encode()
    identity = hashlib.sha256(made["spec.json"]).hexdigest()
    environment = {**json.loads(made["environment.json"]), "identity": identity}
    made["environment.json"] = store.as_json(environment)
    outcome: dict[str, Any] = {**json.loads(made[OUTCOME]), "identity": identity}
    outcome.pop("sha256")
    for name in ("spec.json", "environment.json"):
        data = made[name]
        outcome["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    made[OUTCOME] = store.as_json({**outcome, "sha256": store.seal_hash(outcome)})
    return identity, made


def records(folder: Path, runs: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield this many records, made of 40 simulated ones."""
    base = folder / "base"
    command = ["-m", "tameshi", "run", str(study_file(folder, CELLS)), "--out", str(base)]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    contents = [content_of(path) for path in sorted((base / "runs").iterdir())]
    for number in range(runs):
        yield resealed(contents[number % CELLS], number // CELLS + 1)


def stored(folder: Path, study: Path, runs: int, console: Console) -> Path:
    """Store the records as packs; print what that costs."""
    out = folder / "out"
    guard.claim_folder(out)
    (out / "packs").mkdir()
    packs = Packs(out)
    identities: list[str] = []
    cpu_s = 0.0
    for some in batched(records(folder, runs), MOST_RUNS):
        for identity, content in some:
            write_record(store.run_folder(out, identity), content, synced=False)
            identities.append(identity)
        begin_s = time.process_time()
        packs.collect()
        cpu_s += time.process_time() - begin_s
    size = sum(path.stat().st_size for path in (out / "packs").iterdir())
    count = len(list((out / "packs").iterdir()))
    console.print(
        f"{runs:,} records in {count} packs: {size / runs / 1e3:.1f} kB and "
        f"{cpu_s / runs * 1e3:.2f} ms of processor time per run"
    )
    planned = plan(read_study(study), World.simulated.value, quick=False)
    guard.write_file(out / study_folder.STUDY, study.read_bytes())
    study_folder.write_summary(out, planned.study, [])
    study_folder.write_order(out, identities)
    return out


def reported(out: Path, runs: int, console: Console) -> None:
    """Compute cells and write the report; print what each costs."""
    summary, _ = study_folder.read_summary(out)
    steps: dict[str, Any] = {
        "cells and results.json": lambda: study_folder.write_results(
            out, summary, study_folder.read_runs(out)
        ),
        "results.json alone": lambda: study_folder.write_results(
            out, summary, study_folder.read_runs(out)
        ),
        "report with results.json": lambda: study_folder.show(out, "en"),
    }
    for name, step in steps.items():
        begin_s, begin_cpu_s = time.monotonic(), time.process_time()
        step()
        cpu_s = time.process_time() - begin_cpu_s
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        console.print(
            f"{name}: {time.monotonic() - begin_s:.1f} s by the clock, {cpu_s:.1f} s of processor "
            f"time, {cpu_s / runs * 1e3:.2f} ms per run; {memory:.0f} MiB at most so far"
        )
    for name in ("results.json", "report.html"):
        console.print(f"{name}: {(out / name).stat().st_size / 1e3:.0f} kB")


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="a multiple of 40")
    parser.add_argument("--plan", type=int, nargs="*", default=[1000, 10_000])
    given = parser.parse_args()
    console = Console(width=110)
    with tempfile.TemporaryDirectory(prefix="tameshi-large-") as name:
        folder = Path(name)
        for cells in given.plan:
            planning(folder, cells, console)
        if given.runs:
            # The planner takes 10,000 runs: more share the axes of that study.
            study = study_file(folder, min(given.runs, 10_000))
            reported(stored(folder, study, given.runs, console), given.runs, console)


if __name__ == "__main__":
    main()
