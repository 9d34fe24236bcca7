"""Failures and replacements of members of served drives, at the times that a study names."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from tameshi.core.clock import WALL, Clock
from tameshi.core.errors import TameshiError
from tameshi.core.spec_types import RunSpec
from tameshi.record.events import append_event
from tameshi.run.event_times import EventTimes, time_of_event


class Asked(Protocol):
    """Served drive that takes messages."""

    def ask(self, message: str) -> Mapping[str, Any]:
        """Send the drive's server a message; return the answer."""


@dataclass(frozen=True)
class DriveFault:
    """Failure or replacement of a member with its time, as of a hook; member None: all of it."""

    name: str
    at_ns: int
    phases: tuple[int, ...] | None
    kind: str
    storage: str
    member: int | None


def drive_faults_of(spec: RunSpec) -> list[DriveFault]:
    """Return the drive faults of a run."""
    found = []
    for name, event in (spec.events or {}).items():
        at_ns, phases = time_of_event(spec, event)
        for kind, of in (("fail", event.fail), ("replace", event.replace)):
            if of is not None and of.storage:
                found.append(DriveFault(name, at_ns, phases, kind, of.storage, of.member))
    return found


class DriveFaults:
    """Drive faults at their times, from `with` to its end, each in a thread of its own."""

    def __init__(
        self,
        folder: Path,
        t0_ns: int,
        faults: Sequence[DriveFault],
        drives: Mapping[str, Asked],
        stopped: Callable[[], bool],
        clock: Clock = WALL,
    ) -> None:
        self._clock = clock
        self._folder = folder
        self._t0_ns = t0_ns
        self._drives = drives
        self._stopped = stopped
        self._over = threading.Event()
        self._event_times = EventTimes(folder, t0_ns, self._over, clock)
        self._threads = [
            threading.Thread(target=self._keep, args=(fault,), daemon=True) for fault in faults
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _keep(self, fault: DriveFault) -> None:
        if not self._event_times.wait_for(fault.at_ns, fault.phases):
            if not self._stopped():
                self._note("error", message=f"event `{fault.name}`: the run ended before its time")
            return
        words = [fault.kind, *([] if fault.member is None else [str(fault.member)])]
        try:
            answer = self._drives[fault.storage].ask(" ".join(words))
        except TameshiError as error:
            self._note("error", message=f"event `{fault.name}`: {error}")
            return
        fields = {"event": fault.name, "storage": fault.storage}
        if answer.get("missed"):
            self._note("missed", **fields, why=answer["missed"])
        else:
            self._note(fault.kind, **fields, member=fault.member)

    def _note(self, kind: str, **fields: Any) -> None:
        append_event(self._folder, self._clock.now_ns() - self._t0_ns, kind, **fields)
