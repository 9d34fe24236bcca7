"""`tameshi explain`: the reference's entry of a metric or a key, on the terminal."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tameshi.commands.completion import complete_explained
from tameshi.commands.consoles import OUT
from tameshi.study.explain import Entry, explain

MOST_KEYS = 6
"""Keys of one name that are shown in full; the others are listed by their places."""

app = typer.Typer(add_completion=False)


@app.command()
def explain_command(
    word: Annotated[
        str,
        typer.Argument(
            metavar="METRIC|KEY",
            help=(
                "Metric such as read.latency.p99, or key such as buffer_pool, also with its "
                "place: engine.mysql.buffer_pool."
            ),
            autocompletion=complete_explained,
        ),
    ],
    as_data: Annotated[bool, typer.Option("--json", help="Print the entries as JSON.")] = False,
) -> None:
    """Explain a metric, or a key of study and profile files."""
    found = explain(word)
    if as_data:
        entries = [entry.as_json() for entry in found]
        typer.echo(json.dumps(entries, ensure_ascii=False, indent=2))
        return
    for entry in found[:MOST_KEYS]:
        _print(entry)
    if found[MOST_KEYS:]:
        OUT.print("also:")
        for entry in found[MOST_KEYS:]:
            OUT.print(f"  {entry.facts['place']} ({entry.kind})", soft_wrap=True)


def _print(entry: Entry) -> None:
    OUT.print(f"{entry.name}", style="bold", end="")
    OUT.print(f" — {entry.kind}")
    width = max(map(len, entry.facts))
    for name, fact in entry.facts.items():
        OUT.print(f"  {name:<{width}}  {fact}", soft_wrap=True)
    for name, meaning in entry.parts.items():
        OUT.print(f"    {name}: {meaning}" if meaning else f"    {name}", soft_wrap=True)
    OUT.print("")
