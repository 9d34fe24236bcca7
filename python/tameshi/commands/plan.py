"""`tameshi plan`: matrix of a study, without a run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from tameshi.commands.bounds import print_bounds
from tameshi.commands.consoles import OUT
from tameshi.commands.study_options import (
    QuickOption,
    ServerOption,
    SlowLikeOption,
    SlowOption,
    StudyArgument,
    WorldOption,
)
from tameshi.core.errors import BadInput
from tameshi.core.spec_types import PhaseSpec, Plan, World
from tameshi.study.bindings import Bindings, check_slow, read_bindings, slow_of
from tameshi.study.file import StudyFile, plan, read_study, refusals

REFUSED = 2
"""Exit status if a world cannot run the study, as of `tameshi run`."""

app = typer.Typer(add_completion=False)


@app.command()
def plan_command(
    study_path: StudyArgument,
    world: WorldOption = None,
    quick: QuickOption = False,
    slow: SlowOption = "1",
    slow_like: SlowLikeOption = None,
    server: ServerOption = None,
    as_data: Annotated[
        bool, typer.Option("--json", help="Print each world's plan as JSON, by world.")
    ] = False,
) -> None:
    """Show the matrix of a study, its run time and the bytes that it writes."""
    factor = slow_of(slow)
    check_slow(factor, world or [], slow_like)
    bound = read_bindings(None, [], server or [])
    if server and slow_like is None:
        message = "a plan needs a server for --slow-like only"
        raise BadInput(message, where="--server", hint="Leave it out, or add --slow-like HOST.")
    study = read_study(study_path)
    plans = {
        chosen: plan(study, chosen.value, quick=quick) for chosen in world or [World.simulated]
    }
    if as_data:
        typer.echo(json.dumps(_as_json(plans), ensure_ascii=False, indent=2))
    else:
        print_matrix(next(iter(plans.values())))
        if factor is None:
            from tameshi.run.slow_motion import choose

            choice = choose(plans[World.emulated])
            factor = choice.factor
            OUT.print(choice.why, soft_wrap=True)
        if slow_like is not None:
            factor = _factor_like(study, bound, slow_like, quick=quick)
        for chosen, planned in plans.items():
            print_bounds(chosen, planned, slow=factor if chosen is World.emulated else 1)
    if any(refusals(planned) for planned in plans.values()):
        raise typer.Exit(REFUSED)


def _factor_like(study: StudyFile, bound: Bindings, host: str, *, quick: bool) -> float:
    """Return the factor by which this machine is as fast as a host, and print why."""
    from tameshi.commands.slowed_like import slowed_like
    from tameshi.workflow.prepare import prepare

    prepared = prepare(study, [World.emulated], bound, quick=quick)
    with tempfile.TemporaryDirectory(prefix="tameshi-plan-") as folder:
        slowed = slowed_like(prepared, bound, host, Path(folder) / "study")
    OUT.print(slowed.chosen, soft_wrap=True)
    return slowed.examined[World.emulated].slow


def _as_json(plans: Mapping[World, Plan]) -> dict[str, object]:
    """Return plans by world, each as in docs/reference/plan.schema.json."""
    return {
        chosen.value: planned.model_dump(mode="json", by_alias=True, exclude_unset=True)
        for chosen, planned in plans.items()
    }


def print_matrix(planned: Plan) -> None:
    """Print axes, cells and phases."""
    OUT.print(planned.study.title, style="bold")
    OUT.print(f"{planned.study.question}\n")
    table = Table("axis", "varies", "levels", title="Axes", title_justify="left")
    for axis in planned.study.axes:
        table.add_row(
            axis.name,
            axis.varies.value + (" runs" if axis.varies == "across" else " a run"),
            ", ".join(axis.levels),
        )
    if planned.study.axes:
        OUT.print(table)
    if planned.study.unknown:
        unknown = Table("setting", "assumed", "levels", title="Unknown", title_justify="left")
        for each in planned.study.unknown:
            unknown.add_row(each.name, each.assumed, ", ".join(each.levels))
        OUT.print(unknown)
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
