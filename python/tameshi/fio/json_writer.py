"""fio's JSON from a sealed run, as fio-plot and other readers of fio's results expect it."""

from __future__ import annotations

import errno
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from tameshi.fio.bins import Latencies, middle_of
from tameshi.fio.goals import Limits
from tameshi.fio.job import Job
from tameshi.fio.jobfile import Setting
from tameshi.fio.json import (
    BYTES,
    COMPLETION_LATENCY,
    COUNT,
    DISKS,
    ELAPSED,
    ERROR,
    GLOBAL_OPTIONS,
    GREATEST,
    GROUP,
    IOPS,
    IOPS_DEVIATION,
    IOPS_SAMPLES,
    JOB_NAME,
    JOB_OPTIONS,
    JOB_RUNTIME,
    JOBS,
    LEAST,
    MEAN,
    PERCENTILES,
    RUNTIME,
    SYNCS,
    TIMESTAMP_MS,
    TOTAL_LATENCY,
    VERSION,
)
from tameshi.fio.keys import ENGINES
from tameshi.fio.measured import DIRECTIONS, NS, Direction, Measured, Record, Submission, disks
from tameshi.fio.streams import Stream
from tameshi.fio.translate import Translation
from tameshi.record.store import SealedRun

_SETTLED_NS = 2 * NS
"""Start of rate checks, after the begin of a job."""


def exceeded_limit(limits: Limits, measured: Measured) -> tuple[int, str] | None:
    """Return fio's error number and a sentence for the first exceeded limit."""
    for place, word in enumerate(("read", "write", "trim")):
        direction = measured.direction(word)
        longest = max(direction.latencies.values, default=0)
        if limits.latency_ns and longest > limits.latency_ns:
            message = f"max_latency: a {word} took {longest} ns, more than {limits.latency_ns} ns"
            return errno.ETIMEDOUT, message
        least_bytes, least_ios = limits.bytes_per_second[place], limits.ios_per_second[place]
        if not least_bytes and not least_ios:
            continue
        for at_ns, ios, size in _rates_per_cycle(direction, limits.cycle_ns):
            if size < least_bytes:
                message = f"rate_min: {size:.0f} B/s, less than {least_bytes}"
            elif ios < least_ios:
                message = f"rate_iops_min: {ios:.1f} /s, fewer than {least_ios}"
            else:
                continue
            return errno.EIO, f"{message}, {at_ns / NS:.1f} s after the start ({word})"
    return None


def _rates_per_cycle(direction: Direction, cycle_ns: int) -> Iterator[tuple[int, float, float]]:
    """Yield times with operations and bytes per second since the previous check.

    As in fio, a check needs a completion and a full cycle.
    """
    since, ios, size = 0, 0, 0
    for end, (count, moved, _) in sorted(direction.samples.items()):
        ios, size = ios + count, size + moved
        if not count or end < _SETTLED_NS or end - since < cycle_ns:
            continue
        yield end, ios * NS / (end - since), size * NS / (end - since)
        since, ios, size = end, 0, 0


SCHEMA_VERSION = 1
"""Version of Tameshi's additions; 1 is the first."""
FORM = "fio-3.33"
"""fio version with the same keys, units and bins."""
RATE = "rate"
"""Axis of the loads of a search."""
LEVELS = ("1", "2", "4", "8", "16", "32", ">=64")
BATCHES = ("0", "4", "8", "16", "32", "64", ">=64")


def fio_json(
    run: SealedRun, translation: Translation, *, bins: bool, now_s: float | None = None
) -> dict[str, Any]:
    """Return the whole document; `bins` adds the bins of `json+`."""
    now = time.time() if now_s is None else now_s
    record = Record(run)
    entries = [record.measured(streams) for streams in grouped(translation.streams)]
    rates = _group_rates(entries)
    shared = translation.streams[0].job.text.shared
    return {
        "schema_version": SCHEMA_VERSION,
        VERSION: fio_version(),
        "timestamp": int(now),
        TIMESTAMP_MS: int(now * 1000),
        "time": time.strftime("%a %b %e %H:%M:%S %Y", time.localtime(now)),
        GLOBAL_OPTIONS: _options(shared),
        JOBS: [_job(entry, rates, bins) for entry in entries],
        DISKS: disks(run),
    }


def fio_version() -> str:
    """Return the version of fio's formats with Tameshi's own, as programs that run fio ask for."""
    return f"{FORM}-tameshi-{version('tameshi')}"


