"""Stream of the study, with its fio job."""

from __future__ import annotations

from dataclasses import dataclass

from tameshi.fio.job import Job


@dataclass(frozen=True)
class Stream:
    """Stream of the study, with its job or clone of a job."""

    name: str
    job: Job
    clone: int
    clones: int
    storage: str
    phase: int
    group: int
    file: str
