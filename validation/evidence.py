"""`python -m validation.evidence`: known figures beside ours, as evidence of intervals.

From docs/validation/known-round2.csv to the package's data/evidence/drives.csv, and with other
sources to database-errors.csv. A storage and a load have a digest each, so that pairs of figures
that differ in one of them alone can be told.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping

from tameshi.analysis.database_facts import drive_of
from tameshi.analysis.drive_error import COLUMNS, TABLE
from tameshi.analysis.evidence import digest
from tameshi.core.spec_types import PhaseSpec, Published, RunSpec
from tameshi.study.file import StudyFile, plan
from validation import LISTS, PAGES, database_evidence
from validation.round2 import profiles
from validation.round2.__main__ import read_studies
from validation.scoreboard import rows


def main() -> None:
    """Write the evidence anew, without figures that a parameter was fitted on."""
    fitted = profiles.fitted_figures()
    known = rows(PAGES / "known-round2.csv")
    ours = {row["id"]: row for row in known if row["ours"] and row["id"] not in fitted}
    experiments = {row["id"]: row["experiment"] for row in rows(LISTS / "round2-calibration.csv")}
    studies = read_studies()
    found = [line for study in studies for line in _of_study(study, ours, experiments)]
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(found, key=lambda line: line["id"]))
    database_evidence.write(studies, ours, experiments)


def _of_study(
    study: StudyFile, ours: Mapping[str, Mapping[str, str]], experiments: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield the known figures of single cells of a study of streams."""
    planned = plan(study, "simulated", quick=False)
    for figure in planned.study.published or ():
        known = ours.get(figure.id)
        if known is None or known["unit"] == "%":
            continue
        place = _place(planned.runs, figure)
        if place is None:
            continue
        run, phase = place
        (name, *others) = dict.fromkeys(stream.storage for stream in phase.streams)
        storage = run.storage[name]
        if others or storage.model is None:
            continue
        node = storage.model.model_dump(mode="json", by_alias=True, exclude_none=True)
        streams = [
            {key: value for key, value in stream.items() if key != "storage"}
            for stream in phase.model_dump(mode="json", by_alias=True, exclude_none=True)["streams"]
        ]
        yield {
            "id": figure.id,
            "experiment": experiments[figure.id],
            "drive": drive_of(node),
            "storage": digest([node, storage.scale]),
            "load": digest([streams, run.host and run.host.model_dump(mode="json")]),
            "metric": figure.metric,
            "reference": known["published"],
            "ours": known["ours"],
        }


def _place(runs: list[RunSpec], figure: Published) -> tuple[RunSpec, PhaseSpec] | None:
    """Return run and phase of a figure; None for those of databases."""
    cell = {axis: str(getattr(level, "root", level)) for axis, level in figure.cell.items()}
    for run in runs:
        for phase in run.phases:
            levels = {**run.cell, **phase.levels}
            named = figure.phase in (None, phase.name)
            if named and phase.streams and cell.items() <= levels.items():
                return run, phase
    return None


if __name__ == "__main__":
    main()
