"""Times of a study's events in a run with a real clock."""

from __future__ import annotations

import threading
from pathlib import Path

from tameshi.core import compiled
from tameshi.core.clock import WALL, Clock
from tameshi.core.spec_types import Event, RunSpec
from tameshi.record.events import read_events

_POLL_SECONDS = 0.02


def time_of_event(spec: RunSpec, event: Event) -> tuple[int, tuple[int, ...] | None]:
    """Return an event's time in ns, and the indexes of the phases that its phase expands to.

    The time counts from t0, or from the start of the first of these phases.
    """
    phases = None
    if event.phase is not None:
        named = enumerate(spec.phases)
        phases = tuple(index for index, phase in named if phase.name == event.phase)
    return compiled.nanoseconds(event.at), phases


class EventTimes:
    """Wait for event times of a run; `over` is set at the run's end."""

    def __init__(
        self, folder: Path, t0_ns: int, over: threading.Event, clock: Clock = WALL
    ) -> None:
        self._clock = clock
        self._folder = folder
        self._t0_ns = t0_ns
        self._over = over

    def wait_for(self, at_ns: int, phases: tuple[int, ...] | None) -> bool:
        """Wait for an event time; return False if the run ends first."""
        base_ns = self._t0_ns if phases is None else self._start_of(phases)
        if base_ns is None:
            return False
        return not self._clock.wait(self._over, base_ns + at_ns - self._clock.now_ns())

    def _start_of(self, phases: tuple[int, ...]) -> int | None:
        """Return the phase's start from the record as soon as it is there; None if the run ends
        first."""
        while True:
            for event in read_events(self._folder):
                if event["kind"] == "phase_begin" and event["phase"] in phases:
                    return self._t0_ns + int(event["t_ns"])
            if self._over.wait(_POLL_SECONDS):
                return None
