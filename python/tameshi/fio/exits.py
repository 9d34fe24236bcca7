"""Jobs that end others when they end: `exitall` and `exit_what`."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.core.errors import BadInput
from tameshi.fio.job import Job
from tameshi.fio.stream import Stream


def phases_that_run(
    jobs: Sequence[Job], phases: Sequence[int], groups: Sequence[int]
) -> tuple[list[Job], list[int], list[int]]:
    """The jobs with their phases and groups, without phases that never begin.

    With `exit_what=all` the first job to end ends everything, later phases too. Raises `BadInput`
    where some jobs of a phase do that and others don't: what follows would depend on the run.
    """
    last = max(phases, default=0)
    if any(job.exitall for job in jobs):
        for phase in range(last):
            among = [job for job, of in zip(jobs, phases, strict=True) if of == phase]
            enders = [job for job in among if job.exit_what == "all"]
            if enders and len(enders) < len(among):
                setting = enders[0].settings["exit_what"]
                message = (
                    "this can't be carried out: whether later jobs run would be seen only then"
                )
                raise BadInput(message, where=setting.where, key="exit_what", found="all")
            if enders:
                last = phase
                enders[0].notes.append(
                    f"{enders[0].settings['exit_what'].where}: exit_what: the jobs that would "
                    "follow never begin"
                )
                break
    kept = [found for found in zip(jobs, phases, groups, strict=True) if found[1] <= last]
    return [job for job, _, _ in kept], [of for _, of, _ in kept], [of for *_, of in kept]


def ends_with(streams: Sequence[Stream]) -> list[list[str]]:
    """For each stream those of its phase at whose end it ends, itself if one clone ends others.

    `exitall` holds for all jobs, whichever says it; what a job takes with it, its `exit_what` says.
    """
    if not any(stream.job.exitall for stream in streams):
        return [[] for _ in streams]

    def takes(other: Stream, stream: Stream) -> bool:
        if other.phase != stream.phase or (other is stream and stream.clones == 1):
            return False
        return other.job.exit_what != "group" or other.group == stream.group

    return [[other.name for other in streams if takes(other, stream)] for stream in streams]
