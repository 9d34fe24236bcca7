"""`tameshi studies`: list of ready studies with their questions and running times."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.padding import Padding

from tameshi.commands.consoles import OUT
from tameshi.study.ready import ready

NOTE = """\
Times: processor time of the simulated runs and the report, measured once; (--quick): of a quick
run; up to: limit of the plan, on real servers (--world measured). Runs use all processors.
Run a study: tameshi run NAME. Copy one to change it: tameshi init MINE --like NAME."""

app = typer.Typer(add_completion=False)


@app.command()
def studies_command(
    as_data: Annotated[
        bool, typer.Option("--json", help="Print the list as JSON, with titles and answers.")
    ] = False,
) -> None:
    """List ready studies with their questions and running times."""
    if as_data:
        found = [study.as_json() for study in ready()]
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for study in ready():
        OUT.print(study.name, style="bold", end="")
        OUT.print(f", {study.time()}")
        OUT.print(Padding(study.question, (0, 0, 0, 2)))
    OUT.print(f"\n{NOTE}", soft_wrap=True)
