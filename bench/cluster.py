"""Cost of a cluster: processor time per run next to one machine, and limits of its parts.

    python -m bench.cluster [--pairs 3] [--runs 160] [--many 10000] [--part NAME …] [--keep DIR]

Parts: `overhead` runs the same study here and on a local cluster of two workers, in alternating
order, with few and with many runs; the slope is the cost of a run, without start and end. `many`
runs that many small runs on the cluster, with a worker killed on the way, and again without one;
`--keep` leaves their results in a folder, where a second call continues them. `limits`
times what a larger cluster shares: Dask's scheduler, and the collector that stores records.
docs/scale.md holds what was measured.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from bench._many_cells import CELLS, INTERVAL, SHORT, many_cells
from tameshi.core.spec_types import World
from tameshi.record import store
from tameshi.record.packs import MOST_RUNS, Packs
from tameshi.record.transfer import packed, stored
from tameshi.run.tasks import tasks_of
from tameshi.study.bindings import Bindings
from tameshi.study.file import read_study
from tameshi.workflow.prepare import prepare

WORKERS = 2
FEW = 40
BAR_MS = 10.0
SIZED = "120 s"
"""Virtual time of a run that takes about 100 ms of processor time."""
KILLED_AFTER = 5
"""The worker is killed after one of this many runs."""
POLL_S = 0.2
RUN = "tameshi.run.fork_server"
"""Word in the command line of processes that make runs."""
COMMAND = """
import sys
from tameshi.commands.cli import main
from tameshi.workflow import execute
execute.REST = 1e9
sys.argv[0] = "tameshi"
main()
"""
"""The command, which writes results at its begin and end only: how often it does in between, and
with how many runs, is chance, and would differ by more than the cost of a cluster."""
TRIVIAL_TASKS = 5000


@dataclass(frozen=True)
class Cost:
    """Study that ran: times of all its processes, and memory of the command's own."""

    clock_s: float
    cpu_s: float
    memory_bytes: int
    own_s: float
    """Processor time besides that of the processes that make runs: they are the same everywhere."""


def study_file(folder: Path, runs: int, time_of_run: str) -> Path:
    """Write a study of this many runs, a multiple of the cells."""
    interval = INTERVAL if time_of_run == SHORT else "6 s"
    text = many_cells(repetitions=runs // CELLS, time=time_of_run, interval=interval)
    path = folder / f"many-{runs}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def ran(study: Path, out: Path, *options: str, during: Callable[[int], None] | None = None) -> Cost:
    """Run a study by the command line, with `during` next to it."""
    words = [sys.executable, "-c", COMMAND, "run", str(study), "--out", str(out), *options]
    begin_s = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    peak, own, makers = [0], dict[int, float](), dict[int, float]()
    watching = threading.Thread(target=_watch, args=(process.pid, peak, own, makers), daemon=True)
    watching.start()
    if during:
        threading.Thread(target=during, args=(process.pid,), daemon=True).start()
    assert process.stderr
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}:\n{said[-3000:]}")
    own_s = sum(own.values())
    # A killed process takes the time of its children with it, which was seen.
    cpu_s = max(usage.ru_utime + usage.ru_stime, own_s + sum(makers.values()))
    return Cost(time.monotonic() - begin_s, cpu_s, peak[0], own_s)


def _watch(pid: int, peak: list[int], own: dict[int, float], makers: dict[int, float]) -> None:
    """Note the most memory that a process has had; its processor time and that of those that it
    started, but for those that make runs; and that of the latter with their ended children."""
    while True:
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        except OSError:
            return
        if found := re.search(r"VmHWM:\s+(\d+) kB", status):
            peak[0] = max(peak[0], int(found[1]) << 10)
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            for each in (process, *process.children(recursive=True)):
                is_maker = RUN in each.cmdline()
                times = each.cpu_times()[: 4 if is_maker else 2]
                (makers if is_maker else own)[each.pid] = sum(times)
        time.sleep(POLL_S)


