"""`tameshi report`: results and report, rebuilt from the runs of a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tameshi import guard
from tameshi.analysis.imported import is_imported
from tameshi.analysis.unknown import assumed
from tameshi.commands.consoles import OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.commands.study_options import VerboseOption
from tameshi.commands.summary import print_summary
from tameshi.core.errors import BadInput, GuardRefusal, counted
from tameshi.record import store
from tameshi.record.seal import is_packed
from tameshi.report.layouts import FORMS, as_form
from tameshi.report.render.plot_data import FIRST
from tameshi.report.study import markdown, plot_tables, render, terminal
from tameshi.report.view.inputs import ReportInputs
from tameshi.workflow import study_folder

STANDARD_OUTPUT = "-"
WRITTEN = ("html", "md", "json", "terminal")
_SIGNS = {"html": b'<meta name="generator" content="Tameshi">', "json": b'"schema_version"'}
"""Beginnings of earlier reports; in other formats, the question or title of the same study."""

_CSV = FIRST.encode()

UnpackOption = Annotated[
    Path | None,
    typer.Option(
        "--unpack",
        metavar="DIR",
        help="Write the folders of runs whose records are in Parquet to DIR.",
    ),
]
CellOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cell", metavar="AXIS=LEVEL", help="With --unpack: only these runs (repeatable)."
    ),
]
PriceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="NAME=AMOUNT",
        help=(
            "Price of a level (storage.flash=900) or of a unit of a setting (buffer_pool=5/GiB), "
            "for plots of cost in a large study (repeatable)."
        ),
    ),
]

app = typer.Typer(add_completion=False)


@app.command()
def report_command(
    folder: Annotated[Path, typer.Argument(help="A folder made by `tameshi run`.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help=(
                "Output format: html, md, json (results.json) or terminal; tpcc-mysql or sysbench "
                "prints each run in the layout of that tool."
            ),
        ),
    ] = "html",
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            help=(
                "File for the output, or - for standard output; nothing is written to the folder. "
                "[default: report.html in the folder; standard output for other formats]"
            ),
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="DIR",
            help=(
                "Write the data of each plot to DIR as CSV, and nothing to the folder. (As PNG, "
                "the report in a browser saves each plot.)"
            ),
        ),
    ] = None,
    unpack: UnpackOption = None,
    cell: CellOption = None,
    price: PriceOption = None,
    lang: LangOption = "en",
    verbose: VerboseOption = False,
) -> None:
    """Rebuild results.json and the report from the runs of a study folder."""
    check_language(lang)
    check_word("--format", form, [*WRITTEN, *FORMS])
    if unpack is not None or cell:
        _unpack(folder, unpack, cell or [])
        return
    if price:
        _keep_prices(folder, price)
    if export is not None:
        _export(folder, export, lang, others=form != "html" or out is not None)
    elif form == "html" and out is None:
        _rebuild(folder, lang, verbose=verbose)
    elif form == "terminal" and out is None:
        OUT.print(terminal(_inputs(folder), lang))
    else:
        _deliver(_text(folder, form, lang), form, out or STANDARD_OUTPUT)


def _export(folder: Path, place: Path, lang: str, *, others: bool) -> None:
    """Write the data of each plot as CSV; replace only earlier files of this kind."""
    if others:
        message = "this writes the plots' data alone"
        hint = "Give --format and --out in a command of their own."
        raise BadInput(message, where="--export", hint=hint)
    tables = plot_tables(_inputs(folder), lang)
    with guard.translated(place):
        place.mkdir(exist_ok=True)
    for name, table in tables.items():
        guard.write_output(place / name, table.encode(), lambda held: held.startswith(_CSV))
    OUT.print(f"Written: {counted(len(tables), 'CSV file')} to {place}", soft_wrap=True)


def _unpack(folder: Path, place: Path | None, cell: list[str]) -> None:
    """Write folders of packed runs."""
    from tameshi.workflow.unpacking import unpack

    if place is None:
        raise BadInput("this chooses runs to unpack", where="--cell", hint="Give --unpack DIR too.")
    pairs = [each.partition("=") for each in cell]
    for axis, sign, level in pairs:
        if not (axis and sign and level):
            raise BadInput(
                "this names no level", where="--cell", found=axis, accepted=["AXIS=LEVEL"]
            )
    count = unpack(folder, place, {axis: level for axis, _, level in pairs})
    OUT.print(f"Written: {counted(count, 'run folder')} to {place / 'runs'}", soft_wrap=True)


def _keep_prices(folder: Path, given: list[str]) -> None:
    """Store prices in the study folder, for this report and later ones."""
    from tameshi.workflow.prices import refusal_of_prices, write_prices

    study_folder.read_summary(folder)
    if not is_packed(folder):
        raise refusal_of_prices(str(folder))
    write_prices(folder, given)


def _rebuild(folder: Path, lang: str, *, verbose: bool) -> None:
    try:
        print_summary(study_folder.show(folder, lang), OUT, verbose=verbose)
    except GuardRefusal as refusal:
        refusal.hint = "--out FILE writes the report elsewhere, --out - to standard output."
        raise


def _inputs(folder: Path) -> ReportInputs:
    """Return what a report shows, without writing to the folder."""
    summary, reproduce = study_folder.read_summary(folder)
    runs = study_folder.read_runs(folder)
    results = study_folder.found_in(folder, summary, runs)
    return study_folder.inputs_of(folder, results, runs.runs, reproduce)


def _text(folder: Path, form: str, lang: str) -> str:
    """Return the output in a format."""
    if form in FORMS:
        study_folder.read_summary(folder)
        runs = study_folder.read_runs(folder).runs
        if is_imported(runs):
            message = "these results are imported, and hold no more than their tool printed"
            hint = "Its own text is in the folder `archive` of each run."
            accepted = list(WRITTEN)
            raise BadInput(message, where="--format", found=form, accepted=accepted, hint=hint)
        return as_form(form, assumed(runs))
    inputs = _inputs(folder)
    formats: dict[str, Callable[[], str]] = {
        "html": lambda: render(inputs, lang),
        "md": lambda: markdown(inputs, lang),
        "json": lambda: store.as_json(inputs.results).decode(),
        "terminal": lambda: _plain(inputs, lang),
    }
    return formats[form]()


def _plain(inputs: ReportInputs, lang: str) -> str:
    """Return the terminal's report as text of 100 columns."""
    console = Console(width=100, no_color=True)
    with console.capture() as captured:
        console.print(terminal(inputs, lang))
    return captured.get()


def _deliver(text: str, form: str, out: str) -> None:
    """Write the output to standard output or a file; replace only an earlier report."""
    if out == STANDARD_OUTPUT:
        typer.echo(text, nl=False)
        return
    data = text.encode(errors="replace")
    known = _SIGNS.get(form, data.partition(b"\n")[0])
    guard.write_output(Path(out), data, lambda beginning: known in beginning)
