"""fio's JSON results: keys, checked values, states of one run, sections of a job file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput
from tameshi.core.reasons import Reason, reason

# Keys that the writer and the reader share.
VERSION = "fio version"
GLOBAL_OPTIONS = "global options"
JOB_OPTIONS = "job options"
JOB_NAME = "jobname"
GROUP = "groupid"
ELAPSED = "elapsed"
JOB_RUNTIME = "job_runtime"
RUNTIME = "runtime"
COUNT = "total_ios"
BYTES = "io_bytes"
IOPS = "iops"
IOPS_SAMPLES = "iops_samples"
IOPS_DEVIATION = "iops_stddev"
TOTAL_LATENCY = "lat_ns"
COMPLETION_LATENCY = "clat_ns"
PERCENTILES = "percentile"
MEAN = "mean"
LEAST = "min"
GREATEST = "max"
DISKS = "disk_util"
ERROR = "error"
TIMESTAMP_MS = "timestamp_ms"
JOBS = "jobs"
SYNCS = "sync"
CLIENT_JOBS = "client_stats"

MAX_VALUE = 1e15
"""Upper bound on any rate per second and any latency in ns."""
LATENCIES = ((TOTAL_LATENCY, 1.0), (COMPLETION_LATENCY, 1.0), ("lat", 1e3), ("clat", 1e3))
"""Names of fio's latencies, total before completion, and the unit in ns: fio 3 counts ns, fio 2
counts µs."""
ROUNDING = 1 / 64
"""Relative error of fio's percentiles, which are bin values."""
UNIT = 1.0
"""Absolute error of fio's rounding to whole units."""
SHOWN_CHARACTERS = 60
"""Characters of a value shown in an error."""


@dataclass(frozen=True)
class Table:
    """Table of fio's JSON with its place."""

    file: str
    job: str
    key: str
    fields: Mapping[str, Any]

    def bad(self, key: str, message: str, *accepted: str) -> BadInput:
        """Return the error of one of the table's values."""
        found = (
            json.dumps(self.fields[key])[:SHOWN_CHARACTERS] if key in self.fields else "no such key"
        )
        where = f"{self.file}: job {self.job}" if self.job else self.file
        return BadInput(message, where=where, key=self.path(key), found=found, accepted=accepted)

    def path(self, key: str) -> str:
        """Return a key with its parents."""
        return f"{self.key}.{key}" if self.key else key

    def inside(self, key: str) -> Table | None:
        """Return a table inside this one, if it exists."""
        if key not in self.fields:
            return None
        if not isinstance(self.fields[key], dict):
            raise self.bad(key, "not a table", "a table, as fio writes it")
        return Table(self.file, self.job, self.path(key), self.fields[key])

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number that is not negative, or `default` if it is absent."""
        if key not in self.fields and default is not None:
            return default
        value = number_of(self.fields.get(key))
        if value is None or value < 0:
            raise self.bad(key, "not a number that fio writes", "a number, zero or more")
        return value

    def above_zero(self, key: str) -> float:
        """Return a number greater than zero."""
        value = self.number(key)
        if value == 0:
            raise self.bad(key, "requests were counted, but this is zero", "a number above zero")
        return value


def number_of(value: Any) -> float | None:
    """Return a JSON number that a device can have, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= MAX_VALUE else None


def count_of(side: Table) -> float:
    """Return the counted requests of a direction, or the bytes of an old fio."""
    return side.number(COUNT, side.number(BYTES, 0.0))


def latencies_of(side: Table) -> tuple[float, Sequence[tuple[float, float]]] | None:
    """Return mean and quantiles of a direction's latencies in ns; None if fio recorded none.

    Percentiles are those that fio lists: total latencies, or else completion latencies.
    """
    known = [(table, ns) for key, ns in LATENCIES if (table := side.inside(key)) is not None]
    if not known:
        message = "the latencies that a fit needs are missing"
        raise side.bad(TOTAL_LATENCY, message, "lat_ns or clat_ns of fio 3", "lat or clat of fio 2")
    recorded = [(table, ns) for table, ns in known if mean_of(table) > 0]
    if not recorded:
        return None
    mean, unit = recorded[0]
    listing = [(table, ns) for table, ns in recorded if table.fields.get(PERCENTILES)]
    return mean_of(mean) * unit, quantiles_of(*(listing or recorded)[0])


def mean_of(latencies: Table) -> float:
    """Return the mean of latencies, which lies between min and max if these are known."""
    mean = latencies.number(MEAN)
    if mean > 0 and {LEAST, GREATEST} <= latencies.fields.keys():
        least, most = _ends(latencies)
        if not least - UNIT <= mean <= most + UNIT:
            raise latencies.bad(MEAN, "the mean is not between min and max", _between(least, most))
    return mean