def overhead(folder: Path, pairs: int, runs: int, console: Console) -> None:
    """Print processor time per run here and on a cluster, and the cost of the cluster itself."""
    places: dict[str, tuple[str, ...]] = {"one machine": (), "cluster": ("--cluster", "local")}
    sizes = (FEW, FEW + runs)
    studies = {size: study_file(folder, size, SIZED) for size in sizes}
    slopes: dict[str, list[float]] = {place: [] for place in places}
    own: dict[str, list[float]] = {place: [] for place in places}
    fixed: dict[str, list[float]] = {place: [] for place in places}
    clocks: dict[str, list[float]] = {place: [] for place in places}
    for pair in range(pairs):
        console.print(f"pair {pair + 1}: load average {os.getloadavg()[0]:.1f}")
        for place in sorted(places, reverse=pair % 2 == 0):
            costs = {}
            for size in sizes:
                out = folder / f"{place.replace(' ', '-')}-{size}-{pair}"
                options = ("--jobs", str(WORKERS), *places[place])
                costs[size] = ran(studies[size], out, *options)
            slope = (costs[sizes[1]].cpu_s - costs[FEW].cpu_s) / runs
            slopes[place].append(slope * 1e3)
            own[place].append((costs[sizes[1]].own_s - costs[FEW].own_s) / runs * 1e3)
            fixed[place].append(costs[FEW].cpu_s - FEW * slope)
            clocks[place].append(costs[sizes[1]].clock_s)
    same_results(folder, sizes[1], places)
    table = Table("", "CPU per run, ms", "of it dispatch, ms", "CPU besides, s", "clock, s")
    for place in places:
        values = (slopes[place], own[place], fixed[place], clocks[place])
        table.add_row(place, *(f"{statistics.median(each):.1f}" for each in values))
    console.print(table)
    for name, found in (("all processes", slopes), ("without those that make runs", own)):
        extra = [b - a for a, b in zip(*found.values(), strict=True)]
        console.print(
            f"overhead per run, {name}: median {statistics.median(extra):.1f} ms, pairs "
            f"{', '.join(f'{each:.1f}' for each in extra)}; bar {BAR_MS:g} ms"
        )


def same_results(folder: Path, size: int, places: Iterable[str]) -> None:
    """Fail unless all places gave the same results."""
    names = [f"{place.replace(' ', '-')}-{size}-0" for place in places]
    contents = {(folder / name / "results.json").read_bytes() for name in names}
    if len(contents) != 1:
        raise RuntimeError("the cluster's results differ from those of one machine")


def many(folder: Path, runs: int, console: Console) -> None:
    """Print what many small runs cost on a cluster, one of whose workers is killed."""
    study = study_file(folder, runs, SHORT)

    def kill_one(pid: int) -> None:
        while stored_runs(folder / "cluster-many") < runs / KILLED_AFTER:
            time.sleep(1)
        worker = next(p for p in psutil.Process(pid).children(recursive=True) if is_worker(p))
        worker.kill()

    options = ("--jobs", str(WORKERS), "--records", "parquet")
    cost = ran(study, folder / "cluster-many", *options, "--cluster", "local", during=kill_one)
    console.print(
        f"{runs:,} small runs on a cluster, a worker killed: {cost.clock_s:.0f} s by the clock, "
        f"{cost.cpu_s:.0f} s of processor time, collector {cost.memory_bytes / 2**20:.0f} MiB"
    )
    beside = ran(study, folder / "here-many", *options)
    console.print(
        f"the same with --jobs {WORKERS}: {beside.clock_s:.0f} s by the clock, "
        f"{beside.cpu_s:.0f} s of processor time, dispatcher {beside.memory_bytes / 2**20:.0f} MiB"
    )
    results = {
        (folder / name / "results.json").read_bytes() for name in ("cluster-many", "here-many")
    }
    console.print("results are identical" if len(results) == 1 else "RESULTS DIFFER")


def stored_runs(study: Path) -> int:
    """Return the number of stored records, those in packs as if these were full."""
    packs = len(list(study.glob("packs/*.parquet")))
    return packs * MOST_RUNS + len(list(study.glob("runs/*/outcome.json")))