def best_of(runs: Sequence[SealedRun], translation: Translation) -> tuple[SealedRun, str]:
    """Select the run to report, and say why.

    The only run; of a search, the one with the highest load for which all loads up to it keep the
    latency, or else the one with the lowest load.
    """
    stream = translation.streams[0]
    target = stream.job.goals.target
    rated = {float(run.spec.cell[RATE]): run for run in runs if RATE in run.spec.cell}
    if not target or not rated:
        return runs[0], ""
    best: float | None = None
    for rate, run in sorted(rated.items()):
        measured = Record(run).measured([stream])
        latencies = Latencies()
        for word in DIRECTIONS:
            latencies.merge(measured.direction(word).latencies)
        found_ns = latencies.percentiles([target.percentile])[target.percentile]
        if not latencies.count or found_ns > target.below_us * 1000:
            break
        best = rate
    wanted = f"{target.percentile:g} % within {target.below_us} us"
    if best is None:
        return rated[
            min(rated)
        ], f"no load keeps {wanted}; these are the results of the lowest load"
    return rated[best], f"{best:g} requests/s is the highest tested load that keeps {wanted}"


def errors_of(run: SealedRun, translation: Translation) -> list[str]:
    """Return a sentence per job that fio would have ended with an error."""
    record = Record(run)
    entries = [record.measured(streams) for streams in grouped(translation.streams)]
    errors = [(entry.streams[0].job.name, error_of(entry)) for entry in entries]
    return [f"{name}: {message} (error {number})" for name, (number, message) in errors if number]


def grouped(streams: Sequence[Stream]) -> list[list[Stream]]:
    """Group streams as fio reports them: per clone, or per group with group reporting."""
    groups: list[list[Stream]] = []
    for stream in streams:
        last = groups[-1][-1] if groups else None
        one = last is not None and last.job is stream.job and last.clone == stream.clone
        together = one or (
            last is not None
            and last.group == stream.group
            and last.phase == stream.phase
            and last.job.group_reporting
            and stream.job.group_reporting
        )
        if together:
            groups[-1].append(stream)
        else:
            groups.append([stream])
    return groups


def _options(settings: Sequence[Setting]) -> dict[str, str]:
    """Return settings as fio reports them: strings, without bare keys."""
    return {setting.key: setting.value for setting in settings if setting.value is not None}


def _job(measured: Measured, rates: Mapping[tuple[int, str], float], bins: bool) -> dict[str, Any]:
    first = measured.streams[0]
    job = first.job
    runtime_ms = measured.runtime_ns // 1_000_000
    all_latencies = Latencies()
    for word in DIRECTIONS:
        all_latencies.merge(measured.direction(word).latencies)
    own = _options(job.text.own)
    if job.name != job.text.name:
        own = {"name": job.name, **own}
    return {
        JOB_NAME: job.name,
        GROUP: first.group,
        "job_start": 0,
        ERROR: error_of(measured)[0],
        "eta": 0,
        ELAPSED: math.ceil(measured.runtime_ns / NS),
        JOB_OPTIONS: own,
        **{word: _direction(measured, word, rates, bins) for word in DIRECTIONS},
        SYNCS: _syncs(measured.direction("sync"), job, bins),
        JOB_RUNTIME: runtime_ms,
        "usr_cpu": _percent(measured.usage["user_ns"], measured.clone_ns),
        "sys_cpu": _percent(measured.usage["system_ns"], measured.clone_ns),
        "ctx": measured.usage["switches"],
        "majf": measured.usage["major_faults"],
        "minf": measured.usage["minor_faults"],
        "iodepth_level": _shares(LEVELS, measured.depth),
        "iodepth_submit": _shares(BATCHES, measured.submitted),
        "iodepth_complete": _shares(BATCHES, measured.completed),
        **all_latencies.shares(),
        "latency_depth": job.depth,
        **_target(job),
        **_failures(measured, job),
        **_steady(measured, job),
    }


def error_of(measured: Measured) -> tuple[int, str]:
    """Return fio's error number for such a job, and a sentence; 0 without error."""
    job = measured.streams[0].job
    fatal = job.failures.fatal(measured.failures)
    return fatal or exceeded_limit(job.goals.limits, measured) or (0, "")


def _failures(measured: Measured, job: Job) -> dict[str, Any]:
    """Return the tolerated errors of jobs with `continue_on_error`."""
    if not job.failures.kinds:
        return {}
    counted = job.failures.counted(measured.failures)
    first = counted[0][1] if counted else 0
    return {"total_err": sum(count for *_, count in counted), "first_error": first}


def _target(job: Job) -> dict[str, Any]:
    """Return the latency target: ns, per cent, µs."""
    target = job.goals.target
    return {
        "latency_target": target.below_us * 1000 if target else 0,
        "latency_percentile": target.percentile if target else 100.0,
        "latency_window": target.window_us if target else 0,
    }


def _steady(measured: Measured, job: Job) -> dict[str, Any]:
    if not job.goals.steady:
        return {}
    attained = bool(measured.rounds and measured.rounds["attained"])
    return {"steadystate": job.goals.steady.found(measured.samples(), attained)}


