"""Command line: names of the commands; imports a command when it is called."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.markup import escape

from tameshi.commands.consoles import accept_every_sign, outlive_readers

COMMANDS = {
    "studies": "List ready studies with their questions and running times.",
    "init": "Write a new study file with comments, after a ready study.",
    "plan": "Show the matrix of a study, its run time and the bytes that it writes.",
    "run": "Run or resume a study, and write its results and report.",
    "report": "Rebuild results.json and the report from the runs of a study folder.",
    "compare": "Compare results with a baseline: same, better or worse, and how sure.",
    "import": "Import results of fio, sysbench, pgbench and tpcc-mysql as measured cells.",
    "ask": "Find the cheapest storage and buffer pool that meet a target, by simulation.",
    "fio": "Run fio job files and --key=value options, with output in fio's formats.",
    "calibrate": "Fit a device profile to a drive, a file or results, and report its error.",
    "explain": "Explain a metric, or a key of study and profile files.",
    "devices": "List profiles of drives, arrays, hosts and links, or show one with its sources.",
    "serve": "Serve a simulated drive as a real block device, and cut its power.",
    "hosts": "Make hosts as network namespaces, with links between them; show and remove them.",
    "failover": "Fail real servers over under load: outage, lost commits, costs.",
    "doctor": "Check which worlds this machine can run, what is missing and how to install it.",
    "worker": "Start a worker that makes runs of a cluster on this host, until it is stopped.",
    "verify": "Check that a storage still holds the acknowledged writes of a run.",
}

MODULES = {"import": "import_results"}
"""Modules of commands whose names are words of Python."""


class OnDemand(typer.core.TyperGroup):
    """Group of commands imported on demand: their libraries take one to two seconds to load."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Replace the name by the imported command."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            app = import_module(module_of(name or "")).app
            command = literal(typer.main.get_command(app))
        return name, command, rest


def module_of(name: str) -> str:
    """Return the module of a command."""
    return f"tameshi.commands.{MODULES.get(name, name)}"


def literal(command: Any) -> Any:
    """Return a command whose help rich shows as written: `[storage.NAME]` is not markup."""
    for item in (command, *command.params):
        item.help = escape(item.help) if item.help else item.help
    for inner in getattr(command, "commands", {}).values():
        literal(inner)
    return command


app = typer.Typer(
    cls=OnDemand,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tameshi {version('tameshi')}")
        raise typer.Exit


@app.callback()
def tameshi(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Proving ground for storage under databases."""


def _listed() -> None: ...


for _name, _help in COMMANDS.items():
    app.command(_name, help=escape(_help))(_listed)


def main() -> None:
    """Run the command line; print any error as one message and exit with its status."""
    accept_every_sign()
    outlive_readers()
    try:
        app()
    except Exception as error:
        from tameshi.commands.failures import told  # a successful command needs no part of it

        sys.exit(told(error))
