"""`tameshi verify`: whether a storage still holds what a run wrote there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.consoles import OUT
from tameshi.commands.options import check_word
from tameshi.run.verify import AFTER, described, verify
from tameshi.study.bindings import read_bindings

SHOWN_BLOCKS = 20

app = typer.Typer(add_completion=False)


@app.command()
def verify_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run with a verifying stream.")],
    on: Annotated[
        list[str] | None, typer.Option("--on", help="NAME=PATH: where a storage is now.")
    ] = None,
    after: Annotated[
        str, typer.Option("--after", help="What happened: power-cut, or crash of a program.")
    ] = "power-cut",
) -> None:
    """Check that a storage still holds what a run wrote there and had acknowledged."""
    check_word("--after", after, AFTER)
    broken = False
    for found in verify(run, read_bindings(None, on or [], []).storage):
        bad = found.broken(after)
        broken = broken or bool(bad)
        OUT.print(
            f"{found.storage}: {found.written} blocks of 4 KiB written, {found.right} right, "
            f"{len(found.findings) - len(bad)} gone that nothing promised, {len(bad)} broken",
            soft_wrap=True,
        )
        for one in bad[:SHOWN_BLOCKS]:
            OUT.print(f"  {described(one)}", soft_wrap=True)
        if len(bad) > SHOWN_BLOCKS:
            OUT.print(f"  … and {len(bad) - SHOWN_BLOCKS} more")
    if broken:
        raise typer.Exit(1)
