"""Cost of the simulated database: every cell of a study in both modes, in CPU time and memory.

    python -m bench.database_modes [--study STUDY.toml]
                                   [--exact MINUTES | --reference FOLDER] [--repetitions N]
                                   [--only TEXT] [--write]

Each cell's first repetitions run in processes of their own: `fast` in full; `exact` in full too, or
its first MINUTES, projected to the whole by the pace of their last half; or not at all, with the
results of `tameshi run --exact` in FOLDER at unknown cost. Processor time is the process's, as a
mean over repetitions; other columns are statements per second, the largest resident memory and, for
a full exact run, the difference between the modes per repetition and in other figures. Sums are
over all repetitions of the study on two cores. `--write` writes docs/validation/database-modes.md,
and for another study, such as bench/loads.toml, database-modes-NAME.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table

from tameshi.core import compiled
from tameshi.core.data import STUDIES
from tameshi.core.spec_types import Mode, RunSpec, Time
from tameshi.study.file import plan, read_study

ROOT = Path(__file__).resolve().parents[1]
STUDY = STUDIES / "mysql-disk-or-flash.toml"
CORES = 2
MINUTE = 60


@dataclass(frozen=True)
class Cost:
    """Cost of a run: processor seconds, and output."""

    cpu_s: float
    memory_mib: float
    statements: float
    seconds: float
    simulated_s: float
    figures: Mapping[str, float]

    @property
    def rate(self) -> float:
        """Return statements per second of virtual time."""
        return self.statements / self.seconds


def resized(spec: RunSpec, mode: Mode, seconds: float | None) -> RunSpec:
    """Return the run in a mode, its single phase limited to these seconds."""
    assert spec.database is not None
    (phase,) = spec.phases
    time_ns = compiled.nanoseconds(phase.until.time or "0 s")
    length = time_ns if seconds is None else min(time_ns, int(seconds * 1e9))
    until = phase.until.model_copy(update={"time": Time(f"{length} ns")})
    phases = [phase.model_copy(update={"until": until})]
    database = spec.database.model_copy(update={"mode": mode})
    return spec.model_copy(update={"phases": phases, "database": database})


COUNTED = {
    "page requests": "server.page_requests",
    "page reads": "server.pages_read",
    "pages written": "server.pages_written",
    "fsyncs": "server.fsyncs",
    "bytes of log": "server.log_bytes",
}
STANDING = {
    "dirty pages": "server.dirty_bytes",
    "checkpoint age": "server.checkpoint_age_bytes",
    "pages in the pool": "server.pool_bytes",
}


def figures(load: pl.DataFrame, server: pl.DataFrame) -> dict[str, float]:
    """Return sums of counters, means of gauges and mean latencies (ns) of a run, by name."""
    known: dict[str, float] = {}
    for names, each in ((COUNTED, pl.col("value").sum()), (STANDING, pl.col("value").mean())):
        for name, metric in names.items():
            known[name] = float(server.filter(pl.col("metric") == metric).select(each).item())
    sums = load.group_by("subject", "metric").agg(pl.col("value").sum()).sort("subject")
    by = {(row["subject"], row["metric"]): row["value"] for row in sums.iter_rows(named=True)}
    for subject, metric in by:
        count = by.get((subject, "transaction.count"))
        if metric == "transaction.latency_sum" and count:
            known[f"mean of {subject.partition('.')[2] or subject}"] = by[subject, metric] / count
    return known


def figures_of(folder: Path) -> tuple[float, float, float, dict[str, float]]:
    """Return a record's statements, length and simulated part in seconds, and figures."""
    load, server = (pl.read_csv(folder / "series" / f"{name}.csv") for name in ("load", "server"))
    rows = load.filter(pl.col("metric") == "statement.count")
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    end = next(e["t_ns"] for e in events if e["kind"] == "phase_end")
    simulated = next(e["simulated_ns"] for e in events if e["kind"] == "simulated")
    return float(rows["value"].sum()), end / 1e9, simulated / 1e9, figures(load, server)


