"""Sections of a job file in fio's results: clones, repetitions, and what ran at the same time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.calibrate.fio_figures import Place
from tameshi.core.errors import BadInput
from tameshi.core.reasons import Reason, reason

OPTION = re.compile(r"[A-Za-z0-9_-]+")
OF_ALL = "All clients"
"""What `fio --client` calls the sum of its jobs."""
SHOWN = 3
"""Names of sections and of servers that a sentence tells."""
CLOCKS = 1.01
"""By how much times may be off that were taken by different clocks, as a factor."""


@dataclass(frozen=True)
class Section:
    """What was asked in a section, and what its clones did each time that it ran."""

    name: str
    options: Mapping[str, str]
    rounds: Sequence[Sequence[Place]]
    beside: Sequence[str] = ()
    """Other sections of its group, which fio starts together."""

    @property
    def at_once(self) -> Reason | None:
        """Why other streams may have run at the same time; None if none did."""
        if not self.beside:
            return None
        return reason("shared_group", sections=_told(self.beside))


def sections_of(whole: Place) -> list[Section]:
    """The sections in the order of their jobs.

    Raises `BadInput` for lists that fio can't have written, for jobs of several servers, and where
    sections ran at once and it is not told which.
    """
    rounds: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for job in _jobs(whole):
        key = (str(job.get("jobname")), json.dumps(job.get("job options"), sort_keys=True))
        group = json.dumps(job.get("groupid"))
        rounds.setdefault(key, {}).setdefault(group, []).append(job)
    names = _unique(name for name, _ in rounds)
    _refuse_untold(whole, rounds.values())
    found = []
    for name, groups in zip(names, rounds.values(), strict=True):
        others = zip(names, rounds.values(), strict=True)
        known = groups.keys() - {"null"}
        beside = [other for other, its in others if other != name and known & its.keys()]
        told = [[Place(whole.file, name, "", job) for job in jobs] for jobs in groups.values()]
        found.append(Section(name, _asked(whole, told[0][0]), told, beside))
    return found


def _jobs(whole: Place) -> Sequence[Mapping[str, Any]]:
    """The jobs that fio lists, its own or those of one server."""
    key = "jobs" if "jobs" in whole.table else "client_stats"
    jobs = whole.table[key]
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise whole.bad(key, "this is no list of jobs", "a list of tables, as fio writes it")
    if key == "jobs":
        return jobs
    jobs = [job for job in jobs if job.get("jobname") != OF_ALL]
    servers = dict.fromkeys(f"{job.get('hostname')}:{job.get('port')}" for job in jobs)
    if len(servers) > 1:
        message = "these are results of several servers of fio, and a profile is of one device"
        accepted = ["results of one server"]
        found = _told(list(servers))
        raise BadInput(message, where=whole.file, key=key, found=found, accepted=accepted)
    return jobs


def _unique(names: Iterable[str]) -> list[str]:
    taken: dict[str, None] = {}
    for name in names:
        taken[name if name not in taken else f"{name} ({len(taken) + 1})"] = None
    return list(taken)


def _told(names: Sequence[str]) -> str:
    more = [f"{len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return ", ".join([*names[:SHOWN], *more])


def _refuse_untold(
    whole: Place, sections: Iterable[Mapping[str, Sequence[Mapping[str, Any]]]]
) -> None:
    """Raises `BadInput` where groups took longer, one after the other, than all of fio's run.

    `new_group` without `stonewall` begins a group that waits for none, and fio's results leave it
    out of a job's options.
    """
    times_ms: dict[str, float] = {}
    elapsed_s = 0.0
    for section in sections:
        for group, jobs in section.items():
            for job in jobs:
                place = Place(whole.file, str(job.get("jobname")), "", job)
                elapsed_s = max(elapsed_s, place.number("elapsed", 0.0))
                times_ms[group] = max(times_ms.get(group, 0.0), _time_ms(place))
    sum_s = sum(times_ms.values()) / 1000
    if elapsed_s and sum_s > elapsed_s * CLOCKS:
        raise BadInput(
            "several streams ran at once in these groups of jobs, and which is not told",
            where=whole.file,
            key="jobs.elapsed",
            found=f"{sum_s:.1f} s of {len(times_ms)} groups in {elapsed_s:.0f} s",
            accepted=["groups that ran one after the other, as `stonewall` makes them"],
        )


def in_one_entry(job: Place, options: Mapping[str, str]) -> int:
    """How many jobs an entry of `group_reporting` is of, at least one.

    fio tells all sections of a group as one then, with the options of the last, and how long they
    ran as a sum.
    """
    longest_ms = _time_ms(job)
    if "group_reporting" not in options or not longest_ms:
        return 1
    return max(round(job.number("job_runtime", 0.0) / longest_ms), 1)


def _time_ms(job: Place) -> float:
    """How long a job read or wrote."""
    sides = [side for kind in ("read", "write") if (side := job.inside(kind))]
    return max((side.number("runtime", 0.0) for side in sides), default=0.0)


def _asked(whole: Place, job: Place) -> dict[str, str]:
    """Options of a job with those of all jobs."""
    shared, own = whole.inside("global options"), job.inside("job options")
    if own is None:
        message = "what was asked of the job is not told, as old versions of fio leave it"
        raise job.bad("job options", message, "a table of the job's options")
    return {key: _option(of, key) for of in (shared, own) if of for key in of.table}


def _option(of: Place, key: str) -> str:
    """An option's value as a line of a job file can have it."""
    value = of.table[key]
    plain = isinstance(value, str | int | float) and len(str(value).splitlines()) < 2
    if not plain or not OPTION.fullmatch(key):
        raise of.bad(key, "this is no option of a job", "KEY and VALUE as a job file has them")
    return str(value)
