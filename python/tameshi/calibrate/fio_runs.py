"""Check that several documents of fio in one file are states of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tameshi.calibrate.fio_figures import number_of
from tameshi.core.errors import BadInput

JOBS = ("jobs", "client_stats")
"""Keys of job lists: fio's own, and that of `fio --client`."""
ROUNDING_S = 1.0
"""fio rounds the elapsed time up to whole seconds."""


def is_fio(document: Any) -> bool:
    """Return whether a JSON document is fio's."""
    known = isinstance(document, dict) and "fio version" in document
    return known and any(key in document for key in JOBS)


def last_state(path: Path, documents: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the last state of one run, as written by `--status-interval`; it is complete.

    Raises `BadInput` for documents of several runs.
    """
    for at, (earlier, later) in enumerate(pairwise(documents), 2):
        if not _are_one_run(earlier, later):
            raise BadInput(
                "this file holds results of several runs of fio",
                where=str(path),
                found=f"document {at} of {len(documents)} does not continue the run before it",
                accepted=["results of one run; keep other runs in other files"],
            )
    return documents[-1]


def _are_one_run(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> bool:
    """Return whether both have the same start and jobs, and no count falls."""
    begins = [_begin_s(document) for document in (earlier, later)]
    if begins[0] is None or begins[1] is None or abs(begins[0] - begins[1]) > ROUNDING_S:
        return False
    before, after = list(_jobs(earlier)), list(_jobs(later))
    known = [[job.get("jobname") for job in jobs] for jobs in (before, after)]
    counts = [[_count(job) for job in jobs] for jobs in (before, after)]
    return known[0] == known[1] and all(b <= a for b, a in zip(*counts, strict=True))


def _begin_s(document: Mapping[str, Any]) -> float | None:
    """Return the start of a run: time of the document less the elapsed time."""
    written_ms = number_of(document.get("timestamp_ms"))
    passed = [s for job in _jobs(document) if (s := number_of(job.get("elapsed"))) is not None]
    return written_ms / 1000 - max(passed) if written_ms is not None and passed else None


def _jobs(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = document.get("jobs")
    yield from (job for job in listed if isinstance(job, dict)) if isinstance(listed, list) else ()


def _count(job: Mapping[str, Any]) -> float:
    """Return the reads and writes of a job."""
    sides = [side for kind in ("read", "write") if isinstance(side := job.get(kind), dict)]
    return sum(number_of(side.get("total_ios")) or 0.0 for side in sides)
