"""`tameshi verify`: check of a storage against the journal of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.consoles import OUT
from tameshi.commands.options import check_word
from tameshi.core.exit_status import ExitStatus
from tameshi.run.verify import AFTER, described, verify
from tameshi.study.bindings import read_bindings

SHOWN_BLOCKS = 20

app = typer.Typer(add_completion=False)


@app.command()
def verify_command(
    run: Annotated[
        Path, typer.Argument(help="Folder of a run whose workload verifies its writes.")
    ],
    on: Annotated[
        list[str] | None,
        typer.Option("--on", help="NAME=PATH (repeatable): current path of a storage."),
    ] = None,
    after: Annotated[
        str,
        typer.Option("--after", help="Failure since the run: power-cut, or crash (of a program)."),
    ] = "power-cut",
) -> None:
    """Check that a storage still holds the acknowledged writes of a run."""
    check_word("--after", after, AFTER)
    broken = False
    for result in verify(run, read_bindings(None, on or [], []).storage):
        bad = result.broken(after)
        broken = broken or bool(bad)
        OUT.print(
            (
                f"{result.storage}: {result.written} blocks of 4 KiB written, {result.right} "
                f"intact, {len(result.findings) - len(bad)} lost without a promise of "
                f"durability, {len(bad)} broken"
            ),
            soft_wrap=True,
        )
        for one in bad[:SHOWN_BLOCKS]:
            OUT.print(f"  {described(one)}", soft_wrap=True)
        if len(bad) > SHOWN_BLOCKS:
            OUT.print(f"  … and {len(bad) - SHOWN_BLOCKS} more")
    if broken:
        raise typer.Exit(ExitStatus.FAILED)