def cost(spec: RunSpec) -> Cost:
    """Execute a run in this process."""
    with tempfile.TemporaryDirectory(prefix="tameshi-bench-") as name:
        folder = Path(name)
        for part in ("series", "histograms"):
            (folder / part).mkdir()
        begin = time.process_time()
        compiled.Execution(spec, folder).run([], 0, "auto")
        took = time.process_time() - begin
        figures = figures_of(folder)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(took, memory, *figures)


def alone(spec: RunSpec) -> Cost:
    """Execute a run in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(cost, (spec,))


def whole(spec: RunSpec, minutes: float | None) -> tuple[Cost, bool]:
    """Return the cost of `exact`, and whether it ran in full."""
    if minutes is None:
        return alone(resized(spec, Mode.exact, None)), True
    half, full = (alone(resized(spec, Mode.exact, minutes * m)) for m in (MINUTE / 2, MINUTE))
    length = compiled.nanoseconds(spec.phases[0].until.time or "0 s") / 1e9
    pace = max(0.0, full.cpu_s - half.cpu_s) / (full.seconds - half.seconds)
    projected = full.cpu_s + pace * max(0.0, length - full.seconds)
    figures = (full.statements, full.seconds, full.seconds, full.figures)
    return Cost(projected, full.memory_mib, *figures), False


def referred(folder: Path, spec: RunSpec) -> Cost:
    """Return the same run from a folder of results."""
    for run in (folder / "runs").iterdir():
        known = json.loads((run / "spec.json").read_text("utf-8"))
        if (known["cell"], known["repetition"]) == (dict(spec.cell), spec.repetition):
            return Cost(0.0, 0.0, *figures_of(run))
    raise SystemExit(f"{folder} has no run of {spec.cell}")


def mean(costs: Sequence[Cost]) -> Cost:
    """Return the mean of several repetitions of a cell; the largest memory."""
    count = len(costs)
    names = [name for name in costs[0].figures if all(name in cost.figures for cost in costs)]
    return Cost(
        sum(cost.cpu_s for cost in costs) / count,
        max(cost.memory_mib for cost in costs),
        sum(cost.statements for cost in costs) / count,
        sum(cost.seconds for cost in costs) / count,
        sum(cost.simulated_s for cost in costs) / count,
        {name: sum(cost.figures[name] for cost in costs) / count for name in names},
    )


def measured(
    cells: Mapping[str, Sequence[RunSpec]],
    exactly: Callable[[RunSpec], tuple[Cost, bool]],
    console: Console,
) -> tuple[list[list[str]], list[list[str]]]:
    """Return a row of costs per cell with the sums, and a row of differences per cell."""
    rows, apart, sums, most = [], {}, [0.0, 0.0], 0.0
    for name, specs in cells.items():
        fasts = [alone(resized(spec, Mode.fast, None)) for spec in specs]
        exacts, are_whole = zip(*map(exactly, specs), strict=True)
        fast, exact, is_whole = mean(fasts), mean(exacts), all(are_whole)
        off, each = f"{(fast.rate / exact.rate - 1) * 100:+.2f} %" if is_whole else "", ""
        if is_whole:
            pairs = zip(fasts, exacts, strict=True)
            each = ", ".join(f"{(one.rate / other.rate - 1) * 100:+.1f}" for one, other in pairs)
            apart[name] = apart_by(fast.figures, exact.figures)
        sums = [sums[0] + fast.cpu_s, sums[1] + exact.cpu_s]
        most = max(most, fast.memory_mib, exact.memory_mib)
        row = [name, f"{fast.rate:,.0f}", off, each, f"{fast.simulated_s:,.0f}"]
        took = f"{exact.cpu_s:.0f}{'' if is_whole else ' projected'}"
        row += [f"{fast.cpu_s:.1f}", took if exact.cpu_s else ""]
        rows.append([*row, f"{max(fast.memory_mib, exact.memory_mib):.0f}"])
        console.print(*rows[-1], sep="  ")
    rows.append(
        [
            "all, once",
            "",
            "",
            "",
            "",
            f"{sums[0]:.0f}",
            f"{sums[1]:.0f}" if sums[1] else "",
            f"{most:.0f}",
        ]
    )
    return rows, beside_each_other(apart)


def apart_by(fast: Mapping[str, float], exact: Mapping[str, float]) -> dict[str, str]:
    """Return the difference of each figure between `fast` and `exact`."""
    return {
        name: f"{(value / exact[name] - 1) * 100:+.1f} %" if exact.get(name) else ""
        for name, value in fast.items()
    }


def beside_each_other(apart: Mapping[str, Mapping[str, str]]) -> list[list[str]]:
    """Return a row per cell under a head of all figures; kinds of transactions depend on the
    workload."""
    names = list(dict.fromkeys(name for figures in apart.values() for name in figures))
    rows = [[cell, *(each.get(name, "") for name in names)] for cell, each in apart.items()]
    return [["cell", *names], *rows]


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first row is the head."""
    head, *lines = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|---" * len(rows[0]) + "|", *lines])


