"""Announcement and exit of commands that run studies."""

from __future__ import annotations

import shlex

import typer
from rich.console import Console

from tameshi.commands.bounds import print_bounds
from tameshi.commands.consoles import ERR, OUT
from tameshi.core.exit_status import ExitStatus
from tameshi.workflow.prepare import Prepared


def announce(prepared: Prepared, console: Console = OUT) -> None:
    """Print the writes, destructions and runs to come."""
    if prepared.chosen:
        console.print(prepared.chosen, soft_wrap=True)
    for chosen, planned in prepared.plans.items():
        if prepared.hosts:
            print_bounds(chosen, planned, console, 1)
            for line in prepared.lines:
                console.print(line, soft_wrap=True, markup=False, highlight=False)
            continue
        examined = prepared.examined[chosen]
        print_bounds(chosen, planned, console, examined.slow)
        lines = [line for target in examined.targets.values() for line in target.described()]
        for place in examined.databases.values():
            lines += [f"{place.storage}: {line}" for line in place.plan.described()]
        lines += [f"{name}: {serving.described()}" for name, serving in examined.servers.items()]
        lines += [f"{name} runs {shlex.join(words)}" for name, words in examined.events.items()]
        for line in lines:
            console.print(line, soft_wrap=True)


def end(
    *, interrupted: bool, complete: bool, holds: str = "the report covers the finished runs"
) -> None:
    """Exit with the status of an incomplete study; `holds` names what remains of its work."""
    if interrupted:
        message = f"Interrupted: {holds}; the same command resumes."
        ERR.print(message, soft_wrap=True)
        raise typer.Exit(ExitStatus.INTERRUPTED)
    if not complete:
        raise typer.Exit(ExitStatus.FAILED)
