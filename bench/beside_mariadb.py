"""Real MariaDB against the simulated one: the same study in both worlds, on an existing disk.

    python -m bench.beside_mariadb [--on DIRECTORY] [--profile FILE] [--size small|full]
                                   [--published] [--no-server | --simulated] [--write]

First, `tameshi calibrate` makes a profile of the directory's disk (kept with the results: a second
call measures only missing cells). Then one study runs in the measured and the simulated world:
TPC-C and sysbench's read-write on a small data set, several buffer pools, from a warm start. The
host is this machine's processors with the costs of the profile `1x-64-core-io-uring`; nothing is
fitted to the comparison. `--published` also runs the calibration cells of `mysql-disk-or-flash`,
short and from a warm start instead of 90 minutes from a cold one. `--simulated` repeats the
simulation with the saved profiles of disk and host, and takes measured values from the table.
`--write` writes databases.csv, its page and, after a measurement, the profiles. Measure on a quiet
machine: client, server and disk share it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from validation import PAGES, databases_page

from tameshi.analysis.database_facts import facts_of
from tameshi.analysis.model_error import COLUMNS, TABLE, validated
from tameshi.analysis.published import listed
from tameshi.core.data import PROFILES
from tameshi.workflow import study_folder

DISK, HOST = "own-disk", "own-machine"
KEPT = tuple(PAGES / f"{name}.toml" for name in (DISK, HOST))
"""Profiles of the machine on which the table was measured."""
METRICS = {
    "statement.rate": "1/s",
    "server.hit_ratio": "1",
    "server.read_rate": "1/s",
    "server.page_write_rate": "1/s",
}
"""Compared metrics and their units. Writes are in pages."""
FITTED = {
    "S2-0023": "what a look at a page of a list costs",
    "S2-0025": "a statement's processor time; the size of the log",
    "S2-0041": "the size of the log",
}
"""Parts of the model that were fitted to a figure."""
PUBLISHED_METRIC = "statement.rate"
LARGE = 'engine.mysql.buffer_pool = "40 GiB"'
SMALL = 'engine.mysql.buffer_pool = "256 MiB"'
PUBLISHED = {
    "S2-0023": (SMALL, 80, 10, 40),
    "S2-0025": (LARGE, 80, 30, 60),
    "S2-0041": (LARGE, 240, 30, 60),
}
"""Calibration figures of MySQL 5.5 on two cards: settings of the study, warehouses, and seconds:
ramp (one pass through the log) and total."""


@dataclass(frozen=True)
class Scale:
    """Size and duration: data, pools, times."""

    warehouses: int
    rows: int
    pools: tuple[str, ...]
    ramp: str
    until: str
    repetitions: int
    calibrate: tuple[str, ...]


SIZES = {
    "small": Scale(
        1,
        50_000,
        ("16 MiB", "64 MiB"),
        "2 s",
        "8 s",
        1,
        ("--quick", "--repetitions", "1", "--time", "40 s"),
    ),
    "full": Scale(
        *(2, 200_000, ("16 MiB", "32 MiB", "64 MiB", "256 MiB"), "15 s", "45 s", 3),
        ("--time", "5 min"),
    ),
}
STUDY = """
title = "MariaDB on this machine"
question = "How near does the simulated server come to the real one, pool by pool?"
[axis.program]
tpcc = { phase.run.workload = ["tpcc"] }
oltp = { phase.run.workload = ["oltp"] }
[axis.buffer_pool]
set = "engine.mariadb.buffer_pool"
levels = [POOLS]
[storage.disk]
size = "4 GiB"
device = "DISK"
[host]
profile = "HOST"
[engine.mariadb]
redo_log = "64 MiB"
flush_method = "O_DIRECT"
[workload.tpcc]
warehouses = WAREHOUSES
clients = 4
[workload.oltp]
mix = "read_write"
tables = 4
rows = ROWS
clients = 4
popularity = "uniform"
[phase.run]
workload = ["tpcc"]
ramp = "RAMP"
until = { time = "UNTIL" }
[run]
start = "warm"
interval = "500 ms"
repetitions = REPETITIONS
"""
SHORT = """
title = "Calibration cells of mysql-disk-or-flash, short and warm"
question = "How near does the simulated server come to the published averages?"
[axis.figure]
FIGURES
[storage.flash]
size  = "64 GiB"
raid0 = { members = 2, device = "fusionio-iodrive-duo-320-slc" }
[host]
profile = "2x-xeon-e5620-rhel5"
[engine.mysql]
version = "5.5"
redo_log = "56 MiB"
flush_method = "O_DIRECT"
[workload.tpcc]
clients = 20
manner = "tpcc-mysql"
[phase.run]
workload = ["tpcc"]
[run]
start = "warm"
interval = "1 s"
"""


def tameshi(*words: str) -> None:
    """Run the command line and show its output."""
    subprocess.run([sys.executable, "-m", "tameshi", *words], check=True)


def host_text() -> str:
    """Return this machine's processors with the costs of a current host."""
    text = (PROFILES / "hosts" / "1x-64-core-io-uring.toml").read_text(encoding="utf-8")
    mhz = re.search(
        r"^cpu MHz\s*:\s*([\d.]+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE
    )
    clock = round(float(mhz[1]) * 1e6) if mhz else 3_000_000_000
    known = {
        "cores_per_socket": str(os.cpu_count() or 1),
        "threads_per_core": "1",
        "clock": f'"{clock} /s"',
    }
    for key, value in known.items():
        text = re.sub(
            rf"^({key}\s*= {{ value = )[^,]+(, source = )\"[^\"]*\"",
            rf'\g<1>{value}\g<2>"this machine"',
            text,
            flags=re.MULTILINE,
        )
    return re.sub(r'^description = ".*"', 'description = "The machine at hand"', text)


