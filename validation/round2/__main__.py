"""`python -m validation.round2`: simulate round 2's studies; write predictions and known figures.

Each figure of `validation/round2-to-predict.csv` is in a study of `studies/`, or in `unstated.toml`
with the reason. Figures of `round2-calibration.csv` are known: ours stands next to them in
known-round2.csv.
"""

from __future__ import annotations

import csv
import functools
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer

from tameshi.analysis.published import UNITS, Listed, published
from tameshi.commands.announcement import end
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import check_word
from tameshi.core.spec_types import Plan, Published, World
from tameshi.study.bindings import Bindings
from tameshi.study.file import StudyFile, plan, read_text
from tameshi.workflow.execute import conduct
from tameshi.workflow.prepare import prepare
from validation import LISTS, PAGES, predictions
from validation.round2 import ROUND2, intervals, naive_studies, profiles

app = typer.Typer(add_completion=False)
NAIVE = PAGES / "predictions-round2-naive.csv"
SIMULATED = PAGES / "predictions-round2-simulated.csv"
"""Predictions as simulated; corrected.py makes the predictions of them."""
KNOWN = PAGES / "known-round2.csv"


@app.command()
def round2_command(
    to: Annotated[Path, typer.Option(help="File of the predictions.")] = (SIMULATED),
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path(
        "tameshi-results/round2"
    ),
    only: Annotated[
        list[str] | None, typer.Option(help="Run this study alone (repeatable).")
    ] = None,
    known: Annotated[
        bool, typer.Option("--known", help="Simulate only what known figures need.")
    ] = False,
    known_to: Annotated[Path, typer.Option(help="File of the known figures, with ours.")] = KNOWN,
) -> None:
    """Simulate the studies, and replace their rows in the files."""
    studies = {study.name: study for study in read_studies()}
    for name in only or ():
        check_word("--only", name, list(studies))
    naive_page(studies.values())
    for name in only or studies:
        asked = [figure for figure in figures_of(studies[name]) if not known or is_known(figure)]
        if not asked:
            continue
        made, beside = simulate(studies[name], out / name, asked)
        predictions.write_calibrations(known_to, {name: beside}, whole=False)
        if not known:
            rows = [row for row in predictions.read(to) if row.study != name]
            to.unlink(missing_ok=True)
            predictions.append(to, sorted([*rows, *made], key=lambda row: row.id))
        OUT.print(f"{name}: {len(made)} figures predicted, {len(beside)} known")


def naive_page(studies: Iterable[StudyFile]) -> None:
    """Write what the naive predictors say of every figure that a study states."""
    known = lists()
    rows = [naive_row(study, figure, known) for study in studies for figure in figures_of(study)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id", "nothing_changes", "data_sheet", "spreadsheet"])
    writer.writerows(sorted(rows))
    NAIVE.write_text(text.getvalue(), encoding="utf-8")


def naive_row(study: StudyFile, figure: Published, known: Mapping[str, Listed]) -> list[str]:
    """A figure's line of naive predictions in its list's unit; empty where there is none."""
    factor = UNITS.get(known[figure.id].unit, 1.0)
    cell = {axis: str(getattr(level, "root", level)) for axis, level in figure.cell.items()}
    found = naive_studies.row(study.name, figure, cell, other(figure) or None, factor)
    return [figure.id, *("" if value is None else f"{value:.6g}" for value in found)]


def figures_of(study: StudyFile) -> list[Published]:
    """The published figures of a study."""
    return list(plan(study, "simulated", quick=False).study.published or ())


def read_studies() -> list[StudyFile]:
    """The studies of round 2, with the profiles that their drives and hosts have here."""
    extra = profiles.extra()
    files = sorted((ROUND2 / "studies").glob("*.toml"))
    return [StudyFile(path.stem, path, read_text(path, "a study file"), extra) for path in files]


def is_known(figure: Published) -> bool:
    """True if the lists hold the figure's value."""
    return lists()[figure.id].value is not None


def simulate(
    study: StudyFile, folder: Path, asked: Iterable[Published]
) -> tuple[list[predictions.Prediction], list[predictions.Calibration]]:
    """Simulate the cells that these figures need; return predicted and known ones."""
    cells = list(needed(plan(study, "simulated", quick=False), asked))
    prepared = prepare(study, [World.simulated], Bindings(), quick=False, cells=cells)
    done = conduct(prepared, folder, ERR, jobs=os.cpu_count() or 1, reproduce=[])
    end(interrupted=done.interrupted, complete=done.complete, holds=f"{folder} holds the results")
    figures = published(prepared.summary, done.results["cells"], lists())
    found = [intervals.with_interval(figure, done.results["cells"]) for figure in figures]
    return (
        predictions.predictions(study.name, found, done.runs),
        predictions.calibrations(study.name, found, done.runs),
    )


def needed(planned: Plan, figures: Iterable[Published]) -> Iterator[dict[str, str]]:
    """Yield the levels of the runs that the figures are of."""
    axes = {axis for run in planned.runs for axis in run.cell}
    for figure in figures:
        for cell in (figure.cell, {**figure.cell, **other(figure)}):
            plain = ((axis, str(getattr(level, "root", level))) for axis, level in cell.items())
            yield {axis: level for axis, level in plain if axis in axes}


def other(figure: Published) -> dict[str, str]:
    """Levels of the cell that a derived figure compares with; empty for one of a single cell."""
    derived = figure.model_dump(mode="json", by_alias=True)["derived"]
    levels = derived["gain_over"]["cell"] if derived else {}
    return {axis: str(level) for axis, level in levels.items()}


@functools.cache
def lists() -> Mapping[str, Listed]:
    """Every line of round 2's lists by its id; those to be predicted have no value."""
    found = {}
    for name in ("round2-calibration.csv", "round2-to-predict.csv"):
        with (LISTS / name).open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                value = row.get("value")
                found[row["id"]] = Listed(row["unit"], float(value) if value else None)
    return found


if __name__ == "__main__":
    app()
