"""`python -m validation`: simulate studies with published figures; write predictions and pages."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from tameshi import cluster as clusters
from tameshi.analysis.model_error import TABLE
from tameshi.commands.announcement import end
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import check_word
from tameshi.commands.study_options import ClusterOption
from tameshi.core.data import STUDIES
from tameshi.core.spec_types import World
from tameshi.study.bindings import Bindings
from tameshi.study.file import plan, read_study
from tameshi.workflow.execute import conduct
from tameshi.workflow.prepare import prepare
from validation import PAGES, databases_page, predictions, whole_studies

app = typer.Typer(add_completion=False)


@app.command()
def predictions_command(
    folder: Annotated[Path, typer.Option(help="Where the predictions stand.")] = PAGES,
    studies: Annotated[Path, typer.Option(help="The studies to run.")] = STUDIES,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path(
        "tameshi-results/predictions"
    ),
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run this study alone (repeatable)."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Leave this study out (repeatable)."),
    ] = None,
    cluster: ClusterOption = None,
) -> None:
    """Simulate every study with published figures, and write its predictions."""
    listed = [read_study(path) for path in sorted(studies.glob("*.toml"))]
    listed = [study for study in listed if plan(study, "simulated", quick=False).study.published]
    for option, names in (("--only", only), ("--without", without)):
        for name in names or ():
            check_word(option, name, [study.name for study in listed])
    listed = [s for s in listed if (not only or s.name in only) and s.name not in (without or ())]
    if not listed:
        OUT.print(f"No study in {studies} lists published figures: nothing to predict.")
        return
    clusters.check(cluster, [World.simulated])
    calibrated: dict[str, list[predictions.Calibration]] = {}
    for study in listed:
        prepared = prepare(study, [World.simulated], Bindings(), quick=False)
        own, jobs = out / study.name, os.cpu_count() or 1
        with clusters.connected(cluster, jobs) as elsewhere:
            done = conduct(prepared, own, ERR, jobs=jobs, reproduce=[], elsewhere=elsewhere)
        # Partial results are no prediction of the study.
        holds = f"{own} holds what was simulated"
        end(interrupted=done.interrupted, complete=done.complete, holds=holds)
        entries = done.results["published"]
        made = predictions.predictions(study.name, entries, done.runs)
        calibrated[study.name] = predictions.calibrations(study.name, entries, done.runs)
        new, changed = predictions.record(folder, made, date.today())
        OUT.print(f"{study.name}: {new} new, {changed} changed, {len(made)} in all")
    path = folder / "calibration.csv"
    count = predictions.write_calibrations(path, calibrated, whole=not only and not without)
    whole_studies.write(folder, TABLE if folder == PAGES else folder / TABLE.name)
    databases_page.write_page(folder)
    OUT.print(f"Beside {count} calibration figures: {path}")


if __name__ == "__main__":
    app()
