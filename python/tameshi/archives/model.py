"""Results of another tool as plain data: phases with figures and recorded intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SECOND_NS = 1_000_000_000
MS_NS = 1_000_000


@dataclass(frozen=True)
class Figure:
    """Figure of a subject (stream, program) over a phase, in the unit of the metric's registry.

    `operations`: operations behind a standard deviation or a maximum, if known.
    """

    subject: str
    metric: str
    value: float
    operations: int | None = None


@dataclass(frozen=True)
class Step:
    """Recorded interval: counters by subject and metric, and its end since the phase's begin."""

    end_ns: int
    length_ns: int
    counters: Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class ImportedPhase:
    """Phase of a run; its streams and programs in the form of a run's spec, as far as known."""

    name: str
    length_ns: int
    figures: Sequence[Figure]
    streams: Sequence[Mapping[str, Any]] = ()
    programs: Sequence[Mapping[str, Any]] = ()
    steps: Sequence[Step] = ()
    size_bytes: int | None = None
    """Bytes of its storage, if known."""


@dataclass(frozen=True)
class Archive:
    """Results of one file. `repetitions` holds the phases of each run.

    `settings`: what the tool states of the run and no spec holds. `notes`: sentences for the user.
    """

    tool: str
    version: str
    repetitions: Sequence[Sequence[ImportedPhase]]
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    written: str = ""
    """Time of the results as the tool states it."""

    @property
    def title(self) -> str:
        """Return tool and version."""
        return f"{self.tool} {self.version}".strip()
