"""Reference pages of the command line and of the Python library, from the sources."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import typer

import tameshi
from tameshi.commands.cli import COMMANDS, module_of


def command_line_page() -> str:
    """Return a page with every command, its arguments and options."""
    parts = ["# Command line: every option", "Generated from the commands. `-h` shows the same."]
    for name in COMMANDS:
        command: Any = typer.main.get_command(import_module(module_of(name)).app)
        parts += _command(f"tameshi {name}", command)
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: Any) -> list[str]:
    inner = getattr(command, "commands", {})
    if inner:
        parts = [f"## {name}", command.help or ""]
        for each, of_it in inner.items():
            parts += _command(f"{name} {each}", of_it)
        return parts
    context = typer.Context(command, info_name=name)
    usage = command.get_usage(context).removeprefix("Usage: ")
    rows = [_row(parameter) for parameter in command.params if not parameter.hidden]
    table = "\n".join(["| option | meaning | default |", "|---|---|---|", *rows]) if rows else ""
    return [f"## {name}", command.help or "", f"```text\n{' '.join(usage.split())}\n```", table]


def _row(parameter: Any) -> str:
    is_option = parameter.param_type_name == "option"
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    shown = f"`{names}`" if is_option else f"`{parameter.metavar or parameter.name.upper()}`"
    default = parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, bool)
    help_text = " ".join((parameter.help or "").split())
    return (
        "| "
        + " | ".join(_cell(c) for c in (shown, help_text, str(default) if plain else ""))
        + " |"
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def python_page() -> str:
    """Return a page with every public name of the library."""
    parts = ["# Python library: every name", "Generated from the sources. [Guide](../python.md)."]
    for name in tameshi.__all__:
        of_it = getattr(tameshi, name)
        if inspect.isclass(of_it):
            kind, members = "class", "   :members:\n"
        elif callable(of_it):
            kind, members = "function", ""
        else:
            continue
        fields = "   :no-index-entry:\n"
        directive = f".. auto{kind}:: {of_it.__module__}.{of_it.__qualname__}\n{members}{fields}"
        parts.append(f"## tm.{name}\n\n```{{eval-rst}}\n{directive}```")
    return "\n\n".join(parts) + "\n"