def study_text(scale: Scale) -> str:
    """Return the study of both worlds."""
    pools = ", ".join(f'"{pool}"' for pool in scale.pools)
    said = {
        "POOLS": pools,
        "DISK": DISK,
        "HOST": HOST,
        "WAREHOUSES": str(scale.warehouses),
        "ROWS": str(scale.rows),
        "RAMP": scale.ramp,
        "UNTIL": scale.until,
        "REPETITIONS": str(scale.repetitions),
    }
    return re.sub("|".join(said), lambda found: said[found[0]], STUDY)


def short_text() -> str:
    """Return the study of the published cells."""
    lines = (
        f"{name} = {{ {settings}, workload.tpcc.warehouses = {warehouses}, "
        f'phase.run.ramp = "{ramp} s", phase.run.until.time = "{until} s" }}'
        for name, (settings, warehouses, ramp, until) in PUBLISHED.items()
    )
    return SHORT.replace("FIGURES", "\n".join(lines))


def beside_server(
    out: Path, place: Path, scale: Scale, profile: Path | None
) -> list[dict[str, Any]]:
    """Return rows of the table: MariaDB measured, and simulated on a profile of the same disk."""
    made = profile or calibrated(out / "calibrated", place, scale)
    study = prepared(out, scale, (made.read_text(encoding="utf-8"), host_text()))
    results = out / "beside-mariadb"
    worlds = ["--world", "measured", "--world", "simulated", "--on", f"disk={place}"]
    tameshi("run", str(study), *worlds, "--jobs", "1", "--out", str(results))
    return list(rows_of_server(results))


def simulated_anew(out: Path) -> list[dict[str, Any]]:
    """Return rows of the table as measured, with new simulated values."""
    ends = (path.read_text(encoding="utf-8") for path in KEPT)
    study, results = prepared(out, SIZES["full"], tuple(ends)), out / "simulated"
    tameshi("run", str(study), "--world", "simulated", "--out", str(results))
    cells = json.loads((results / "results.json").read_bytes())["cells"]
    return list(renewed(table_rows(), {named(cell): cell for cell in cells}))


