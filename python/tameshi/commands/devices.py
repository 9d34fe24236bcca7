"""`tameshi devices`: the profiles there are, and one of them with its values and behaviour."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tameshi import devices
from tameshi.commands.consoles import OUT
from tameshi.commands.options import LangOption, check_word

FORMS = ("terminal", "html", "json")

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True)
def devices_command(context: typer.Context, lang: LangOption = "en") -> None:
    """Device profiles: list them, or show one with its values, sources and behaviour."""
    if context.invoked_subcommand is None:
        check_word("--lang", lang, devices.LANGUAGES)
        OUT.print(devices.listing([devices.find(name) for name in devices.names()], lang))


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(help="A profile's name, or a file of your own.")],
    form: Annotated[str, typer.Option("--format", help="terminal, html or json.")] = "terminal",
    lang: LangOption = "en",
) -> None:
    """Every value with its source, and what the simulated drive does from fresh to steady."""
    check_word("--format", form, FORMS)
    check_word("--lang", lang, devices.LANGUAGES)
    drive = devices.find(name)
    found = devices.behaviour(drive)
    if form == "json":
        typer.echo(json.dumps(devices.as_json(drive, found), ensure_ascii=False, indent=2))
    elif form == "html":
        typer.echo(devices.html(drive, found, lang), nl=False)
    else:
        OUT.print(devices.render(drive, found, lang))
