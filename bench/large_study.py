"""Cost of a large study's records and report: seconds and bytes per run, without simulation.

    python -m bench.large_study [--runs 10000] [--plan 1000 10000]

40 small runs are simulated. Their records are sealed again under other levels and identities, as
many as asked for, and go the way of a study's runs: folder, pack, cells, results.json, report.
`plan` times the planner and its memory for studies of some sizes, as lists of objects and as packed
text, and with the tasks that the dispatcher keeps. docs/scale.md holds what was measured.
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

from bench._many_cells import CELLS, many_cells
from tameshi import guard
from tameshi.record import store
from tameshi.record.packs import MOST_RUNS, Packs, batched
from tameshi.record.seal import OUTCOME
from tameshi.record.transfer import content_of, write_record
from tameshi.run.packed_plans import plan_packed
from tameshi.study.file import read_study
from tameshi.workflow import study_folder

PLAN = """
import re, sys, time
from pathlib import Path
from tameshi.core.spec_types import World
from tameshi.run.packed_plans import plan_packed
from tameshi.run.preflight import examine
from tameshi.run.tasks import tasks_of
from tameshi.study.bindings import Bindings
from tameshi.study.file import plan, read_study

def memory():
    found = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text("utf-8"))
    return int(found[1]) / 1024

study = read_study(Path(sys.argv[1]))
before, begin = memory(), time.process_time()
if sys.argv[2] == "packed":
    planned = plan_packed(study, quick=False, exact=False)
else:
    planned = plan(study, "simulated", quick=False)
took, most = time.process_time() - begin, memory()
tasks = tasks_of(examine(planned, World.simulated, Bindings()), planned.runs)
print(len(tasks), took, before, most, time.process_time() - begin, memory())
"""
FORMS = ("objects", "packed")
MOST_OBJECTS = 10_000
"""Runs that are planned as objects, at most."""


def study_file(folder: Path, cells: int) -> Path:
    """Write a study with this many cells, a multiple of 40."""
    path = folder / f"many-{cells}.toml"
    path.write_text(many_cells(jobs=cells // CELLS), encoding="utf-8")
    return path


def planning(folder: Path, cells: int, form: str, console: Console) -> None:
    """Print what planning a study costs."""
    words = [sys.executable, "-c", PLAN, str(study_file(folder, cells)), form]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    runs, plan_s, before, planned, all_s, kept = map(float, done.stdout.split())
    console.print(
        f"plan of {int(runs):,} runs, {form}: {plan_s:.1f} s of processor time, {planned:.0f} MiB "
        f"at most ({before:.0f} MiB before); with its tasks {all_s:.1f} s, {kept:.0f} MiB"
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
    planned = plan_packed(read_study(study), quick=False, exact=False)
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
    parser.add_argument("--plan", type=int, nargs="*", default=[1000, 10_000, 100_000])
    given = parser.parse_args()
    console = Console(width=110)
    with tempfile.TemporaryDirectory(prefix="tameshi-large-") as name:
        folder = Path(name)
        for cells in given.plan:
            for form in FORMS:
                if form == "packed" or cells <= MOST_OBJECTS:
                    planning(folder, cells, form, console)
        if given.runs:
            study = study_file(folder, given.runs)
            reported(stored(folder, study, given.runs, console), given.runs, console)


if __name__ == "__main__":
    main()
