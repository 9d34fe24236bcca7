"""`tameshi serve`: a simulated drive as a real block device, and messages to it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer
from rich.live import Live
from rich.text import Text

from tameshi import hosts, serve
from tameshi.commands import serve_options as options
from tameshi.commands.consoles import ERR, OUT
from tameshi.commands.options import check_word
from tameshi.commands.serve_target import WRITTEN, State, find_target
from tameshi.core import compiled
from tameshi.core.errors import BadInput, RunFailed
from tameshi.serve import plans
from tameshi.serve.addresses import parse_address
from tameshi.serve.stores import store_limit
from tameshi.servers import slow_clock
from tameshi.study.bindings import slow_of

PLAIN_SECONDS = 10
"""Seconds from one status line to the next, off a terminal."""

app = typer.Typer(add_completion=False)


@app.command(context_settings={"ignore_unknown_options": False})
def serve_command(
    target: options.Target,
    words: options.Words = None,
    size: options.Size = None,
    at: options.At = None,
    only_block: options.OnlyBlock = False,
    nbd: options.Nbd = None,
    fs: options.Fs = "xfs",
    memory: options.Memory = None,
    store: options.Store = None,
    written: options.Written = None,
    age: options.Age = None,
    seed: options.Seed = 1,
    lie: options.Lie = None,
    without_capacitor: options.WithoutCapacitor = False,
    plain_fuse: options.PlainFuse = False,
    slow: options.Slow = "1",
    drive: options.Drive = None,
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
    if nbd and (at or only_block or plain_fuse):
        option = "--at" if at else "--block" if only_block else "--plain-fuse"
        raise BadInput("by NBD there is no mount and no block device", where=option)
    if store and memory:
        message = "data on a disk have no limit in memory"
        raise BadInput(message, where="--memory", found=memory, accepted=["--store or --memory"])
    found = find_target(
        target,
        _bytes(size, "--size") if size else None,
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
        limit_bytes=_limit(memory, store, found.size_bytes),
        store=Path(os.path.realpath(store)) if store else None,
        seed=seed,
        lies=("flush",) if found.ignores_flush else tuple(lie or ()),
        at=at,
        file_system=None if only_block or nbd else fs,
        nbd=parse_address(nbd) if nbd else None,
        command=tuple(words or ()),
        plain=plain_fuse,
        slow=_factor(slow),
    )
    plans.check_plan(plan)
    raise typer.Exit(_serve(plan))


def _bytes(text: str, option: str) -> int:
    """Return the bytes of an option's size; raise `BadInput` for none."""
    try:
        return compiled.size_bytes(text)
    except RunFailed as error:
        accepted = ["a size such as 8GiB"]
        raise BadInput(error.message, where=option, found=text, accepted=accepted) from None


def _limit(memory: str | None, store: Path | None, size_bytes: int) -> int:
    """Return the most bytes that the drive's data may take."""
    if store:
        return store_limit(store, size_bytes)
    return _bytes(memory, "--memory") if memory else plans.default_memory()


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
    if words[0] in ("status", "reset"):
        typer.echo(json.dumps(answer, indent=2))
    else:
        OUT.print(serve.answer_text(words, answer), soft_wrap=True, highlight=False)


def _serve(plan: serve.ServePlan) -> int:
    for line in (*serve.sweep_all(), *hosts.sweep_all_hosts()):
        ERR.print(line, soft_wrap=True, highlight=False)
    with serve.Session(plan) as session:
        told = serve.drive_text(plan, session.drive.status(), session.drive.places)
        told += [_slow_text(plan.slow)] if plan.slow != 1 else []
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
