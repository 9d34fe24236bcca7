"""`tameshi doctor`: capabilities of this machine and missing means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.consoles import OUT
from tameshi.commands.options import LangOption
from tameshi.doctor import as_json, doctor, render

app = typer.Typer(add_completion=False)


@app.command()
def doctor_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Directories, files or drives to check. [default: the current directory]",
            readable=False,
        ),
    ] = None,
    lang: LangOption = "en",
    as_data: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check which worlds this machine can run, what is missing and how to install it."""
    diagnosis = doctor(paths or [], lang)
    if as_data:
        typer.echo(json.dumps(as_json(diagnosis), ensure_ascii=False, indent=2))
    else:
        render(diagnosis, OUT)
    raise typer.Exit(diagnosis.exit_status)