def is_worker(process: psutil.Process) -> bool:
    """Return whether a process is a worker of Dask: it was forked for that by multiprocessing."""
    words = " ".join(process.cmdline())
    return "multiprocessing" in words and "resource_tracker" not in words


def limits(folder: Path, console: Console) -> None:
    """Print what a task costs Dask's scheduler, and what a record costs the collector."""
    study = study_file(folder, CELLS, SIZED)
    made = folder / "records"
    ran(study, made, "--jobs", str(WORKERS))
    prepared = prepare(read_study(study), [World.simulated], Bindings(), quick=False)
    tasks = tasks_of(prepared.examined[World.simulated], prepared.plans[World.simulated].runs)
    parcels, sizes = {}, []
    begin_s = time.process_time()
    for task in tasks:
        place = store.run_folder(made, task.identity)
        parcels[task.identity] = packed(place)
        sizes.append(sum(p.stat().st_size for p in place.rglob("*") if p.is_file()))
    packing_ms = (time.process_time() - begin_s) / len(tasks) * 1e3
    back = statistics.mean(sum(map(len, files.values())) for files in parcels.values())
    with store.locked_study(folder / "stored"):
        begin_s, begin_clock_s = time.process_time(), time.monotonic()
        for task in tasks:
            place = store.run_folder(folder / "stored", task.identity)
            stored(place, task.spec, task.identity, parcels[task.identity])
        storing_ms = (time.process_time() - begin_s) / len(tasks) * 1e3
        storing_clock_ms = (time.monotonic() - begin_clock_s) / len(tasks) * 1e3
    with store.locked_study(folder / "packed"):
        begin_s, begin_clock_s = time.process_time(), time.monotonic()
        for task in tasks:
            place = store.run_folder(folder / "packed", task.identity)
            stored(place, task.spec, task.identity, parcels[task.identity], synced=False)
        Packs(folder / "packed").collect()
        packed_ms = (time.process_time() - begin_s) / len(tasks) * 1e3
        packed_clock_ms = (time.monotonic() - begin_clock_s) / len(tasks) * 1e3
    console.print(
        f"stored in a pack: {packed_ms:.2f} ms of processor time, {packed_clock_ms:.1f} ms by the "
        "clock"
    )
    console.print(
        f"a record: {statistics.mean(sizes) / 1e3:.1f} kB, {back / 1e3:.1f} kB on the way; packed "
        f"in {packing_ms:.2f} ms; stored in {storing_ms:.2f} ms of processor time, "
        f"{storing_clock_ms:.1f} ms by the clock"
    )
    console.print(f"a task costs Dask's scheduler {scheduler_ms():.2f} ms of processor time")


def scheduler_ms() -> float:
    """Return the scheduler's processor time per task that does nothing."""
    from distributed import Client

    from tameshi.cluster.connection import started

    with started(WORKERS) as address, Client(address, set_as_default=False) as client:
        pid = client.run_on_scheduler(os.getpid)
        process = psutil.Process(pid)
        client.gather(client.map(str, range(100)))
        before = sum(process.cpu_times()[:2])
        for future in [client.submit(str, n, pure=False) for n in range(TRIVIAL_TASKS)]:
            future.result()
        return float(sum(process.cpu_times()[:2]) - before) / TRIVIAL_TASKS * 1e3


def main() -> None:
    """Run the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--runs", type=int, default=160)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--keep", type=Path, help="folder of the results of part `many`")
    parser.add_argument("--part", action="append", choices=["overhead", "many", "limits"])
    given = parser.parse_args()
    parts = given.part or ["overhead", "limits", "many"]
    console = Console(width=110)
    with tempfile.TemporaryDirectory(prefix="tameshi-cluster-") as name:
        folder = Path(name)
        if "overhead" in parts:
            overhead(folder, given.pairs, given.runs, console)
        if "limits" in parts:
            limits(folder, console)
        if "many" in parts:
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
            many(given.keep or folder, given.many, console)


if __name__ == "__main__":
    main()
