"""`tameshi calibrate`: a drive, a file or results as a device profile."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from tameshi import calibrate
from tameshi.commands.conducting import announce, end
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.core.errors import BadInput
from tameshi.core.option_values import size_of, time_of
from tameshi.report.fit import fit_markdown, fit_terminal

MEASURING = ("time", "repetitions", "destroy", "quick", "keep", "fresh")
"""Options that results have no use for."""
app = typer.Typer(add_completion=False)

SizeOption = Annotated[
    str | None,
    typer.Option(
        "--size",
        help="How much of the target is used [default: 1 GiB]; with results, how large the device "
        "or file is that they are of.",
    ),
]


@app.command()
def calibrate_command(
    context: typer.Context,
    what: Annotated[
        Path,
        typer.Argument(
            help="A file, directory or drive to measure; or results: a folder of `tameshi run`, "
            "its results.json, or fio's JSON."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder of all it makes. [default: tameshi-results/cal-NAME]"),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the profile. [default: from WHAT]")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="volume, flash or hdd. [default: what fits best]"),
    ] = None,
    time: Annotated[
        str, typer.Option("--time", help="What measuring may take, such as `5 min`.")
    ] = "5 min",
    size: SizeOption = None,
    repetitions: Annotated[
        int, typer.Option("--repetitions", min=1, help="Runs of each cell.")
    ] = 3,
    destroy: Annotated[
        list[str] | None,
        typer.Option("--destroy", help="As with `run`: what may be lost, by its exact name."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A third of the cells.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the file that was worked on.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove what an earlier call measured first.")
    ] = False,
    form: Annotated[str, typer.Option("--format", help="terminal or md.")] = "terminal",
    lang: LangOption = "en",
) -> None:
    """Turn a drive, a file or results into a device profile, and say how well it fits."""
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
    elif not what.exists() and not asked.out.exists():
        # A mistyped name of results would begin to measure.
        raise BadInput("there is nothing here", where=str(what), accepted=list(TARGETS))
    else:
        _measure(asked)
    done = calibrate.calibrate(asked, ERR)
    if form == "md":
        typer.echo(fit_markdown(done.document, lang), nl=False)
    else:
        OUT.print(fit_terminal(done.document, lang))
    ERR.print(f"Profile: {done.profile.resolve()}", markup=False, soft_wrap=True)
    ERR.print(f"Report: {done.report.resolve()}", markup=False, soft_wrap=True)


TARGETS = (
    "a directory, which gets a file of Tameshi's own",
    "a file or a whole drive, with --destroy",
    "a folder or results.json of `tameshi run`, or fio's JSON",
)


def _refuse_measuring_options(context: typer.Context, what: Path) -> None:
    """Raise `BadInput` for an option that was given and that results have no use for."""
    for option in MEASURING:
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise BadInput(
                "this is for measuring, and nothing is measured where there are results",
                where=f"--{option}",
                found=f"results in {what}",
                accepted=["--out", "--name", "--model", "--size", "--format", "--lang"],
            )


def _measure(asked: calibrate.Asked) -> None:
    """Measures the target; ends the command where that is not complete."""
    prepared = calibrate.measuring(asked)
    announce(prepared)
    reproduce = [shlex.join(["tameshi", *sys.argv[1:]])]
    measured = calibrate.measure(prepared, asked, ERR, reproduce)
    holds = f"`{shlex.join(['tameshi', 'calibrate', str(asked.out)])}` fits what was measured"
    end(interrupted=measured.interrupted, complete=measured.complete, holds=holds)