def _ends(latencies: Table) -> tuple[float, float]:
    """Return the least and the greatest latency."""
    least, most = latencies.number(LEAST), latencies.number(GREATEST)
    if least > most:
        raise latencies.bad(LEAST, "greater than max", f"{most:.15g} or less")
    return least, most


def _between(least: float, most: float) -> str:
    return f"{least:.15g} to {most:.15g}"


def quantiles_of(latencies: Table, ns: float) -> Sequence[tuple[float, float]]:
    """Return shares with their latency bounds, from min to max."""
    listed = latencies.inside(PERCENTILES)
    points = []
    least, most = _ends(latencies)
    for key in listed.fields if listed else ():
        percent = _percent(key)
        if listed is None or percent is None:
            raise latencies.bad(PERCENTILES, f"`{key}` is not a percentile", "0 to 100")
        if percent > 0:  # fio 2 pads its list with zeros
            points.append((percent / 100, listed.number(key), key))
    if listed:
        _check(listed, sorted(points), least, most)
    within = [(share, min(max(value, least), most) * ns) for share, value, _ in sorted(points)]
    return [(0.0, least * ns), *within, (1.0, most * ns)]


def _check(
    listed: Table, points: Sequence[tuple[float, float, str]], least: float, most: float
) -> None:
    """Raise `BadInput` for percentiles that fall, or lie outside min and max."""
    before = 0.0
    for _, value, key in points:
        if not least * (1 - ROUNDING) - UNIT <= value <= most * (1 + ROUNDING) + UNIT:
            message = "this percentile is not between min and max"
            raise listed.bad(key, message, _between(least, most))
        if value < before:
            message = "less than the percentile below it"
            raise listed.bad(key, message, f"{before:.15g} or more")
        before = value


def _percent(text: str) -> float | None:
    try:
        percent = float(text)
    except ValueError:
        return None
    return percent if 0 <= percent <= 100 else None


JOB_LISTS = (JOBS, CLIENT_JOBS)
"""Keys of job lists: fio's own, and that of `fio --client`."""
ROUNDING_S = 1.0
"""fio rounds the elapsed time up to whole seconds."""


def is_fio(document: Any) -> bool:
    """Return whether a JSON document is fio's."""
    known = isinstance(document, dict) and VERSION in document
    return known and any(key in document for key in JOB_LISTS)


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
    before, after = list(_jobs_of_state(earlier)), list(_jobs_of_state(later))
    known = [[job.get(JOB_NAME) for job in jobs] for jobs in (before, after)]
    counts = [[_requests(job) for job in jobs] for jobs in (before, after)]
    return known[0] == known[1] and all(b <= a for b, a in zip(*counts, strict=True))


def _begin_s(document: Mapping[str, Any]) -> float | None:
    """Return the start of a run: time of the document less the elapsed time."""
    written_ms = number_of(document.get(TIMESTAMP_MS))
    passed = [
        s for job in _jobs_of_state(document) if (s := number_of(job.get(ELAPSED))) is not None
    ]
    return written_ms / 1000 - max(passed) if written_ms is not None and passed else None


