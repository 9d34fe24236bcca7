"""`tameshi compare`: one study's results held against another's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.consoles import OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.compare import Options, compare, exit_status, read_side
from tameshi.report.comparison import comparison_markdown, comparison_terminal

app = typer.Typer(add_completion=False)


@app.command()
def compare_command(
    a: Annotated[Path, typer.Argument(help="A folder that `tameshi run` made, or a results.json.")],
    b: Annotated[Path, typer.Argument(help="Another: what is held against A.")],
    form: Annotated[str, typer.Option("--format", help="terminal, md or json.")] = "terminal",
    lang: LangOption = "en",
    world: Annotated[
        str, typer.Option("--world", help="One world; A:B holds A's one against B's other.")
    ] = "",
    within: Annotated[
        float, typer.Option("--within", help="Per cent that count as the same.")
    ] = 5.0,
    every: Annotated[
        bool, typer.Option("--all", help="Every metric, not the primary ones alone.")
    ] = False,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            "--changed",
            help="What was changed on purpose: work, device, machine, software or settings. "
            "Other differences that could explain the result then make the two incomparable.",
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option("--fail-on", help="never; worse: end with 1 where B surely is.")
    ] = "never",
) -> None:
    """Hold B against A: same, better or worse, by how much, and may they be compared."""
    check_language(lang)
    check_word("--format", form, ["terminal", "md", "json"])
    check_word("--fail-on", fail_on, ["never", "worse"])
    options = Options(world, within / 100, every, changed or ())
    comparison = compare(read_side(a), read_side(b), options)
    if form == "json":
        typer.echo(json.dumps(comparison.as_json(), ensure_ascii=False, indent=2))
    elif form == "md":
        typer.echo(comparison_markdown(comparison.as_json(), lang), nl=False)
    else:
        OUT.print(comparison_terminal(comparison.as_json(), lang))
    raise typer.Exit(exit_status(comparison, fail_on))
