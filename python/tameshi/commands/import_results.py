"""`tameshi import`: results of other tools as measured cells of a study."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.study_options import VerboseOption
from tameshi.commands.summary import print_summary
from tameshi.core.errors import BadInput, refuse_all

app = typer.Typer(add_completion=False)


@app.command()
def import_command(
    archives: Annotated[
        list[str],
        typer.Argument(
            metavar="[LABEL=]FILE...",
            help=(
                "Results of fio (JSON), sysbench, pgbench or tpcc-mysql (text). Files of one label "
                "are repetitions. [default label: the file's name]"
            ),
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Results folder, which is made.")],
    axis: Annotated[
        str, typer.Option("--axis", help="Name of the axis whose levels are the labels.")
    ] = "archive",
    title: Annotated[str, typer.Option("--title", help="Title of the study.")] = "",
    verbose: VerboseOption = False,
) -> None:
    """Import results of fio, sysbench, pgbench and tpcc-mysql as measured cells."""
    # The libraries for reporting take seconds to load; refuse a bad option without them.
    if not axis.replace("_", "").replace("-", "").isalnum():
        accepted = ["letters, digits, - and _"]
        raise BadInput("not the name of an axis", where="--axis", found=axis, accepted=accepted)
    from tameshi.archives import Labelled, import_archives, read_archive

    labelled = []
    refused = []
    for argument in archives:
        label, path = _split(argument)
        try:
            labelled.append(Labelled(label, path, read_archive(path)))
        except BadInput as error:
            refused.append(error)
    refuse_all(refused)
    for each in labelled:
        for note in each.archive.notes:
            ERR.print(f"{each.path}: {note}.", soft_wrap=True, markup=False, highlight=False)
    reproduce = [shlex.join(["tameshi", *sys.argv[1:]])]
    shown = import_archives(labelled, out, axis, title, reproduce)
    print_summary(shown, OUT, verbose=verbose)


def _split(argument: str) -> tuple[str, Path]:
    """Return label and path; a path with `=` that exists is no label."""
    label, sign, path = argument.partition("=")
    if not sign or Path(argument).exists():
        return Path(argument).stem, Path(argument)
    if not label or not path:
        accepted = ["FILE", "LABEL=FILE"]
        raise BadInput("not a file with a label", where=argument, found=argument, accepted=accepted)
    return label, Path(path)
