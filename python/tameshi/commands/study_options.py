"""Options of commands that plan a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.completion import complete_study
from tameshi.core.spec_types import World

StudyArgument = Annotated[
    Path,
    typer.Argument(
        help="The study file, or the name of a ready study.", autocompletion=complete_study
    ),
]
WorldOption = Annotated[
    list[World] | None,
    typer.Option("--world", help="World to run in (repeatable). [default: simulated]"),
]
ExactOption = Annotated[
    bool,
    typer.Option(
        "--exact", help="Simulate every transaction of simulated databases, without extrapolation."
    ),
]
SlowOption = Annotated[
    str,
    typer.Option(
        "--slow",
        help=(
            "Slow motion of emulated runs: factor by which drives, server and load are slowed, "
            "or auto for the least that this machine needs."
        ),
    ),
]
SlowLikeOption = Annotated[
    str | None,
    typer.Option(
        "--slow-like",
        metavar="HOST",
        help=(
            "Slow motion of emulated runs in which a CPU-bound load of the study's server comes "
            "out as on this host profile; measured first."
        ),
    ),
]
ServerOption = Annotated[
    list[str] | None,
    typer.Option("--server", help="NAME=PRODUCT (repeatable): server product for an engine."),
]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help=(
            "Make simulated runs on a Dask cluster: tcp://HOST:PORT of its scheduler, or local, "
            "which starts one here with --jobs workers."
        ),
    ),
]
RecordsOption = Annotated[
    str,
    typer.Option(
        "--records",
        help=(
            "Form of the records of simulated runs: folders, parquet (some files for all runs), "
            "or auto, which is parquet for more than 2000 runs."
        ),
    ),
]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Print the whole answer, on a terminal as well."),
]
QuickOption = Annotated[bool, typer.Option("--quick", help="Use the study's `quick` settings.")]
