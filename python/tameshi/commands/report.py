"""`tameshi report`: results and report, rebuilt from the runs of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.consoles import OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.commands.study_options import VerboseOption
from tameshi.commands.summary import print_summary
from tameshi.report.layouts import FORMS, as_form
from tameshi.report.study import markdown, terminal
from tameshi.workflow import study_folder

app = typer.Typer(add_completion=False)


@app.command()
def report_command(
    folder: Annotated[Path, typer.Argument(help="A folder made by `tameshi run`.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help=(
                "Output format: html, md or terminal; tpcc-mysql or sysbench prints each run "
                "in the layout of that tool."
            ),
        ),
    ] = "html",
    lang: LangOption = "en",
    verbose: VerboseOption = False,
) -> None:
    """Rebuild results.json and the report from the runs of a study folder."""
    check_language(lang)
    check_word("--format", form, ["html", "md", "terminal", *FORMS])
    if form in FORMS:
        study_folder.read_summary(folder)
        typer.echo(as_form(form, study_folder.read_runs(folder).runs), nl=False)
        return
    if form == "html":
        print_summary(study_folder.show(folder, lang), OUT, verbose=verbose)
        return
    summary, reproduce = study_folder.read_summary(folder)
    runs = study_folder.read_runs(folder)
    results = study_folder.write_results(folder, summary, runs)
    inputs = study_folder.report_inputs(results, runs.runs, reproduce)
    if form == "md":
        typer.echo(markdown(inputs, lang), nl=False)
    else:
        OUT.print(terminal(inputs, lang))
