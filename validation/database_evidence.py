"""Rows of database-errors.csv: known figures of databases beside ours, with what tells cells apart.

Three sources: short cells beside a real server of this machine (databases.csv), published
experiments (known-round2.csv), and a real server on served drives (servers.csv). Figures that a
parameter was fitted on, and measurements that do not count, are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tameshi.analysis.database_error import COLUMNS, OF_FACTS, TABLE
from tameshi.analysis.database_facts import Facts, facts_of
from tameshi.analysis.model_error import validated
from tameshi.core.spec_types import Published, RunSpec
from tameshi.study.file import StudyFile, plan
from validation import beside_servers, server_cells
from validation.beside_servers import RATE, Row
from validation.server_cells import Cell

OWN_MACHINE, SERVED = "mariadb-own-machine", "mariadb-served-drives"
"""Experiments of this project."""
METRICS = {
    "reads": "server.read_rate",
    "writes": "server.write_rate",
    "pages_written": "server.page_write_rate",
}
"""Metric of a count per transaction, which is per second."""
Line = dict[str, str]


def write(
    studies: Iterable[StudyFile],
    ours: Mapping[str, Mapping[str, str]],
    experiments: Mapping[str, str],
    path: Path = TABLE,
) -> None:
    """Write the table; `ours` has the known figures by id that nothing was fitted on."""
    found = [*of_own_machine(), *of_served_drives(beside_servers.read())]
    for study in studies:
        found += of_study(study, ours, experiments)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(found, key=lambda line: (line["experiment"], line["id"])))


def of_own_machine() -> Iterator[Line]:
    """Yield the rows of databases.csv that count."""
    for row in validated():
        if not row.fitted and not row.invalid:
            name = f"{row.source}: {row.metric}"
            yield line(name, OWN_MACHINE, row.facts, row.metric, (row.reference, row.ours))


def of_served_drives(rows: Iterable[Row]) -> Iterator[Line]:
    """Yield the rates of servers.csv, and its counts per transaction as rates."""
    counting = [row for row in rows if row.counts]
    rates = {row.cell: row for row in counting if row.figure == RATE}
    facts = facts_of_cells({Cell(r.storage, r.load, r.pool, r.commit) for r in rates.values()})
    for row in counting:
        rate = rates.get(row.cell)
        name = f"{row.cell}: {row.figure}"
        if row.figure == RATE:
            ends = row.reference, row.ours
            yield line(name, SERVED, facts[row.cell], "transaction.rate", ends)
        elif rate and row.figure in METRICS and min(row.reference, row.ours) > 0:
            ends = row.reference * rate.reference, row.ours * rate.ours
            yield line(name, SERVED, facts[row.cell], METRICS[row.figure], ends)


def facts_of_cells(cells: Iterable[Cell]) -> dict[str, Facts]:
    """Return the facts of served cells by name."""
    by_slow: dict[float, list[Cell]] = {}
    for cell in sorted(cells, key=lambda each: each.name):
        by_slow.setdefault(cell.slow, []).append(cell)
    found = {}
    for same in by_slow.values():
        text = server_cells.study_text(same)
        study = StudyFile("beside-servers", Path("beside-servers.toml"), text, {})
        for run in plan(study, "simulated", quick=False).runs:
            facts = facts_of(run, run.phases[-1])
            assert facts
            found[run.cell["cell"]] = facts
    return found


def of_study(
    study: StudyFile, ours: Mapping[str, Mapping[str, str]], experiments: Mapping[str, str]
) -> Iterator[Line]:
    """Yield the known figures of single cells of a study of servers."""
    planned = plan(study, "simulated", quick=False)
    for figure in planned.study.published or ():
        known = ours.get(figure.id)
        facts = facts_at(planned.runs, figure)
        if known is not None and known["unit"] != "%" and facts is not None:
            ends = float(known["published"]), float(known["ours"])
            yield line(figure.id, experiments[figure.id], facts, figure.metric, ends)


def facts_at(runs: Iterable[RunSpec], figure: Published) -> Facts | None:
    """Return the facts of a figure's cell; None without a server there."""
    cell = {axis: str(getattr(level, "root", level)) for axis, level in figure.cell.items()}
    for run in runs:
        for phase in run.phases:
            named = figure.phase in (None, phase.name)
            if named and phase.programs and cell.items() <= {**run.cell, **phase.levels}.items():
                return facts_of(run, phase)
    return None


def line(name: str, experiment: str, facts: Facts, metric: str, ends: tuple[float, float]) -> Line:
    """Return a line of the table; `ends`: the known value and ours."""
    reference, ours = (f"{end:.6g}" for end in ends)
    return {
        "id": name,
        "experiment": experiment,
        **{key: str(getattr(facts, key)) for key in OF_FACTS},
        "metric": metric,
        "reference": reference,
        "ours": ours,
    }
