"""`tameshi devices`: list of profiles, and one profile with its values and behaviour."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from tameshi import devices
from tameshi.commands.completion import complete_profile
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import LangOption, check_word

FORMS = ("terminal", "html", "json")
PLAIN_FORMS = ("terminal", "json")
"""Formats of a host or link, which has no plot."""

app = typer.Typer(add_completion=False)


@app.callback(invoke_without_command=True)
def devices_command(context: typer.Context, lang: LangOption = "en") -> None:
    """List profiles of drives, arrays, hosts and links, or show one with its sources."""
    if context.invoked_subcommand is None:
        list_command(lang)


@app.command("list")
def list_command(lang: LangOption = "en") -> None:
    """List every profile by name; the default subcommand."""
    check_word("--lang", lang, devices.LANGUAGES)
    OUT.print(devices.listing(devices.drives(), lang))
    OUT.print(devices.listing_arrays(devices.arrays(), lang))
    for kind in devices.KINDS:
        OUT.print(devices.listing_plain(kind, devices.plain(kind), lang))


@app.command("show")
def show_command(
    name: Annotated[
        str,
        typer.Argument(
            help="Name of a profile, or the path of your own profile file.",
            autocompletion=complete_profile,
        ),
    ],
    form: Annotated[
        str, typer.Option("--format", help="Output format: terminal, html or json.")
    ] = "terminal",
    lang: LangOption = "en",
) -> None:
    """Show values with sources, a drive's behaviour over time, an array's by queue depth."""
    check_word("--format", form, FORMS)
    check_word("--lang", lang, devices.LANGUAGES)
    plain = devices.find_plain(name)
    if plain:
        check_word("--format", form, PLAIN_FORMS)
        if form == "json":
            typer.echo(json.dumps(devices.plain_as_json(plain), ensure_ascii=False, indent=2))
        else:
            OUT.print(devices.render_plain(plain, lang))
        return
    array = devices.find_array(name)
    if array:
        with devices.progress_bar(ERR, lang) as watch:
            by_depth = devices.by_depth(array, watch)
        if form == "json":
            out = json.dumps(devices.array_as_json(array, by_depth), ensure_ascii=False, indent=2)
            typer.echo(out)
        elif form == "html":
            typer.echo(devices.html(array, by_depth, lang), nl=False)
        else:
            OUT.print(devices.render(array, by_depth, lang))
        return
    drive = devices.find(name, "devices show")
    with devices.progress_bar(ERR, lang) as watch:
        behaviour = devices.behaviour(drive, watch)
    if form == "json":
        typer.echo(json.dumps(devices.as_json(drive, behaviour), ensure_ascii=False, indent=2))
    elif form == "html":
        typer.echo(devices.html(drive, behaviour, lang), nl=False)
    else:
        OUT.print(devices.render(drive, behaviour, lang))
