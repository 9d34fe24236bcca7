"""MariaDB for real on eight emulated storages, and the same cells simulated: the engine's error.

    python -m bench.beside_servers [--storage NAME …] [--load NAME …] [--pool NAME …] [--list]
                                   [--limit-minutes M] [--simulated | --recheck | --path]
                                   [--write]

Storages × loads × buffer pools × commit settings, 112 cells of about 80 s, then ten of them again
for the machine's floor. Drives that are faster than the path run in slow motion. Measured cells
stay in `--out`: a repeated command measures what is missing, and Ctrl-C or `--limit-minutes` lose
at most the cell under way. Afterwards, all measured cells are simulated; one cell without
input or output fits the host's speed, and is not counted. `--simulated` measures nothing, and takes
known figures from servers.csv. `--recheck` repeats what was measured with another core. `--path`
measures only what a request costs this machine; validation/server_cells.py keeps it. `--write`
writes servers.csv and docs/validation/beside-servers.md. Needs root and a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, median
from types import FrameType
from typing import Any, NoReturn

import polars as pl
from rich.console import Console
from rich.table import Table
from validation import beside_servers as evidence
from validation.beside_servers import FIGURES, NINE_TENTHS, RATE, Row
from validation.server_cells import (
    HOST_CELL,
    KNOWN_PATH,
    LOADS,
    POOLS,
    STORAGES,
    Cell,
    HostPath,
    all_cells,
    digest_of,
    engine_profile,
    host_profile,
    repeated,
    study_text,
)

from bench import _host_path
from bench._tameshi import tameshi_run
from tameshi.analysis.stats import served
from tameshi.core.exit_status import ExitStatus
from tameshi.record.events import read_events
from tameshi.record.store import SealedRun
from tameshi.workflow import study_folder

CELL_SECONDS = 80
"""Wall time of a cell, until some are measured."""
FIRST_CLOCK, CLOCKS = 2_400_000_000, (100_000_000, 10_000_000_000)
"""Speed of the host from which the fit starts, and the bounds of profiles."""
FIT_STEPS, FIT_WITHIN, LEAST_EXPONENT = 6, 0.005, 0.2
FITTED = "host.clock"
MOST_PATH = 0.25
"""Largest share of requests' time in the kernel beyond drive and measured path of a cell that
counts. On a busy machine it reaches 70 %."""
FEW_READS = 0.05
"""Share of reads among operations from which their path counts, and that of writes does not: the
pages of a flush leave in batches of 128, which wait for each other in the kernel for a millisecond
whatever the drive, and no client waits for them."""


@dataclass(frozen=True)
class Step:
    """Cell to measure, once or again."""

    cell: Cell
    repetitions: int = 1


@dataclass
class Measured:
    """Figures of a cell, a value of each repetition."""

    figures: dict[str, list[float]]
    invalid: str = ""
    took_seconds: list[float] = field(default_factory=list)
    digest: str = ""

    @property
    def repetitions(self) -> int:
        """Number of repetitions that are there."""
        return len(self.figures.get(RATE, ()))


def steps(asked: argparse.Namespace) -> list[Step]:
    """Return what is to be measured, in order; the host's cell is always part of it."""

    def wanted(cell: Cell) -> bool:
        chosen = (
            (asked.storage, cell.storage),
            (asked.load, cell.load),
            (asked.pool, cell.pool),
        )
        return all(own in (names or (own,)) for names, own in chosen) or cell == HOST_CELL

    cells = [cell for cell in all_cells() if wanted(cell)]
    twice = [cell for cell in repeated(all_cells()) if cell in cells]
    return [*map(Step, cells), *(Step(cell, 2) for cell in twice)]


class Kept:
    """Measured cells in a folder, one file each."""

    def __init__(self, out: Path) -> None:
        self._folder = out / "cells"
        self._folder.mkdir(parents=True, exist_ok=True)

    def of(self, cell: Cell) -> Measured | None:
        """Return the figures of a cell as it is now; None if they are missing or unreadable."""
        try:
            found = Measured(**json.loads((self._folder / f"{cell.name}.json").read_bytes()))
        except (OSError, ValueError, TypeError):
            return None
        return found if found.digest == digest_of(cell) else None

    def keep(self, cell: Cell, measured: Measured) -> None:
        """Write the figures of a cell, whole or not at all."""
        path = self._folder / f"{cell.name}.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(measured), indent=1), encoding="utf-8")
        part.replace(path)

    def all(self) -> dict[Cell, Measured]:
        """Return every cell that is measured."""
        return {cell: found for cell in all_cells() if (found := self.of(cell))}

    def is_done(self, step: Step) -> bool:
        """Return whether a step needs no run."""
        found = self.of(step.cell)
        return found is not None and found.repetitions >= step.repetitions

    def forget(self) -> None:
        """Forget all cells; the product knows which of its runs still hold."""
        shutil.rmtree(self._folder)
        self._folder.mkdir()


