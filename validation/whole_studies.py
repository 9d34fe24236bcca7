"""Rows of databases.csv from whole studies: calibration.csv with facts about each cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tameshi.analysis.database_facts import Facts, facts_of
from tameshi.analysis.document_store import facts_of_store
from tameshi.analysis.model_error import COLUMNS, TABLE, WHOLE_STUDY, validated
from tameshi.core.data import STUDIES
from tameshi.core.spec_types import Published, RunSpec
from tameshi.study.file import plan, read_study
from validation.fitted import TWICE, Fitted, fitted

NAMES = ("flash-card-review-applications", "pcie-ssd-mysql")
"""Studies without a short equivalent; of those that repeat published cells, the first."""
OF_ONE_CELL = (None, "ramp_included")
"""Derivation of a figure from a single cell."""
METRICS = ("statement.rate", "transaction.")
"""Prefixes of server metrics with a model error family."""


def write(folder: Path, path: Path = TABLE) -> int:
    """Replace the rows of whole studies in databases.csv; return their number, 0 without the
    file."""
    if not path.exists():
        return 0
    known = _calibrations(folder)
    with path.open(newline="", encoding="utf-8") as file:
        kept = [row for row in csv.DictReader(file) if row["note"] != WHOLE_STUDY]
    made = [row for name in NAMES for row in rows(name, known)]
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows([*kept, *made])
    path.write_text(text.getvalue(), encoding="utf-8")
    validated.cache_clear()
    return len(made)


def _calibrations(folder: Path) -> dict[tuple[str, str], Mapping[str, str]]:
    """Return the rows of calibration.csv by figure and study."""
    with (folder / "calibration.csv").open(newline="", encoding="utf-8") as file:
        return {(row["id"], row["study"]): row for row in csv.DictReader(file)}


def rows(name: str, known: Mapping[tuple[str, str], Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    """Return a study's known figures of single database cells."""
    planned = plan(read_study(STUDIES / f"{name}.toml"), "simulated", quick=False)
    parameters = fitted()
    for figure in planned.study.published or ():
        line, facts = known.get((figure.id, name)), _facts(planned.runs, figure)
        if line is None or facts is None or figure.id in TWICE.values():
            continue
        columns = {key: getattr(facts, key) for key in COLUMNS[1:7]}
        yield {
            "source": figure.id,
            **columns,
            "metric": figure.metric,
            "reference": line["published"],
            "ours": line["ours"],
            "unit": line["unit"],
            "note": WHOLE_STUDY,
            "fitted": _set_by(figure.id, parameters),
            "invalid": "",
        }


def _facts(runs: list[RunSpec], figure: Published) -> Facts | None:
    """Return facts about a figure's database; None for several cells or none."""
    derived = figure.model_dump(mode="json")["derived"]
    if derived not in OF_ONE_CELL:
        return None
    levels = figure.cell
    for run in runs:
        for phase in run.phases:
            own = {**run.cell, **phase.levels}
            same = all(own.get(axis) == level for axis, level in levels.items())
            if same and figure.phase in (None, phase.name):
                stores = (facts_of_store(run, phase, stream.storage) for stream in phase.streams)
                server = facts_of(run, phase) if figure.metric.startswith(METRICS) else None
                return server or next(filter(None, stores), None)
    return None


def _set_by(figure: str, parameters: list[Fitted]) -> str:
    """Return the parameters fitted to a figure, by the ends of their keys."""
    named = (".".join(each.key.split(".")[-2:]) for each in parameters if figure in each.figures)
    return ", ".join(dict.fromkeys(named))
