"""Results of fio as JSON: groups of jobs as phases, repeated groups as repetitions."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi.archives.model import SECOND_NS, Archive, Figure, ImportedPhase
from tameshi.archives.text_results import refuse_newer
from tameshi.core.errors import BadInput
from tameshi.fio.bearing import without_bearing
from tameshi.fio.json import (
    BYTES,
    COUNT,
    ERROR,
    GREATEST,
    IOPS,
    JOB_RUNTIME,
    LATENCIES,
    PERCENTILES,
    RUNTIME,
    SYNCS,
    TOTAL_LATENCY,
    VERSION,
    Section,
    Table,
    count_of,
    mean_of,
    quantiles_of,
    sections_of,
)
from tameshi.fio.recorded import OF_THE_RUN, planned_clone, stream_fields

TOOL = "fio"
NEWEST = 3
STORAGE = "disk"
"""Storage of every stream."""
KINDS = ("read", "write", "trim")
BINS = "bins"
"""Histogram of `json+`: latencies with their counts."""
SHARES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
PLACEHOLDER_BYTES = str(1 << 40)
"""Size of a job of a whole device, whose size the results do not contain."""
RATE_TOLERANCE = 0.1
"""Tolerated difference of a rate from count and time, for times in rounded units."""
MOST_DROPPED = 40
"""Options without a stream, after which the stream counts as unknown."""
Notes = dict[str, list[str]]
"""Jobs by what is to be noted of them."""
OF_A_SIZE = ("offset", "span")


def read(path: Path, document: Mapping[str, Any]) -> Archive:
    """Return the figures of one run of fio; raise `BadInput` without any."""
    version = str(document[VERSION])
    refuse_newer(path, TOOL, re.sub(r"\D*", "", version, count=1), NEWEST, "fio up to 3.x")
    notes: Notes = {}
    repeated: dict[tuple[str, ...], list[list[tuple[Section, Sequence[Table]]]]] = {}
    for section in sections_of(Table(str(path), "", "", document)):
        names = tuple(sorted((section.name, *section.beside)))
        rounds = repeated.setdefault(names, [])
        for number, jobs in enumerate(section.rounds):
            failed = next((job for job in jobs if job.number(ERROR, 0.0)), None)
            if failed is not None:
                _note(notes, "left out, it failed in fio", section.name)
                continue
            if len(rounds) <= number:
                rounds.append([])
            rounds[number].append((section, jobs))
    repetitions: list[list[ImportedPhase]] = []
    streams: dict[str, tuple[dict[str, Any], int | None] | None] = {}
    for rounds in repeated.values():
        for number, jobs_of_round in enumerate(rounds):
            phase = _phase(path, jobs_of_round, streams, notes)
            if phase is not None:
                if len(repetitions) <= number:
                    repetitions.append([])
                repetitions[number].append(phase)
    if not repetitions:
        found = "; ".join(_in_words(notes)) or "it lists no job that read or wrote"
        raise BadInput("no job here has figures", where=str(path), found=found)
    written = str(document.get("time", "")).strip()
    return Archive(
        TOOL,
        version.removeprefix("fio-"),
        repetitions,
        notes=_in_words(notes),
        written=written,
    )


def _phase(
    path: Path,
    sections: Sequence[tuple[Section, Sequence[Table]]],
    streams: dict[str, tuple[dict[str, Any], int | None] | None],
    notes: Notes,
) -> ImportedPhase | None:
    """Return the jobs of a group as a phase; None if none of them read or wrote."""
    figures: list[Figure] = []
    described = []
    sizes: list[int | None] = []
    length_ms = 0.0
    for section, jobs in sections:
        if _contradicts(jobs):
            _note(notes, "left out, its rate contradicts its count and time", section.name)
            continue
        own = list(_figures(section.name, jobs))
        if not own:
            _note(notes, "left out, no operation was counted", section.name)
            continue
        figures += own
        length_ms = max(length_ms, *(_time_ms(job) for job in jobs))
        if section.name not in streams:
            streams[section.name] = _stream(path, section, notes)
        if known := streams[section.name]:
            described.append({"name": section.name, "storage": STORAGE, "stream": known[0]})
            sizes.append(known[1])
    if not figures:
        return None
    name = next(section.name for section, _ in sections)
    length_ns = round(length_ms * SECOND_NS / 1000)
    size = max((size for size in sizes if size), default=None) if all(sizes) else None
    return ImportedPhase(name, length_ns, figures, described, size_bytes=size)


def _note(notes: Notes, words: str, job: str) -> None:
    """Note a fact of a job once."""
    jobs = notes.setdefault(words, [])
    if job not in jobs:
        jobs.append(job)


def _in_words(notes: Notes) -> list[str]:
    """Return a sentence per fact, with its jobs."""
    return [
        f"{'job' if len(jobs) == 1 else 'jobs'} {', '.join(jobs)}: {words}"
        for words, jobs in notes.items()
    ]


def _contradicts(jobs: Sequence[Table]) -> bool:
    """Return whether a rate differs from the counted operations in the time."""
    sides = [side for job in jobs for kind in KINDS if (side := job.inside(kind))]
    for side in sides:
        milliseconds, count = side.number(RUNTIME, 0.0), side.number(COUNT, 0.0)
        if milliseconds and count:
            counted = count / milliseconds * 1000
            if abs(side.number(IOPS) - counted) > RATE_TOLERANCE * counted + 1:
                return True
    return False


def _stream(path: Path, section: Section, notes: Notes) -> tuple[dict[str, Any], int | None] | None:
    """Return a job's stream and the size of its storage, without the options that no stream has.

    Each such option is noted.
    """
    options, ignored = without_bearing(section.options)
    options = {key: value for key, value in options.items() if key not in OF_THE_RUN}
    clones = section.options.get("numjobs", "1")
    whole = not {"size", "filesize"} & options.keys() or "%" in options.get("size", "")
    if whole:
        options["size"] = PLACEHOLDER_BYTES
    for _ in range(MOST_DROPPED):
        try:
            phase, size = planned_clone(path, options, None)
        except BadInput as refused:
            key = refused.key.rpartition(".")[2]
            if key not in options:
                _note(notes, f"its stream is unknown ({refused.message})", section.name)
                return None
            ignored.append(f"{key}={options.pop(key)}")
            continue
        fields = stream_fields(phase)
        for key in OF_A_SIZE if whole else ():
            fields.pop(key, None)
        if ignored:
            _note(notes, f"no stream of a study has {', '.join(ignored)}", section.name)
        fields["jobs"] = int(clones) if clones.isdigit() else 1
        return fields, None if whole else size
    return None


def _time_ms(job: Table) -> float:
    """Return how long a job ran: fio counts no time of reads or writes for syncs alone."""
    sides = [side for kind in KINDS if (side := job.inside(kind))]
    times = [side.number(RUNTIME, 0.0) for side in sides if count_of(side)]
    return max(times, default=0.0) or job.number(JOB_RUNTIME, 0.0)


def _figures(name: str, jobs: Sequence[Table]) -> Iterator[Figure]:
    """Yield the figures of a job over its clones."""
    counts: dict[str, float] = {}
    means: dict[str, float] = {}
    for kind in KINDS:
        sides = [side for job in jobs if (side := job.inside(kind)) and count_of(side)]
        if not sides:
            continue
        counts[kind] = sum(count_of(side) for side in sides)
        yield Figure(name, f"{kind}.iops", sum(side.number(IOPS) for side in sides))
        moved = [_bandwidth(side) for side in sides]
        if all(moved):
            yield Figure(name, f"{kind}.bandwidth", sum(moved))
        for figure in _latencies(name, kind, sides):
            if figure.metric.endswith(".mean"):
                means[kind] = figure.value
            yield figure
    yield from _syncs(name, jobs, counts, means)


def _bandwidth(side: Table) -> float:
    """Return bytes per second; zero if unknown."""
    milliseconds = side.number(RUNTIME, 0.0)
    return side.number(BYTES, 0.0) / milliseconds * 1000 if milliseconds else 0.0


def _latencies(name: str, kind: str, sides: Sequence[Table]) -> Iterator[Figure]:
    """Yield total latencies: mean, deviation and maximum of all clones.

    Percentiles of several clones need the histograms of `json+`.
    """
    tables = [_of_side(side) for side in sides]
    if not all(tables):
        return
    weights = [count_of(side) for side in sides]
    count = sum(weights)
    totals = [(table[0], table[1]) for table in tables if table]
    means = [mean_of(total) * ns for total, ns in totals]
    mean = sum(n * value for n, value in zip(weights, means, strict=True)) / count
    yield Figure(name, f"{kind}.latency.mean", mean)
    deviations = [total.number("stddev", -1.0) * ns for total, ns in totals]
    if min(deviations) >= 0:
        squares = (n * (d * d + m * m) for n, d, m in zip(weights, deviations, means, strict=True))
        deviation = math.sqrt(max(sum(squares) / count - mean * mean, 0.0))
        yield Figure(name, f"{kind}.latency.stddev", deviation, int(count))
    longest = max(total.number(GREATEST, 0.0) * ns for total, ns in totals)
    if longest:
        yield Figure(name, f"{kind}.latency.max", longest, int(count))
    listing = [(table[2], table[3]) for table in tables if table]
    for statistic, share in SHARES.items():
        value = _quantile(listing, share)
        if value is not None:
            yield Figure(name, f"{kind}.latency.{statistic}", value)


def _of_side(side: Table) -> tuple[Table, float, Table, float] | None:
    """Return the total latencies of a direction and those with percentiles, with their units."""
    known = [(table, ns) for key, ns in LATENCIES if (table := side.inside(key)) is not None]
    recorded = [(table, ns) for table, ns in known if mean_of(table) > 0]
    if not recorded:
        return None
    listing = [(table, ns) for table, ns in recorded if table.fields.get(PERCENTILES)]
    return (*recorded[0], *(listing or recorded)[0])


def _quantile(listing: Sequence[tuple[Table, float]], share: float) -> float | None:
    """Return a quantile over clones, from their histograms or from the list of a single one."""
    if all(table.fields.get(BINS) for table, _ in listing):
        counts: dict[float, float] = {}
        for table, ns in listing:
            bins = table.inside(BINS)
            for key in bins.fields if bins else ():
                if bins is None or not re.fullmatch(r"\d+", key):
                    raise table.bad(BINS, f"`{key}` is not a latency", "nanoseconds")
                counts[int(key) * ns] = counts.get(int(key) * ns, 0.0) + bins.number(key)
        wanted, passed = share * sum(counts.values()), 0.0
        for value in sorted(counts):
            passed += counts[value]
            if passed >= wanted:
                return value
    if len(listing) > 1:
        return None
    table, ns = listing[0]
    points = quantiles_of(table, ns)
    return next((value for at, value in points if abs(at - share) < 1e-9), None)


def _syncs(
    name: str, jobs: Sequence[Table], counts: Mapping[str, float], means: Mapping[str, float]
) -> Iterator[Figure]:
    """Yield syncs of a single clone; commits if each write is followed by one sync."""
    syncs = jobs[0].inside(SYNCS) if len(jobs) == 1 else None
    latencies = syncs.inside(TOTAL_LATENCY) if syncs else None
    if syncs is None or latencies is None:
        return
    count = syncs.number(COUNT, 0.0) or latencies.number("N", 0.0)
    length_ms = _time_ms(jobs[0])
    if not count or not length_ms:
        return
    rate, mean = count / length_ms * 1000, mean_of(latencies)
    yield Figure(name, "sync.rate", rate)
    yield Figure(name, "sync.latency.mean", mean)
    yield Figure(name, "sync.latency.max", latencies.number(GREATEST), int(count))
    for statistic, share in SHARES.items():
        value = _quantile([(latencies, 1.0)], share)
        if value is not None:
            yield Figure(name, f"sync.latency.{statistic}", value)
    if set(counts) == {"write"} and abs(count - counts["write"]) <= 1 and "write" in means:
        yield Figure(name, "commit.rate", rate)
        yield Figure(name, "commit.latency.mean", means["write"] + mean)