def measure_cell(step: Step, out: Path) -> Measured | str:
    """Measure a cell; return its figures, or what its run said last."""
    cell = step.cell
    study = out / "emulated" / cell.name / "beside-servers.toml"
    study.parent.mkdir(parents=True, exist_ok=True)
    study.write_text(study_text([cell], repetitions=step.repetitions), encoding="utf-8")
    log, results = out / "logs" / f"{cell.name}.txt", out / "runs"
    options = ("--world", "emulated", "--slow", f"{cell.slow:g}", "--out", str(results), "--keep")
    status = tameshi_run(study, log, *options)
    found = figures_in(results).get(cell.name) if status == ExitStatus.DONE else None
    if found is None or found.repetitions < step.repetitions:
        last = log.read_text(encoding="utf-8").strip().splitlines()[-6:]
        return "\n    ".join([f"status {status}, {log}", *last])
    return found


def figures_in(folder: Path) -> dict[str, Measured]:
    """Return the figures of each cell of a study's results."""
    document = json.loads((folder / "results.json").read_bytes())
    runs: dict[str, list[SealedRun]] = {}
    for run in study_folder.read_runs(folder).runs:
        if run.outcome["status"] == "complete":
            runs.setdefault(run.spec.cell["cell"], []).append(run)
    found = {}
    for cell in document["cells"]:
        name = cell["levels"]["cell"]
        own = runs.get(name, [])
        figures = figures_of(cell, own)
        invalid = ", ".join(unsound(cell["verdict"], max(map(path_share, own), default=0.0)))
        found[name] = Measured(figures, invalid)
    return found


def unsound(verdict: Mapping[str, Any], path: float) -> list[str]:
    """Return the reasons why a cell does not count; `path`: its largest `path_share`.

    The path of requests through the kernel and back is no part of the models, so it may be neither
    much longer than it was measured, nor longer than the drive.
    """
    codes = [why["code"] for why in verdict["reasons"]]
    found = codes if verdict["level"] == "invalid" else []
    if path > MOST_PATH:
        found = [*found, f"served_path {path:.0%}"]
    return list(dict.fromkeys([*found, *(code for code in codes if code == "served_short")]))


def path_share(run: SealedRun) -> float:
    """Return the time of a served drive's requests beyond drive and measured path, as a share: of
    reads, unless there are next to none."""
    served_figures = [each for each in read_events(run.folder) if each["kind"] == "drive_figures"]
    return max(map(_path_share, served_figures), default=0.0)


def _path_share(figures: Mapping[str, Any]) -> float:
    counts = {kind: of["operations"] for kind, of in figures["operations"].items()}
    reads = counts["read"] >= FEW_READS * sum(counts.values())
    kinds = {"read": figures["kernel_ns"]["read"]} if reads else figures["kernel_ns"]
    return served.path_share({**figures, "kernel_ns": kinds})


COUNTS = {
    "reads": "server.read_rate",
    "writes": "server.write_rate",
    "syncs": "server.fsync_rate",
    "pages_written": "server.page_write_rate",
}
"""Metrics of the server, per second."""


def figures_of(cell: Mapping[str, Any], runs: Iterable[SealedRun]) -> dict[str, list[float]]:
    """Return the figures of a cell, a value of each complete repetition."""

    def values(metric: str) -> dict[int, float]:
        own = (e for e in cell["estimates"] if e["metric"] == metric)
        found = next((e for e in own if e["window"] == cell["phase"]), None)
        return {int(run): value for run, value in found["by_repetition"].items()} if found else {}

    complete = {run.spec.repetition: run for run in runs}
    rates = {run: rate for run, rate in values("transaction.rate").items() if run in complete}
    figures = {RATE: [rates[run] for run in sorted(rates)]}
    for figure, metric in COUNTS.items():
        per_second = values(metric)
        figures[figure] = [per_second.get(run, 0.0) / rates[run] for run in sorted(rates)]
    if any(run.spec.start.value == "cold" for run in complete.values()):
        times = [warm_up_seconds(complete[run]) for run in sorted(rates)]
        figures[NINE_TENTHS] = [each for each in times if each is not None]
    return figures


def warm_up_seconds(run: SealedRun) -> float | None:
    """Return the time from a run's begin to nine tenths of its final rate."""
    (window,) = (w for w in run.outcome["windows"] if w["name"] == "run")
    begin = window["phase_begin_ns"]
    counts = run.series().filter(
        pl.col("source") == "load",
        pl.col("metric") == "transaction.count",
        (pl.col("t_ns") > begin) & (pl.col("t_ns") <= window["end_ns"]),
    )
    by_time = counts.group_by("t_ns").agg(pl.col("value").sum(), pl.col("dt_ns").max()).sort("t_ns")
    lengths = [(value, dt_ns) for _, value, dt_ns in by_time.iter_rows()]
    if not lengths:
        return None
    interval_ns = median(dt_ns for _, dt_ns in lengths)
    # The last interval holds what ended with the phase, and may last for a nanosecond.
    rates = [value / dt_ns for value, dt_ns in lengths if dt_ns > interval_ns / 2]
    interval_s = interval_ns / 1e9
    return evidence.nine_tenths(rates, interval_s)


