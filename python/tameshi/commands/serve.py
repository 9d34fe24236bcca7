"""`tameshi serve`: a simulated drive as a real block device, and messages to it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.live import Live
from rich.text import Text

from tameshi import devices, serve
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import check_word
from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.serve import plans
from tameshi.servers import slow_clock
from tameshi.study.bindings import slow_of

PLAIN_SECONDS = 10
"""Seconds from one status line to the next, off a terminal."""

SlowOption = Annotated[
    str, typer.Option("--slow", help="Slow motion: factor by which the drive's time is slowed.")
]

app = typer.Typer(add_completion=False)


@app.command(context_settings={"ignore_unknown_options": False})
def serve_command(
    profile: Annotated[
        str, typer.Argument(help="Name or file of a drive's profile; or ctl, for a message.")
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Command on the drive, after --; or the message: cut, status, reset."),
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
    slow: SlowOption = "1",
    drive: Annotated[
        str | None, typer.Option("--drive", help="Name of the served drive, with ctl.")
    ] = None,
) -> None:
    """Serve a simulated drive as a real block device, and cut its power."""
    if profile == "ctl":
        return _send(words or [], drive)
    check_word("--fs", fs, list(serve.FILE_SYSTEMS))
    plans.check_lies(lie or [])
    if only_block and at:
        raise BadInput("a block device has no mount point", where="--at", found=str(at))
    if devices.find_array(profile):
        raise BadInput("arrays cannot be served yet", where="serve", found=profile)
    found = devices.find(profile, "serve")
    device = compiled.device_profile(*found.file)["device"]
    if without_capacitor:
        device = plans.without_capacitor(device)
    asked = compiled.size_bytes(size) if size else None
    plan = serve.ServePlan(
        profile=profile,
        description=found.description,
        node={"device": {"profile": profile, "device": device}},
        capacity_bytes=found.capacity_bytes,
        size_bytes=plans.size_of(asked, found.model, found.capacity_bytes),
        memory_bytes=(compiled.size_bytes(memory) if memory else plans.default_memory()),
        seed=seed,
        lies=tuple(lie or ()),
        at=at,
        file_system=None if only_block else fs,
        command=tuple(words or ()),
        plain=plain_fuse,
        slow=_factor(slow),
    )
    plans.check_plan(plan)
    raise typer.Exit(_serve(plan))


def _factor(text: str) -> float:
    factor = slow_of(text)
    if factor is None:
        message = "slow motion of a drive by hand is a factor: its load is not known"
        raise BadInput(message, where="--slow", found=text, accepted=["a factor"])
    if factor != 1:
        slow_clock.require_library()
    return factor


def _slow_text(slow: float) -> str:
    """Return how a program comes to the drive's clock."""
    words = shlex.join(["env", *slow_clock.variables(slow)])
    return (
        f"slow motion {slow}: a second of the drive takes {slow} s; times here are the drive's. "
        f"Start each server and client with: {words} COMMAND"
    )


def _send(words: list[str], drive: str | None) -> None:
    answer = serve.ask_session(words, drive)
    if words == ["cut"]:
        OUT.print(serve.cut_text(answer), soft_wrap=True, highlight=False)
    else:
        typer.echo(json.dumps(answer, indent=2))


def _serve(plan: serve.ServePlan) -> int:
    for line in serve.sweep_all():
        ERR.print(line, soft_wrap=True, highlight=False)
    with serve.Session(plan) as session:
        told = serve.drive_text(plan, session.drive.status(), session.drive.places)
        told += [_slow_text(plan.slow)] if plan.slow != 1 else []
        for line in [*told, *serve.shortfalls(session.set_up_status)]:
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