HEADS = (
    *("cell", "statements/s, fast", "fast against exact", "each repetition, %"),
    *("simulated of it, s", "CPU s, fast", "CPU s, exact", "memory, MiB"),
)


def written(
    rows: Sequence[Sequence[str]],
    others: Sequence[Sequence[str]],
    study: str,
    repetitions: tuple[int, int],
) -> str:
    """Return the page, with the number of measured and of all repetitions."""
    held, there_are = repetitions
    fast, exact = (float(rows[-1][column] or 0) * there_are / CORES / MINUTE for column in (5, 6))
    beside = f", {exact:.0f} minutes in `exact`" if exact else ""
    page = (
        "# Cost of the simulated database\n\n"
        f"`python -m bench.database_modes`, every cell of `{study}`, means of\n"
        f"{held} of its {there_are} repetitions. "
        f"Processor time is the process's own.\n\n{table([HEADS, *rows])}\n\n"
        f"With all {there_are} repetitions, shared evenly by {CORES} cores: "
        f"{fast:.1f} minutes in `fast`{beside}.\n"
    )
    if len(others) > 1:
        page += (
            "\n## Other figures\n\n"
            "`fast` against `exact`, over the whole run; gauges are the means of their samples.\n\n"
            f"{table(others)}\n"
        )
    return page


def main() -> None:
    """Measure and print; write the page on request."""
    parser = argparse.ArgumentParser(prog="python -m bench.database_modes")
    parser.add_argument("--study", type=Path, default=STUDY)
    exact = parser.add_mutually_exclusive_group()
    exact.add_argument("--exact", type=float, metavar="MINUTES")
    exact.add_argument("--reference", type=Path, metavar="FOLDER")
    parser.add_argument("--repetitions", type=int, default=1, metavar="N")
    parser.add_argument("--only", default="", help="part of a cell's levels, as `flash small`")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    planned = plan(read_study(asked.study), "simulated", quick=False)
    cells: dict[str, list[RunSpec]] = {}
    for spec in planned.runs:
        name = " ".join(map(str, spec.cell.values()))
        if spec.repetition < asked.repetitions and asked.only in name:
            cells.setdefault(name, []).append(spec)
    console = Console()
    folder: Path | None = asked.reference

    def exactly(spec: RunSpec) -> tuple[Cost, bool]:
        return whole(spec, asked.exact) if folder is None else (referred(folder, spec), True)

    rows, others = measured(cells, exactly, console)
    for head, *lines in ([HEADS, *rows], others):
        shown = Table(*head)
        for line in lines:
            shown.add_row(*line)
        console.print(shown)
    if asked.write:
        there_are = 1 + max(spec.repetition for spec in planned.runs)
        held = min(asked.repetitions, there_are)
        page = written(rows, others, asked.study.name, (held, there_are))
        name = "" if asked.study.samefile(STUDY) else f"-{asked.study.stem}"
        (ROOT / f"docs/validation/database-modes{name}.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main()
