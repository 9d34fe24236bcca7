"""Streams of the study with their fio jobs, and jobs that end others: `exitall`, `exit_what`."""

from __future__ import annotations

from collections.abc import Sequence
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


def phases_that_run(
    jobs: Sequence[Job], phases: Sequence[int], groups: Sequence[int]
) -> tuple[list[Job], list[int], list[int]]:
    """Return jobs, phases and groups without phases that never start.

    With `exit_what=all` the end of the first job ends everything, including later phases. Raises
    `BadInput` if only some jobs of a phase have it: later phases would depend on the run.
    """
    last = max(phases, default=0)
    if any(job.exitall for job in jobs):
        for phase in range(last):
            among = [job for job, own in zip(jobs, phases, strict=True) if own == phase]
            enders = [job for job in among if job.exit_what == "all"]
            if enders and len(enders) < len(among):
                message = "not supported: whether later jobs run would be seen only then"
                raise enders[0].refusal("exit_what", message, found="all")
            if enders:
                last = phase
                enders[0].notes.append(
                    f"{enders[0].settings['exit_what'].where}: exit_what: the jobs of later "
                    "phases never start"
                )
                break
    running = [entry for entry in zip(jobs, phases, groups, strict=True) if entry[1] <= last]
    return (
        [job for job, _, _ in running],
        [own for _, own, _ in running],
        [own for *_, own in running],
    )


def ends_with(streams: Sequence[Stream]) -> list[list[str]]:
    """Return for each stream the streams of its phase that end it, itself included if one of its
    clones does.

    `exitall` of any job applies to all; `exit_what` of a job selects those that it ends.
    """
    if not any(stream.job.exitall for stream in streams):
        return [[] for _ in streams]

    def takes(other: Stream, stream: Stream) -> bool:
        if other.phase != stream.phase or (other is stream and stream.clones == 1):
            return False
        return other.job.exit_what != "group" or other.group == stream.group

    return [[other.name for other in streams if takes(other, stream)] for stream in streams]
