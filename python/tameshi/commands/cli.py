"""The command line: its commands' names, and the one that is asked for, imported when it is."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from tameshi.commands.consoles import accept_every_sign
from tameshi.core.errors import TameshiError

COMMANDS = {
    "plan": "Show the matrix of a study, the time it takes and the bytes it writes.",
    "run": "Run a study, resume it, and write its results and report.",
    "report": "Make results.json and the report anew from the runs of a study folder.",
    "compare": "Hold B against A: same, better or worse, by how much, and may they be compared.",
    "ask": "The cheapest storage and buffer pool that reach a target, simulated.",
    "fio": "Run fio's job files and --key=value options, and answer in fio's own form.",
    "calibrate": "Turn a drive, a file or results into a device profile, and say how well it fits.",
    "devices": "Profiles of drives, arrays, hosts and links: list them, or show one, with sources.",
    "doctor": "Say what this machine can do in each world, what is missing, and how to mend it.",
    "verify": "Check that a storage still holds what a run wrote there and had acknowledged.",
}


class OnDemand(typer.core.TyperGroup):
    """Commands that are imported when they run: their libraries take a second or two."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command in place of its name."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            app = import_module(f"tameshi.commands.{name}").app
            command = literal(typer.main.get_command(app))
        return name, command, rest


def literal(command: Any) -> Any:
    """A command whose help is shown as it is written: `[storage.NAME]` is no markup of rich."""
    for told in (command, *command.params):
        told.help = escape(told.help) if told.help else told.help
    for inner in getattr(command, "commands", {}).values():
        literal(inner)
    return command


app = typer.Typer(
    cls=OnDemand, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


@app.callback()
def tameshi() -> None:
    """The proving ground for storage under databases."""


def _listed() -> None: ...


for _name, _help in COMMANDS.items():
    app.command(_name, help=escape(_help))(_listed)


def main() -> None:
    """Run the command line; an expected error is one message and its exit status."""
    accept_every_sign()
    try:
        app()
    except TameshiError as error:
        Console(stderr=True).print(str(error), markup=False, highlight=False, soft_wrap=True)
        sys.exit(error.exit_status)