def hours(seconds: float) -> str:
    """Return a time in hours and minutes."""
    return f"{round(seconds) // 3600} h {round(seconds) % 3600 // 60} min"


def expected_seconds(kept: Kept, step: Step) -> float:
    """Return the time that a step takes: its own, or the mean of those of the same slow motion."""
    own = kept.of(step.cell)
    if own and own.took_seconds:
        return own.took_seconds[0]
    known = (took for cell, m in kept.all().items() if cell.slow == step.cell.slow
             for took in m.took_seconds)  # fmt: skip
    return fmean([*known] or [CELL_SECONDS])


def measure(todo: Sequence[Step], kept: Kept, out: Path, limit_seconds: float | None) -> list[str]:
    """Measure what is missing, as long as there is time; return the cells that failed."""
    left = [step for step in todo if not kept.is_done(step)]
    print(f"{len(todo) - len(left)} of {len(todo)} steps are there", file=sys.stderr)
    begin_s = time.monotonic()
    failed = []
    for number, step in enumerate(left):
        remaining = [expected_seconds(kept, each) for each in left[number:]]
        spent_s = time.monotonic() - begin_s
        if limit_seconds is not None and spent_s + remaining[0] > limit_seconds:
            told = f"{len(remaining)} steps are left, {hours(sum(remaining))}"
            print(f"the time is up; {told}: the same command continues", file=sys.stderr)
            break
        cell_begin_s = time.monotonic()
        found = measure_cell(step, out)
        took_s = time.monotonic() - cell_begin_s
        if isinstance(found, str):
            failed.append(step.cell.name)
            told = f"failed\n    {found}"
        else:
            before = kept.of(step.cell)
            found.took_seconds = [*(before.took_seconds if before else ()), took_s]
            found.digest = digest_of(step.cell)
            kept.keep(step.cell, found)
            told = f"{found.figures[RATE][-1]:,.1f} /s"
            told += f" (invalid: {found.invalid})" if found.invalid else ""
        ahead = hours(sum(remaining[1:]))
        again = ", again" if step.repetitions > 1 else ""
        place = f"[{number + 1}/{len(left)}] {step.cell.name}{again}"
        print(f"{place}: {told}, {took_s:.0f} s; {ahead} left", file=sys.stderr)
    return failed


def simulate(
    cells: Collection[Cell], host: tuple[float, HostPath], folder: Path
) -> dict[str, Measured]:
    """Simulate cells of one slow motion on a host of this speed, with these costs of requests."""
    (slow,) = {cell.slow for cell in cells}
    for kind, name, text in (
        ("hosts", "this-machine", host_profile(*host, slow)),
        ("engines", "mariadb-10.11", engine_profile(slow)),
    ):
        path = folder / "profiles" / kind / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    study = folder / "beside-servers.toml"
    study.write_text(study_text(cells, host="this-machine"), encoding="utf-8")
    log = folder / "log.txt"
    status = tameshi_run(study, log, "--exact", "--out", str(folder / "out"))
    if status != ExitStatus.DONE:
        sys.exit(f"the simulation failed with status {status}: {log}")
    return figures_in(folder / "out")


def fitted_clock(rate: float, simulated_rate: Callable[[float], float]) -> float:
    """Return the speed of the host at which the simulated cell has the measured rate.

    Each step follows the rate's exponent between the last two speeds, at first 1.
    """
    clock, exponent = float(FIRST_CLOCK), 1.0
    before: tuple[float, float] | None = None
    for _ in range(FIT_STEPS):
        ours = simulated_rate(clock)
        print(f"host of {clock / 1e9:.3f} GHz: {ours:,.0f} /s for {rate:,.0f} /s", file=sys.stderr)
        if abs(ours / rate - 1) <= FIT_WITHIN:
            break
        if before and clock != before[0]:
            steps_log = math.log(ours / before[1]), math.log(clock / before[0])
            exponent = min(max(steps_log[0] / steps_log[1], LEAST_EXPONENT), 1.0)
        before = clock, ours
        clock = min(max(clock * (rate / ours) ** (1 / exponent), CLOCKS[0]), CLOCKS[1])
    return clock