def _percent(part: float, total: float) -> float:
    return round(100 * part / total, 6) if total else 0.0


def _shares(names: Sequence[str], counts: Sequence[int]) -> dict[str, float]:
    total = sum(counts)
    return {name: _percent(count, total) for name, count in zip(names, counts, strict=True)}


def _direction(
    measured: Measured, word: str, rates: Mapping[tuple[int, str], float], bins: bool
) -> dict[str, Any]:
    direction = measured.direction(word)
    job = measured.streams[0].job
    count = direction.latencies.count
    runtime_ns = measured.runtime_ns if count else 0
    seconds = runtime_ns / NS
    bytes_per_second = direction.bytes / seconds if seconds else 0.0
    return {
        BYTES: direction.bytes,
        "io_kbytes": direction.bytes // 1024,
        "bw_bytes": int(bytes_per_second),
        "bw": int(bytes_per_second / 1024),
        IOPS: round(count / seconds, 6) if seconds else 0.0,
        RUNTIME: runtime_ns // 1_000_000,
        COUNT: count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _submission(measured, word).as_json(),
        COMPLETION_LATENCY: _latency(direction.latencies, job, job.clat_percentiles, bins),
        TOTAL_LATENCY: _latency(direction.latencies, job, job.lat_percentiles, bins),
        **_samples(measured, direction, rates.get((measured.streams[0].group, word), 0.0)),
    }


def _submission(measured: Measured, word: str) -> Submission:
    """Return submission times; synchronous requests have none, as in fio."""
    if ENGINES[measured.streams[0].job.engine] == "sync":
        return Submission()
    return measured.submission.get(word, Submission())


def _syncs(direction: Direction, job: Job, bins: bool) -> dict[str, Any]:
    latencies = direction.latencies
    return {COUNT: latencies.count, TOTAL_LATENCY: _latency(latencies, job, True, bins)}


def _latency(
    latencies: Latencies, job: Job | None = None, percentiles: bool = False, bins: bool = False
) -> dict[str, Any]:
    entry: dict[str, Any] = {
        LEAST: min(latencies.values, default=0),
        GREATEST: max(latencies.values, default=0),
        MEAN: round(latencies.mean, 6),
        "stddev": round(latencies.deviation, 6),
        "N": latencies.count,
    }
    if job and percentiles and latencies.count:
        listed = latencies.percentiles(job.percentiles)
        entry[PERCENTILES] = {f"{percent:.6f}": value for percent, value in listed.items()}
        if bins:
            numbered = latencies.bins().items()
            entry["bins"] = {str(middle_of(number)): count for number, count in numbered}
    return entry


def rates_of(measured: Measured, direction: Direction) -> list[tuple[float, float]]:
    """Return KiB and operations per second of each whole interval; for a short run, of the partial
    one."""
    samples: list[tuple[float, float, int]] = []
    before = 0
    for end, (count, size, _) in sorted(direction.samples.items()):
        length = min(end - before, measured.interval_ns) if end > before else 0
        before = end
        if length and count:
            samples.append((size / 1024 * NS / length, count * NS / length, length))
    complete = [sample for sample in samples if sample[2] >= measured.interval_ns // 2]
    return [(bandwidth, operations) for bandwidth, operations, _ in complete or samples]


def _group_rates(entries: Sequence[Measured]) -> dict[tuple[int, str], float]:
    """Return mean KiB per second of each group and direction, the base of a job's share."""
    totals: dict[tuple[int, str], float] = {}
    for entry in entries:
        for word in DIRECTIONS:
            mean, _ = _mean([sample[0] for sample in rates_of(entry, entry.direction(word))])
            key = (entry.streams[0].group, word)
            totals[key] = totals.get(key, 0.0) + mean
    return totals


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation."""
    if not values:
        return 0.0, 0.0
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _samples(measured: Measured, direction: Direction, of_group: float) -> dict[str, Any]:
    samples = rates_of(measured, direction)
    bandwidths = [sample[0] for sample in samples]
    operations = [sample[1] for sample in samples]
    bandwidth, deviation = _mean(bandwidths)
    iops, iops_deviation = _mean(operations)
    return {
        "bw_min": int(min(bandwidths, default=0)),
        "bw_max": int(max(bandwidths, default=0)),
        "bw_agg": min(100.0, _percent(bandwidth, of_group)),
        "bw_mean": round(bandwidth, 6),
        "bw_dev": round(deviation, 6),
        "bw_samples": len(samples),
        "iops_min": int(min(operations, default=0)),
        "iops_max": int(max(operations, default=0)),
        "iops_mean": round(iops, 6),
        IOPS_DEVIATION: round(iops_deviation, 6),
        IOPS_SAMPLES: len(samples),
    }