def _jobs_of_state(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = document.get(JOBS)
    yield from (job for job in listed if isinstance(job, dict)) if isinstance(listed, list) else ()


def _requests(job: Mapping[str, Any]) -> float:
    """Return the reads and writes of a job."""
    sides = [side for kind in ("read", "write") if isinstance(side := job.get(kind), dict)]
    return sum(number_of(side.get(COUNT)) or 0.0 for side in sides)


OPTION_NAME = re.compile(r"[A-Za-z0-9_-]+")
OF_ALL = "All clients"
"""Name of the sum in `fio --client`."""
SHOWN_NAMES = 3
"""Names of sections and servers shown in a sentence."""
CLOCKS = 1.01
"""Tolerated ratio of times from different clocks."""


@dataclass(frozen=True)
class Section:
    """Options of a section, and the results of its clones per repetition."""

    name: str
    options: Mapping[str, str]
    rounds: Sequence[Sequence[Table]]
    beside: Sequence[str] = ()
    """Other sections of its group, which fio starts together."""

    @property
    def at_once(self) -> Reason | None:
        """Return why other streams may have run concurrently; None if none can have."""
        if not self.beside:
            return None
        return reason("shared_group", sections=_name_list(self.beside))


def sections_of(document: Table) -> list[Section]:
    """Return the sections in the order of their jobs.

    Raises `BadInput` for invalid lists, jobs of several servers, and sections of unknown
    concurrency.
    """
    rounds: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for job in _jobs(document):
        key = (str(job.get(JOB_NAME)), json.dumps(job.get(JOB_OPTIONS), sort_keys=True))
        group = json.dumps(job.get(GROUP))
        rounds.setdefault(key, {}).setdefault(group, []).append(job)
    names = _unique(name for name, _ in rounds)
    _refuse_unknown_concurrency(document, rounds.values())
    sections = []
    for name, groups in zip(names, rounds.values(), strict=True):
        others = zip(names, rounds.values(), strict=True)
        known = groups.keys() - {"null"}
        beside = [other for other, its in others if other != name and known & its.keys()]
        repetitions = [
            [Table(document.file, name, "", job) for job in jobs] for jobs in groups.values()
        ]
        sections.append(Section(name, _options(document, repetitions[0][0]), repetitions, beside))
    return sections


def _jobs(document: Table) -> Sequence[Mapping[str, Any]]:
    """Return the jobs that fio lists, its own or those of one server."""
    key = JOBS if JOBS in document.fields else CLIENT_JOBS
    jobs = document.fields[key]
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise document.bad(key, "not a list of jobs", "a list of tables, as fio writes it")
    if key == JOBS:
        return jobs
    jobs = [job for job in jobs if job.get(JOB_NAME) != OF_ALL]
    servers = dict.fromkeys(f"{job.get('hostname')}:{job.get('port')}" for job in jobs)
    if len(servers) > 1:
        message = "these are results of several fio servers, and a profile describes one device"
        accepted = ["results of one server"]
        found = _name_list(list(servers))
        raise BadInput(message, where=document.file, key=key, found=found, accepted=accepted)
    return jobs


def _unique(names: Iterable[str]) -> list[str]:
    taken: dict[str, None] = {}
    for name in names:
        taken[name if name not in taken else f"{name} ({len(taken) + 1})"] = None
    return list(taken)


def _name_list(names: Sequence[str]) -> str:
    more = [f"{len(names) - SHOWN_NAMES} more"] if len(names) > SHOWN_NAMES else []
    return ", ".join([*names[:SHOWN_NAMES], *more])


def _refuse_unknown_concurrency(
    document: Table, sections: Iterable[Mapping[str, Sequence[Mapping[str, Any]]]]
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
                place = Table(document.file, str(job.get(JOB_NAME)), "", job)
                elapsed_s = max(elapsed_s, place.number(ELAPSED, 0.0))
                times_ms[group] = max(times_ms.get(group, 0.0), _time_ms(place))
    sum_s = sum(times_ms.values()) / 1000
    if elapsed_s and sum_s > elapsed_s * CLOCKS:
        raise BadInput(
            (
                "several streams ran concurrently in these groups of jobs, and the results "
                "don't tell which"
            ),
            where=document.file,
            key=f"{JOBS}.{ELAPSED}",
            found=f"{sum_s:.1f} s of {len(times_ms)} groups in {elapsed_s:.0f} s",
            accepted=["groups in sequence, as with `stonewall`"],
        )


def in_one_entry(job: Table, options: Mapping[str, str]) -> int:
    """Return the number of jobs in an entry of `group_reporting`, at least one.

    fio reports all sections of a group as one, with the options of the last and the sum of
    runtimes.
    """
    longest_ms = _time_ms(job)
    if "group_reporting" not in options or not longest_ms:
        return 1
    return max(round(job.number(JOB_RUNTIME, 0.0) / longest_ms), 1)


def _time_ms(job: Table) -> float:
    """Return how long a job read or wrote."""
    sides = [side for kind in ("read", "write") if (side := job.inside(kind))]
    return max((side.number(RUNTIME, 0.0) for side in sides), default=0.0)


def _options(document: Table, job: Table) -> dict[str, str]:
    """Return the options of a job, including the global ones."""
    shared, own = document.inside(GLOBAL_OPTIONS), job.inside(JOB_OPTIONS)
    if own is None:
        message = "the options of the job are missing, as in old versions of fio"
        raise job.bad(JOB_OPTIONS, message, "a table of the job's options")
    return {key: _option(table, key) for table in (shared, own) if table for key in table.fields}


def _option(table: Table, key: str) -> str:
    """Return an option's value in the form of a job file."""
    value = table.fields[key]
    plain = isinstance(value, str | int | float) and len(str(value).splitlines()) < 2
    if not plain or not OPTION_NAME.fullmatch(key):
        raise table.bad(key, "not an option of a job", "KEY and VALUE as a job file has them")
    return str(value)
