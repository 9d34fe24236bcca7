"""`tameshi report`: results and report anew from the runs that a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tameshi import outputs
from tameshi.commands.consoles import OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.compat.databases import FORMS, as_form
from tameshi.report.plain import markdown, terminal

app = typer.Typer(add_completion=False)


@app.command()
def report_command(
    folder: Annotated[Path, typer.Argument(help="A folder that `tameshi run` made.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="html, md or terminal; tpcc-mysql or sysbench: each run in that tool's layout.",
        ),
    ] = "html",
    lang: LangOption = "en",
) -> None:
    """Make results.json and the report anew from the runs of a study folder."""
    check_language(lang)
    check_word("--format", form, ["html", "md", "terminal", *FORMS])
    if form in FORMS:
        outputs.read_summary(folder)
        typer.echo(as_form(form, outputs.read_runs(folder).runs), nl=False)
        return
    if form == "html":
        outputs.show(folder, lang, OUT)
        return
    summary, reproduce = outputs.read_summary(folder)
    runs = outputs.read_runs(folder)
    found = outputs.write_results(folder, summary, runs)
    inputs = outputs.report_inputs(found, runs.runs, reproduce)
    if form == "md":
        typer.echo(markdown(inputs, lang), nl=False)
    else:
        OUT.print(terminal(inputs, lang))
