"""`tameshi init`: a new study file, after a ready study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tameshi import guard
from tameshi.commands.completion import complete_ready
from tameshi.commands.consoles import OUT
from tameshi.core.errors import BadInput
from tameshi.study.file import find_ready, read_text
from tameshi.study.starter import starter

DEFAULT = "drive-or-memory"
SUFFIX = ".toml"

app = typer.Typer(add_completion=False)


@app.command()
def init_command(
    name: Annotated[str, typer.Argument(help="Name of the new study: NAME.toml is written.")],
    like: Annotated[
        str,
        typer.Option("--like", help="Ready study to begin with.", autocompletion=complete_ready),
    ] = DEFAULT,
) -> None:
    """Write a new study file with comments, after a ready study."""
    path = path_of(name)
    source = find_ready(like, "there is no ready study of this name", where="--like")
    text = starter(path.stem, like, read_text(source, "a ready study"))
    if path.is_symlink() or path.exists():
        accepted = ["the name of a study that does not exist yet"]
        raise BadInput("this is not overwritten", where=str(path), accepted=accepted)
    guard.write_output(path, text.encode(), lambda _beginning: False)
    OUT.print(f"Written: {path}", soft_wrap=True)
    OUT.print(f"Next: tameshi plan {path}; tameshi explain KEY tells what a key means.")


def path_of(name: str) -> Path:
    """Return the path of a new study; raise `BadInput` for a name without letters."""
    path = Path(name)
    if not path.name or name.endswith("/"):
        accepted = ["a name such as my-study, or a path to a folder that exists with one"]
        message = "this names no study"
        raise BadInput(message, where="NAME", found=name or "nothing", accepted=accepted)
    return path if path.suffix == SUFFIX else path.with_name(path.name + SUFFIX)
