"""Sections of a job file in fio's results: clones, repetitions, and concurrency."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.calibrate.fio_figures import Place
from tameshi.core.errors import BadInput

OPTION = re.compile(r"[A-Za-z0-9_-]+")
OF_ALL = "All clients"
"""Name of the sum in `fio --client`."""
SHOWN = 3
"""Names of sections and servers shown in a sentence."""
CLOCKS = 1.01
"""Tolerated ratio of times from different clocks."""


@dataclass(frozen=True)
class Section:
    """Options of a section, and the results of its clones per repetition."""

    name: str
    options: Mapping[str, str]
    rounds: Sequence[Sequence[Place]]
    beside: Sequence[str] = ()
    """Other sections of its group, which fio starts together."""

    @property
    def at_once(self) -> str:
        """Return why other streams may have run concurrently; empty if none can have."""
        if not self.beside:
            return ""
        others = _told(self.beside)
        return f"several streams may have run at once: it shares its group with {others}"


def sections_of(whole: Place) -> list[Section]:
    """Return the sections in the order of their jobs.

    Raises `BadInput` for invalid lists, jobs of several servers, and sections of unknown
    concurrency.
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
    """Return the jobs that fio lists, its own or those of one server."""
    key = "jobs" if "jobs" in whole.table else "client_stats"
    jobs = whole.table[key]
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise whole.bad(key, "not a list of jobs", "a list of tables, as fio writes it")
    if key == "jobs":
        return jobs
    jobs = [job for job in jobs if job.get("jobname") != OF_ALL]
    servers = dict.fromkeys(f"{job.get('hostname')}:{job.get('port')}" for job in jobs)
    if len(servers) > 1:
        message = "these are results of several fio servers, and a profile describes one device"
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
    """Raise `BadInput` if groups in sequence would have taken longer than fio's whole run.

    `new_group` without `stonewall` starts a group concurrently, and fio's results omit it from the
    options of a job.
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
            (
                "several streams ran concurrently in these groups of jobs, and the results "
                "don't tell which"
            ),
            where=whole.file,
            key="jobs.elapsed",
            found=f"{sum_s:.1f} s of {len(times_ms)} groups in {elapsed_s:.0f} s",
            accepted=["groups in sequence, as with `stonewall`"],
        )


def in_one_entry(job: Place, options: Mapping[str, str]) -> int:
    """Return the number of jobs in an entry of `group_reporting`, at least one.

    fio reports all sections of a group as one, with the options of the last and the sum of
    runtimes.
    """
    longest_ms = _time_ms(job)
    if "group_reporting" not in options or not longest_ms:
        return 1
    return max(round(job.number("job_runtime", 0.0) / longest_ms), 1)


def _time_ms(job: Place) -> float:
    """Return how long a job read or wrote."""
    sides = [side for kind in ("read", "write") if (side := job.inside(kind))]
    return max((side.number("runtime", 0.0) for side in sides), default=0.0)


def _asked(whole: Place, job: Place) -> dict[str, str]:
    """Return the options of a job, including the global ones."""
    shared, own = whole.inside("global options"), job.inside("job options")
    if own is None:
        message = "the options of the job are missing, as in old versions of fio"
        raise job.bad("job options", message, "a table of the job's options")
    return {key: _option(of, key) for of in (shared, own) if of for key in of.table}


def _option(of: Place, key: str) -> str:
    """Return an option's value in the form of a job file."""
    value = of.table[key]
    plain = isinstance(value, str | int | float) and len(str(value).splitlines()) < 2
    if not plain or not OPTION.fullmatch(key):
        raise of.bad(key, "not an option of a job", "KEY and VALUE as a job file has them")
    return str(value)
