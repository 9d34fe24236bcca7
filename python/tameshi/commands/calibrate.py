"""`tameshi calibrate`: device profile from a drive, a file or results."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from tameshi import calibrate
from tameshi.commands.announcement import announce, end
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.core.errors import BadInput
from tameshi.core.option_values import size_of, time_of
from tameshi.report.fit import fit_markdown, fit_terminal

MEASURING = ("time", "repetitions", "destroy", "quick", "keep", "fresh")
"""Options that do not apply to existing results."""
app = typer.Typer(add_completion=False)

SizeOption = Annotated[
    str | None,
    typer.Option(
        "--size",
        help=(
            "Bytes of the target to use [default: 1 GiB]; with results: size of the measured "
            "device or file."
        ),
    ),
]

WhatArgument = Annotated[
    Path,
    typer.Argument(
        help=(
            "A file, directory or drive to measure; or results: a folder of `tameshi run`, "
            "its results.json, or fio's JSON."
        )
    ),
]
DestroyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--destroy",
        help="As with `run`: exact name of the file or drive whose content may be destroyed.",
    ),
]


@app.command()
def calibrate_command(
    context: typer.Context,
    what: WhatArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Folder for measurements, profile and report. [default: tameshi-results/cal-NAME]",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the profile. [default: from WHAT]")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="Device model: volume, flash or hdd. [default: the best fit]"),
    ] = None,
    time: Annotated[
        str, typer.Option("--time", help="Time limit of the measurement, for example `5 min`.")
    ] = "5 min",
    size: SizeOption = None,
    repetitions: Annotated[int, typer.Option("--repetitions", min=1, help="Runs per cell.")] = 3,
    destroy: DestroyOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="Measure a third of the cells.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the target file.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove earlier measurements first.")
    ] = False,
    form: Annotated[
        str, typer.Option("--format", help="Output format: terminal or md.")
    ] = "terminal",
    lang: LangOption = "en",
) -> None:
    """Fit a device profile to a drive, a file or results, and report its error."""
    check_language(lang)
    check_word("--format", form, ["terminal", "md"])
    if model is not None:
        check_word("--model", model, list(calibrate.MODELS))
    called = calibrate.plain_name(name or what.absolute().stem)
    asked = calibrate.Asked(
        *(what, out or Path("tameshi-results") / f"cal-{called}", called, model),
        size_bytes=size_of("--size", size) if size is not None else None,
        budget_s=time_of("--time", time) / 1e9,
        repetitions=repetitions,
        quick=quick,
        destroy=tuple(destroy or ()),
        keep=keep,
        fresh=fresh,
    )
    if calibrate.is_results(what):
        _refuse_measuring_options(context, what)
    else:
        calibrate.check_target(asked)
        _measure(asked)
    done = calibrate.calibrate(asked, ERR)
    if form == "md":
        typer.echo(fit_markdown(done.document, lang), nl=False)
    else:
        OUT.print(fit_terminal(done.document, lang))
    ERR.print(f"Profile: {done.profile.resolve()}", soft_wrap=True)
    ERR.print(f"Report: {done.report.resolve()}", soft_wrap=True)


def _refuse_measuring_options(context: typer.Context, what: Path) -> None:
    """Raise `BadInput` for a given option that does not apply to existing results."""
    for option in MEASURING:
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise BadInput(
                "this option applies to measuring, and results need no measuring",
                where=f"--{option}",
                found=f"results in {what}",
                accepted=["--out", "--name", "--model", "--size", "--format", "--lang"],
            )


def _measure(asked: calibrate.Asked) -> None:
    """Measure the target; exit if the measurement is incomplete."""
    prepared = calibrate.measuring(asked)
    announce(prepared)
    reproduce = [shlex.join(["tameshi", *sys.argv[1:]])]
    measured = calibrate.measure(prepared, asked, ERR, reproduce)
    holds = (
        f"`{shlex.join(['tameshi', 'calibrate', str(asked.out)])}` fits the finished measurements"
    )
    end(interrupted=measured.interrupted, complete=measured.complete, holds=holds)
