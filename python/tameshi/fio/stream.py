"""A stream of the study, and the fio job that it stands for."""

from __future__ import annotations

from dataclasses import dataclass

from tameshi.fio.job import Job


@dataclass(frozen=True)
class Stream:
    """A stream of the study and the job, or the clone of one, that it stands for."""

    name: str
    job: Job
    clone: int
    clones: int
    storage: str
    phase: int
    group: int
    file: str
