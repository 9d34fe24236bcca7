"""Runs to make: identity, spec and environment of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from tameshi.core.clock import Clock
from tameshi.core.spec_types import RunSpec, World
from tameshi.record import store
from tameshi.run.emulation import Drives
from tameshi.run.preflight import Examined
from tameshi.study.file import longest_ns
from tameshi.study.spec_texts import PlannedRun, SpecTexts


@dataclass(frozen=True, slots=True)
class Task:
    """Run to make: its identity, spec, and environment."""

    identity: str
    planned: RunSpec | PlannedRun
    """Its spec, or where that is read."""
    examined: Examined
    drives: Drives | None = None
    """Served drives of an emulated run, while it runs."""

    @property
    def spec(self) -> RunSpec:
        """Return its spec."""
        return self.planned.read() if isinstance(self.planned, PlannedRun) else self.planned

    @property
    def world(self) -> World:
        """Return its world; large plans are simulated."""
        return World.simulated if isinstance(self.planned, PlannedRun) else self.planned.world

    @property
    def clock(self) -> Clock:
        """Return the clock of the run."""
        return Clock(self.examined.slow)

    @property
    def cell(self) -> str:
        """Return the levels of its cell as JSON, as packs hold them."""
        if isinstance(self.planned, PlannedRun):
            return self.planned.facts.cell
        return _json(self.planned.cell)

    @property
    def setting(self) -> str:
        """Return a key of its cell, with the unknown setting that it tries."""
        if isinstance(self.planned, PlannedRun):
            return self.planned.facts.cell + self.planned.facts.unknown
        return _json(self.planned.cell) + _json(self.planned.unknown or {})

    @property
    def label(self) -> str:
        """Return world, cell and repetition for display."""
        spec = self.spec
        levels = {**spec.cell, **(spec.unknown or {})}
        cell = " ".join(f"{axis}={level}" for axis, level in levels.items())
        return f"{spec.world.value} {cell + ' ' if cell else ''}#{spec.repetition + 1}"

    @property
    def length_ns(self) -> int:
        """Return an upper bound on run time in ns; phases without a time limit count as 0."""
        if isinstance(self.planned, PlannedRun):
            return self.planned.facts.length_ns
        return longest_ns(self.planned)


def _json(levels: object) -> str:
    return json.dumps(dict(levels), ensure_ascii=False)  # type: ignore[call-overload]


def tasks_of(examined: Examined, runs: Sequence[RunSpec]) -> list[Task]:
    """The runs with their identities."""
    if isinstance(runs, SpecTexts):
        own = examined.identity
        texts = runs.texts()
        return [Task(store.identity_of(text, own), run, examined) for text, run in texts]
    return [Task(store.identity(run, examined.identity), run, examined) for run in runs]
