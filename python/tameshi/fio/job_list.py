"""Interpretation of all jobs, with all their refusals at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tameshi.core.errors import BadInput, BadInputs, refuse_all
from tameshi.fio.job import Job, read_job
from tameshi.fio.jobfile import JobText


def read_jobs(
    texts: Sequence[JobText], further: Callable[[Sequence[Job]], object] | None = None
) -> list[Job]:
    """Interpret jobs; raise the refusals of all of them at once.

    `further` checks the jobs that have none, and may refuse them; its refusals come last.
    """
    jobs: list[Job] = []
    refused: list[BadInput] = []
    for text in texts:
        before = len(refused)
        job = _read_on(text, refused)
        jobs += [job] if job and len(refused) == before else []
    # A job that waits for a refused one would be refused for that alone.
    alone = [job for job in jobs if not job.wait_for]
    if refused and alone and further:
        try:
            further(alone)
        except BadInput as error:
            refused += error.errors if isinstance(error, BadInputs) else [error]
    refuse_all(refused)
    return jobs


def _read_on(text: JobText, refused: list[BadInput]) -> Job | None:
    """Interpret a job without its refused settings, which are added to `refused`."""
    found: list[BadInput] = []
    job: Job | None = None
    rest: JobText | None = text
    while rest and not job:
        try:
            job = read_job(rest)
        except BadInput as error:
            rest = rest.without(error)
            # What else is missing then may be missing because of an earlier refusal.
            found += [error] if rest or not found else []
            if error.key == "ioengine":
                rest = None
    refused += found
    return job
