"""`tameshi compare`: comparison of one study's results with another's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tameshi.commands.consoles import OUT
from tameshi.commands.options import LangOption, check_language, check_word
from tameshi.compare import (
    Comparisons,
    Options,
    compare,
    compare_all,
    exit_status,
    exit_status_of_all,
    read_side,
)
from tameshi.report.comparison import comparison_markdown, comparison_terminal
from tameshi.report.comparison_of_several import several_markdown, several_terminal

app = typer.Typer(add_completion=False)


@app.command()
def compare_command(
    a: Annotated[
        Path, typer.Argument(help="Baseline: a folder made by `tameshi run`, or a results.json.")
    ],
    b: Annotated[
        list[Path], typer.Argument(metavar="B...", help="Candidates: each is compared with A.")
    ],
    form: Annotated[
        str, typer.Option("--format", help="Output format: terminal, md or json.")
    ] = "terminal",
    lang: LangOption = "en",
    world: Annotated[
        str,
        typer.Option(
            "--world", help="World to compare; A:B compares A's first world with B's second."
        ),
    ] = "",
    within: Annotated[
        float,
        typer.Option("--within", help="Differences up to this many per cent count as the same."),
    ] = 5.0,
    every: Annotated[
        bool, typer.Option("--all", help="Compare every metric, not only the primary ones.")
    ] = False,
    changed: Annotated[
        list[str] | None,
        typer.Option(
            "--changed",
            help=(
                "Intended change: work, device, machine, software or settings. Any other "
                "difference that could explain the result makes the two incomparable."
            ),
        ),
    ] = None,
    fail_on: Annotated[
        str,
        typer.Option(
            "--fail-on", help="never; or worse: exit with status 1 if B is worse with confidence."
        ),
    ] = "never",
) -> None:
    """Compare results with a baseline: same, better or worse, and how sure."""
    check_language(lang)
    check_word("--format", form, ["terminal", "md", "json"])
    check_word("--fail-on", fail_on, ["never", "worse"])
    options = Options(world, within / 100, every, changed or ())
    baseline, others = read_side(a), [read_side(each) for each in b]
    if len(others) > 1:
        comparisons = compare_all(baseline, others, options)
        _print_several(comparisons, form, lang)
        raise typer.Exit(exit_status_of_all(comparisons, fail_on))
    comparison = compare(baseline, others[0], options)
    if form == "json":
        typer.echo(json.dumps(comparison.as_json(), ensure_ascii=False, indent=2))
    elif form == "md":
        typer.echo(comparison_markdown(comparison.as_json(), lang), nl=False)
    else:
        OUT.print(comparison_terminal(comparison.as_json(), lang))
    raise typer.Exit(exit_status(comparison, fail_on))


def _print_several(comparisons: Comparisons, form: str, lang: str) -> None:
    found = comparisons.as_json()
    if form == "json":
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    elif form == "md":
        typer.echo(several_markdown(found, lang), nl=False)
    else:
        OUT.print(several_terminal(found, lang))
