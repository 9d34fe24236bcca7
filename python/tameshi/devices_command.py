"""`tameshi devices`: the profiles there are, and one of them with its values and behaviour."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from tameshi import devices
from tameshi.errors import BadInput

FORMS = ("terminal", "html", "json")

app = typer.Typer(add_completion=False, help="Device profiles: list them, show one.")
console = Console(highlight=False)

LangOption = Annotated[str, typer.Option("--lang", help="en or ja.")]


@app.callback(invoke_without_command=True)
def devices_command(context: typer.Context, lang: LangOption = "en") -> None:
    """Device profiles: list them, or show one with every value, its source, and its behaviour."""
    if context.invoked_subcommand is None:
        _check("--lang", lang, devices.LANGUAGES)
        console.print(devices.listing([devices.find(name) for name in devices.names()], lang))


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(help="A profile's name, or a file of your own.")],
    form: Annotated[str, typer.Option("--format", help="terminal, html or json.")] = "terminal",
    lang: LangOption = "en",
) -> None:
    """Every value with its source, and what the simulated drive does from fresh to steady."""
    _check("--format", form, FORMS)
    _check("--lang", lang, devices.LANGUAGES)
    drive = devices.find(name)
    found = devices.behaviour(drive)
    if form == "json":
        typer.echo(json.dumps(devices.as_json(drive, found), ensure_ascii=False, indent=2))
    elif form == "html":
        typer.echo(devices.html(drive, found, lang), nl=False)
    else:
        console.print(devices.render(drive, found, lang))


def _check(option: str, found: str, accepted: tuple[str, ...]) -> None:
    if found not in accepted:
        message = "there is no such choice"
        raise BadInput(message, where=option, found=found, accepted=list(accepted))
