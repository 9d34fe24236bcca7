"""`tameshi plan`: matrix of a study, without a run."""

from __future__ import annotations

import typer
from rich.table import Table

from tameshi.commands.bounds import print_bounds
from tameshi.commands.consoles import OUT
from tameshi.commands.study_options import QuickOption, StudyArgument, WorldOption
from tameshi.core.spec_types import PhaseSpec, Plan, World
from tameshi.study.file import plan, read_study

app = typer.Typer(add_completion=False)


@app.command()
def plan_command(
    study_path: StudyArgument, world: WorldOption = None, quick: QuickOption = False
) -> None:
    """Show the matrix of a study, its run time and the bytes that it writes."""
    study = read_study(study_path)
    for number, chosen in enumerate(world or [World.simulated]):
        planned = plan(study, chosen.value, quick=quick)
        if number == 0:
            print_matrix(planned)
        print_bounds(chosen, planned)


def print_matrix(planned: Plan) -> None:
    """Print axes, cells and phases."""
    OUT.print(f"[bold]{planned.study.title}[/]\n{planned.study.question}\n")
    table = Table("axis", "varies", "levels", title="Axes", title_justify="left")
    for axis in planned.study.axes:
        table.add_row(
            axis.name,
            axis.varies.value + (" runs" if axis.varies == "across" else " a run"),
            ", ".join(axis.levels),
        )
    if planned.study.axes:
        OUT.print(table)
    phases = Table(
        "phase", "cells", "workloads", "ends after", title="Phases of a run", title_justify="left"
    )
    for name in dict.fromkeys(phase.name for phase in planned.runs[0].phases):
        cells = [phase for phase in planned.runs[0].phases if phase.name == name]
        until = cells[0].until.model_dump(exclude_none=True)
        if until.pop("steady", None):
            until["steady"] = "steady state"
        ends = " or ".join(f"{value}" for value in until.values())
        phases.add_row(name, str(len(cells)), ", ".join(workloads(cells[0])), ends)
    OUT.print(phases)


def workloads(phase: PhaseSpec) -> list[str]:
    """Return the streams and programs of a phase."""
    programs = [next(iter(program.model_dump(mode="json"))) for program in phase.programs or ()]
    return [*(stream.name for stream in phase.streams), *programs]