def simulate_all(known: Mapping[Cell, Measured], path: HostPath, out: Path) -> dict[str, Measured]:
    """Fit the host on its cell, and simulate every measured cell on it."""
    rate = known[HOST_CELL].figures[RATE][0]

    def simulated_rate(clock: float) -> float:
        found = simulate([HOST_CELL], (clock, path), out / "fit")
        return found[HOST_CELL.name].figures[RATE][0]

    clock = fitted_clock(rate, simulated_rate)
    ours: dict[str, Measured] = {}
    for slow in dict.fromkeys(cell.slow for cell in known):
        cells = [cell for cell in known if cell.slow == slow]
        ours |= simulate(cells, (clock, path), out / f"simulated-{round(slow)}")
    return ours


def rows_of(known: Mapping[Cell, Measured], ours: Mapping[str, Measured]) -> Iterator[Row]:
    """Yield the figures of each cell in both worlds."""
    for cell, measured in known.items():
        for figure in FIGURES:
            values = measured.figures.get(figure, [])
            simulated = ours[cell.name].figures.get(figure, [])
            if values and simulated:
                yield Row(
                    *(cell.storage, cell.load, cell.pool, cell.commit, cell.slow, figure),
                    reference=values[0],
                    again=values[1] if len(values) > 1 else None,
                    ours=simulated[0],
                    fitted=FITTED if cell == HOST_CELL else "",
                    invalid=measured.invalid,
                )


def from_table() -> dict[Cell, Measured]:
    """Return the measured cells of servers.csv."""
    found: dict[Cell, Measured] = {}
    for row in evidence.read():
        cell = Cell(row.storage, row.load, row.pool, row.commit)
        measured = found.setdefault(cell, Measured({}, row.invalid))
        again = [] if row.again is None else [row.again]
        measured.figures[row.figure] = [row.reference, *again]
    return found


def list_steps(todo: Sequence[Step], kept: Kept) -> None:
    """Print the cells with their state and the time that they take."""
    shown = Table("cell", "slow motion", "repetition", "state", "seconds")
    for step in todo:
        state = "measured" if kept.is_done(step) else "missing"
        place = step.cell.name, f"{step.cell.slow:g}", str(step.repetitions)
        shown.add_row(*place, state, f"{expected_seconds(kept, step):.0f}")
    Console().print(shown)
    missing = [expected_seconds(kept, step) for step in todo if not kept.is_done(step)]
    Console().print(f"{len(missing)} of {len(todo)} steps are missing: {hours(sum(missing))}")


def show(rows: Sequence[Row]) -> None:
    """Print the bars, and the figures of each cell."""
    bars = Table("figure", "number", "value", "floor", "bar", "held")
    for each in evidence.judged(rows):
        bars.add_row(*evidence.judged_line(each))
    cells = Table("cell", "figure", "known", "again", "ours", "factor")
    for row in rows:
        again = "" if row.again is None else f"{row.again:.4g}"
        values = f"{row.reference:.4g}", again, f"{row.ours:.4g}", f"{row.factor:.2f}"
        cells.add_row(row.cell, row.figure, *values, style=None if row.counts else "dim")
    for shown in (cells, bars):
        Console().print(shown)


def arguments() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, choices in (("storage", STORAGES), ("load", LOADS), ("pool", POOLS)):
        parser.add_argument(f"--{name}", nargs="+", choices=list(choices))
    parser.add_argument("--out", type=Path, default=Path("build/beside-servers"))
    parser.add_argument("--limit-minutes", type=float)
    parser.add_argument("--list", action="store_true")
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--simulated", action="store_true")
    side.add_argument("--recheck", action="store_true")
    side.add_argument("--path", action="store_true")
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def main() -> int:
    """Measure, simulate, print, and write on request."""
    asked = arguments()
    kept, todo = Kept(asked.out), steps(asked)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    if asked.list:
        list_steps(todo, kept)
        return ExitStatus.DONE
    failed: list[str] = []
    if asked.path:
        path = _host_path.measure(asked.out)
        print(path)
        return ExitStatus.DONE
    if asked.recheck:
        kept.forget()
    if not asked.simulated:
        limit = None if asked.limit_minutes is None else 60 * asked.limit_minutes
        failed = measure(todo, kept, asked.out, limit)
    known = from_table() if asked.simulated else kept.all()
    if HOST_CELL not in known:
        sys.exit(f"{HOST_CELL.name}, which sets the host, is not measured")
    rows = [*rows_of(known, simulate_all(known, KNOWN_PATH, asked.out))]
    show(rows)
    if asked.write:
        evidence.write(rows)
        page = evidence.page(evidence.read(), len(all_cells()))  # rounded as the table
        evidence.PAGE.write_text(page, encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}; the same command tries them again", file=sys.stderr)
    return ExitStatus.FAILED if failed else ExitStatus.DONE


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted: the same command continues with the next cell", file=sys.stderr)
        sys.exit(ExitStatus.INTERRUPTED)
