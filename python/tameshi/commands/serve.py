"""`tameshi serve`: a simulated drive as a real block device, and messages to it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.text import Text

from tameshi import serve
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import check_word
from tameshi.commands.serve_target import WRITTEN, State, find_target
from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.serve import plans

PLAIN_SECONDS = 10
"""Seconds from one status line to the next, off a terminal."""

app = typer.Typer(add_completion=False)


@app.command(context_settings={"ignore_unknown_options": False})
def serve_command(
    target: Annotated[
        str,
        typer.Argument(
            help="Name or file of a drive's or an array's profile; a storage of a study, as "
            "FILE[:NAME]; or ctl, for a message."
        ),
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Command on the drive, after --; or the message: cut, fail MEMBER, "
            "replace MEMBER, status, reset."
        ),
    ] = None,
    size: Annotated[
        str | None, typer.Option("--size", help="Bytes to serve. [default: 64 GiB; a disk whole]")
    ] = None,
    at: Annotated[
        Path | None, typer.Option("--at", help="Mount point: an empty or a new directory.")
    ] = None,
    only_block: Annotated[
        bool, typer.Option("--block", help="Make a block device without a file system.")
    ] = False,
    fs: Annotated[str, typer.Option("--fs", help="File system: xfs or ext4.")] = "xfs",
    memory: Annotated[
        str | None,
        typer.Option(help="Most memory for the drive's data. [default: half of what is free]"),
    ] = None,
    written: Annotated[
        str | None, typer.Option(help="Writes to flash before: never, once or steady.")
    ] = None,
    age: Annotated[
        list[str] | None,
        typer.Option(
            "--age",
            help="Age of flash: worn_percent=PERCENT, dead_channels=NUMBER or hold_up=TIME; "
            "may be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of what power cuts take.")] = 1,
    lie: Annotated[
        list[str] | None, typer.Option("--lie", help="Promise that the drive breaks: flush.")
    ] = None,
    without_capacitor: Annotated[
        bool,
        typer.Option("--without-capacitor", help="Serve a flash drive without its capacitor."),
    ] = False,
    plain_fuse: Annotated[
        bool, typer.Option("--plain-fuse", help="Use plain FUSE even if the kernel has its ring.")
    ] = False,
    drive: Annotated[
        str | None, typer.Option("--drive", help="Name of the served drive, with ctl.")
    ] = None,
) -> None:
    """Serve a simulated drive as a real block device, and cut its power."""
    if target == "ctl":
        return _send(words or [], drive)
    check_word("--fs", fs, list(serve.FILE_SYSTEMS))
    plans.check_lies(lie or [])
    if written is not None:
        check_word("--written", written, list(WRITTEN))
    if only_block and at:
        raise BadInput("a block device has no mount point", where="--at", found=str(at))
    found = find_target(
        target,
        compiled.size_bytes(size) if size else None,
        plans.DEFAULT_BYTES,
        State(written, age or []),
        capacitor=not without_capacitor,
    )
    plan = serve.ServePlan(
        profile=found.name,
        description=found.description,
        node=found.node,
        capacity_bytes=found.capacity_bytes,
        size_bytes=found.size_bytes,
        drives=found.drives,
        is_volatile=found.is_volatile,
        fails=found.drives > 1,
        memory_bytes=(compiled.size_bytes(memory) if memory else plans.default_memory()),
        seed=seed,
        lies=tuple(lie or ()),
        at=at,
        file_system=None if only_block else fs,
        command=tuple(words or ()),
        plain=plain_fuse,
    )
    plans.check_plan(plan)
    raise typer.Exit(_serve(plan))


def _send(words: list[str], drive: str | None) -> None:
    answer = serve.ask_session(words, drive)
    if words[0] in ("status", "reset"):
        typer.echo(json.dumps(answer, indent=2))
    else:
        text = serve.cut_text(answer) if words == ["cut"] else serve.member_text(words, answer)
        OUT.print(text, soft_wrap=True, highlight=False)


def _serve(plan: serve.ServePlan) -> int:
    for line in serve.sweep_all():
        ERR.print(line, soft_wrap=True, highlight=False)
    with serve.Session(plan) as session:
        told = serve.drive_text(plan, session.drive.status(), session.drive.places)
        for line in [*told, *serve.floor_warnings(plan, session.drive.offset_ns)]:
            ERR.print(line, soft_wrap=True, highlight=False)
        if not plan.command:
            message = f"cut its power: tameshi serve ctl cut --drive {session.name}"
            ERR.print(f"{message}   end: Ctrl-C", soft_wrap=True, highlight=False)
        live = Live(console=ERR, transient=True, auto_refresh=False)
        with nullcontext() if plan.command or not ERR.is_terminal else live:
            watch = _Watch(live if ERR.is_terminal else None, silent=bool(plan.command))
            try:
                status = session.run(watch)
            except KeyboardInterrupt:
                status = 0
        last = session.drive.status()
        for line in [f"in all: {serve.status_line(last)}", *serve.shortfalls(last)]:
            ERR.print(line, soft_wrap=True, highlight=False)
    sys.stderr.flush()
    return status


class _Watch:
    """Live line on a terminal, a line now and then elsewhere."""

    def __init__(self, live: Live | None, *, silent: bool) -> None:
        self._live = live
        self._silent = silent
        self._before: Mapping[str, Any] | None = None

    def __call__(self, status: Mapping[str, Any]) -> None:
        before = self._before
        if self._silent or (
            not self._live
            and before
            and status["elapsed_ns"] - before["elapsed_ns"] < PLAIN_SECONDS * 1e9
        ):
            return
        line = serve.status_line(status, before)
        if self._live:
            self._live.update(Text(line, overflow="fold"), refresh=True)
        elif before:
            ERR.print(line, soft_wrap=True, highlight=False)
        self._before = status
