"""User commands at set times of a run, for example to fail a drive of a real array.

A study sets the time of an event; only the command line or a bindings file sets its command. No
shell is involved. Output goes to `hooks.log` of the run; start and end are events. A command that
fails or never runs fails the run: a fault without effect must not count as one.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tameshi import guard
from tameshi.core.spec_types import RunSpec
from tameshi.run.event_times import EventTimes, time_of_event

SOURCE = "hooks"
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Hook:
    """Command with its time in ns: from t0, or from the start of the first of `phases`.

    `phases` are the indexes of the phases that an event's phase expands to.
    """

    name: str
    at_ns: int
    phases: tuple[int, ...] | None
    command: tuple[str, ...]


def hooks_of(spec: RunSpec, commands: Mapping[str, Sequence[str]]) -> list[Hook]:
    """Return the events of a run that are bound to commands, the earliest first."""
    hooks = []
    for name, event in (spec.events or {}).items():
        if name not in commands:
            continue
        at_ns, phases = time_of_event(spec, event)
        hooks.append(Hook(name, at_ns, phases, tuple(commands[name])))
    return sorted(hooks, key=lambda hook: hook.at_ns)


class Hooks:
    """Commands at their times, from `with` to its end, each in a thread of its own.

    At the end, commands that are still running are killed. `stopped` tells whether the user ended
    the run early: commands that never ran are then not failures.
    """

    def __init__(
        self, folder: Path, t0_ns: int, hooks: Sequence[Hook], stopped: Callable[[], bool]
    ) -> None:
        self._folder = folder
        self._t0_ns = t0_ns
        self._stopped = stopped
        self._over = threading.Event()
        self._event_times = EventTimes(folder, t0_ns, self._over)
        self._events = guard.append_file(folder / "events.jsonl")
        self._threads = [
            threading.Thread(target=self._keep, args=(hook,), daemon=True) for hook in hooks
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._events.close()

    def _keep(self, hook: Hook) -> None:
        if not self._event_times.wait_for(hook.at_ns, hook.phases):
            if not self._stopped():
                self._tell("error", message=f"event `{hook.name}`: the run ended before its time")
            return
        self._tell("hook_begin", event=hook.name, command=list(hook.command))
        try:
            with guard.append_file(self._folder / "hooks.log") as log:
                process = subprocess.Popen(
                    hook.command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env={**os.environ, "TAMESHI_EVENT": hook.name},
                    start_new_session=True,
                )
        except OSError as error:
            self._tell("error", message=f"event `{hook.name}`: {error.strerror}")
            return
        while process.poll() is None and not self._over.wait(_POLL_SECONDS):
            pass
        cut_short = process.poll() is None
        if cut_short:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        self._tell("hook_end", event=hook.name, status=status)
        if cut_short and not self._stopped():
            self._tell("error", message=f"event `{hook.name}`: its command outlasted the run")
        elif status and not cut_short:
            message = f"event `{hook.name}`: its command ended with status {status}, see hooks.log"
            self._tell("error", message=message)

    def _tell(self, kind: str, **fields: Any) -> None:
        t_ns = time.monotonic_ns() - self._t0_ns
        line = json.dumps({"t_ns": t_ns, "source": SOURCE, "kind": kind, **fields})
        # one write, which no other writer can split
        os.write(self._events.fileno(), line.encode() + b"\n")