def renewed(
    rows: Iterable[Mapping[str, str]], cells: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Return the measured rows with their cells' new values."""
    for old in rows:
        if kind(old["source"]) == "measured":
            ours = value_of(cells[old["source"]], old["metric"])
            yield {**old, "ours": f"{ours:.6g}"}


def prepared(out: Path, scale: Scale, ends: tuple[str, ...]) -> Path:
    """Return the study, with profiles of its disk and host next to it."""
    for kind, name, text in zip(("devices", "hosts"), (DISK, HOST), ends, strict=True):
        path = out / "profiles" / kind / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    study = out / "beside-mariadb.toml"
    study.write_text(study_text(scale), encoding="utf-8")
    return study


def calibrated(out: Path, place: Path, scale: Scale) -> Path:
    """Return a profile of the disk under a directory."""
    tameshi("calibrate", str(place), *scale.calibrate, "--name", DISK, "--out", str(out))
    return out / "profiles" / "devices" / f"{DISK}.toml"


def rows_of_server(folder: Path) -> Iterator[dict[str, Any]]:
    """Return cells of both worlds side by side."""
    found = json.loads((folder / "results.json").read_bytes())
    cells = {(cell["world"], tuple(cell["levels"].values())): cell for cell in found["cells"]}
    facts = {}
    for run in study_folder.read_runs(folder).runs:
        for phase in run.spec.phases:
            known = facts_of(run.spec, phase)
            if known:
                facts[tuple(run.spec.cell.values())] = known
    for (world, levels), cell in cells.items():
        other = cells.get(("simulated", levels))
        if world != "measured" or other is None:
            continue
        for metric, unit in METRICS.items():
            pair = [value_of(each, metric) for each in (cell, other)]
            if all(value is not None and value > 0 for value in pair):
                entry = row(named(cell), facts[levels], metric, pair, unit, "")
                yield entry | judged(cell)


def named(cell: Mapping[str, Any]) -> str:
    """Return a cell's name in the table."""
    return f"MariaDB: {', '.join(cell['levels'].values())}"


def value_of(cell: Mapping[str, Any], metric: str) -> float | None:
    """Return the first estimate of a metric: a program's own precedes those of its kinds."""
    values = (e["value"] for e in cell["estimates"] if e["metric"] == metric)
    return next(values, None)


def judged(cell: Mapping[str, Any]) -> dict[str, str]:
    """Return the reasons of the measured cell's verdict, if it is not valid."""
    verdict = cell["verdict"]
    if verdict["level"] == "valid":
        return {}
    reasons = "; ".join(verdict["reasons"])
    if verdict["level"] == "invalid":
        return {"invalid": reasons}
    return {"note": f"{', '.join(cell['levels'].values())}: {verdict['level']}: {reasons}."}


def row(
    source: str, facts: Any, metric: str, pair: Sequence[float | None], unit: str, note: str
) -> dict[str, Any]:
    """Return a row of databases.csv."""
    known, ours = (f"{value:.6g}" for value in pair if value is not None)
    result = {key: getattr(facts, key) for key in COLUMNS[1:7]}
    rest = {"metric": metric, "reference": known, "ours": ours, "unit": unit, "note": note}
    return {"source": source, **result, **rest, "fitted": "", "invalid": ""}


def published_rows(out: Path) -> Iterator[dict[str, Any]]:
    """Return the calibration cells, short and warm."""
    study, folder = out / "published-cells.toml", out / "published-cells"
    study.write_text(short_text(), encoding="utf-8")
    tameshi("run", str(study), "--out", str(folder))
    cells = json.loads((folder / "results.json").read_bytes())["cells"]
    runs = {run.spec.cell["figure"]: run.spec for run in study_folder.read_runs(folder).runs}
    for cell in cells:
        name = cell["levels"]["figure"]
        known, ours = listed()[name].value, value_of(cell, PUBLISHED_METRIC)
        facts = facts_of(runs[name], runs[name].phases[0])
        if known and ours and facts:
            _, _, ramp, until = PUBLISHED[name]
            note = f"ours: {ramp} to {until} s after a warm start; published: 90 minutes, cold"
            entry = row(name, facts, PUBLISHED_METRIC, (known, ours), "1/s", note)
            yield entry | {"fitted": FITTED.get(name, "")}


def shown(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the rows for a terminal."""
    table = Table("source", "metric", "known", "ours", "ours / known")
    for each in rows:
        ratio = float(each["ours"]) / float(each["reference"])
        table.add_row(
            *(each["source"], each["metric"], each["reference"], each["ours"], f"{ratio:.3f}")
        )
    return table


def write(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the rows in place of older ones of the same kind, and the page."""
    new_kinds = {kind(each["source"]) for each in rows}
    kept = [old for old in table_rows() if kind(old["source"]) not in new_kinds]
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*kept, *rows])
    validated.cache_clear()
    databases_page.write_page(PAGES)


def table_rows() -> list[dict[str, str]]:
    """Return all rows of the table."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def kind(source: str) -> str:
    """Return the kind of a row: published and short, published and full, or measured here."""
    if source in PUBLISHED:
        return "published"
    return "study" if source in listed() else "measured"


def main() -> None:
    """Run the requested parts, print them, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", type=Path, default=Path("build"))
    parser.add_argument("--out", type=Path, default=Path("tameshi-results/beside-mariadb"))
    parser.add_argument(
        "--profile", type=Path, help="profile of the disk, in place of a calibration"
    )
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--published", action="store_true")
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--no-server", action="store_true")
    side.add_argument(
        "--simulated", action="store_true", help="simulate again, and keep measured figures"
    )
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    for folder in (asked.on, asked.out):
        folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    if asked.published:
        rows += published_rows(asked.out)
    if asked.simulated:
        rows += simulated_anew(asked.out)
    elif not asked.no_server:
        rows += beside_server(asked.out, asked.on, SIZES[asked.size], asked.profile)
    Console().print(shown(rows))
    if asked.write:
        write(rows)
        if not (asked.simulated or asked.no_server):
            for kept, name in zip(KEPT, (f"devices/{DISK}", f"hosts/{HOST}"), strict=True):
                shutil.copy(asked.out / "profiles" / f"{name}.toml", kept)


if __name__ == "__main__":
    main()
