"""Cells from fio's JSON results, `--output-format=json` or `json+`."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tameshi import fio
from tameshi.calibrate.cells import KINDS, SYNC, Cell, Figures
from tameshi.calibrate.fio_devices import refuse_several
from tameshi.calibrate.fio_figures import Place, count_of, figures_of, mean_of, quantiles_of
from tameshi.calibrate.fio_sections import Section, in_one_entry, sections_of
from tameshi.calibrate.fio_sizes import sized
from tameshi.calibrate.recorded import COMMIT, Recorded, unusable
from tameshi.core import compiled
from tameshi.core.errors import BadInput, listed
from tameshi.fio import values
from tameshi.study.file import StudyFile, plan

OF_THE_RUN = {"numjobs", "filename", "directory", "write_bw_log", "write_lat_log"}
NO_LATENCIES = "no latencies were recorded"
NO_SYNCS = "writes were to be made durable, and fio tells of no sync"


def read_fio(path: Path, document: Mapping[str, Any], device_bytes: int | None = None) -> Recorded:
    """Return the cells of fio's results, for a device or file of this size, if known.

    Raises `BadInput` for impossible values, jobs of several devices, a size that is needed and
    unknown, and jobs of unknown concurrency.
    """
    found = Recorded([], {"fio": document["fio version"]}, capacity=device_bytes)
    whole = Place(str(path), "", "", document)
    sections = sections_of(whole)
    refuse_several(whole, ((section.name, section.options) for section in sections))
    for section in sections:
        jobs = [job for clones in section.rounds for job in clones]
        options = sized(jobs[0], section.options, device_bytes)
        made = section.at_once or _failure(jobs) or _cell(path, replace(section, options=options))
        if isinstance(made, str):
            found.left_out.append(f"{section.name}: {made}")
        else:
            found.cells.append(made)
    if not found.cells:
        reasons = "; ".join(found.left_out[:3]) or "it lists no job"
        raise BadInput("no job here can be fitted", where=str(path), found=reasons)
    return found


def _cell(path: Path, section: Section) -> Cell | str:
    """Return a cell, or the reason against it; the mean over repeated sections."""
    rounds: list[dict[str, Figures]] = []
    for jobs in section.rounds:
        operations = _operations(jobs)
        if isinstance(operations, str):
            return operations
        rounds.append(operations)
    options = section.options
    try:
        stream, size = _asked(path, options)
        clones = values.integer(fio.Setting("numjobs", options.get("numjobs", "1"), str(path)), 1)
    except BadInput as error:
        return _refusal(error)
    if isinstance(stream, str):
        return stream
    for jobs in section.rounds:
        if len(jobs) > clones:
            return f"{len(jobs)} jobs of this name ran at once, and numjobs is {clones}"
        if 1 < len(jobs) < clones:
            return f"{len(jobs)} of {clones} clones are told"
        if len(jobs) == 1 and (count := in_one_entry(jobs[0], options)) > clones:
            return f"group_reporting tells {count} jobs as this one, and numjobs is {clones}"
    found = _averaged(rounds)
    # With O_DSYNC, the writes themselves take the time of syncs.
    if isinstance(stream.get("sync"), dict) and "write" in found and SYNC not in found:
        return NO_SYNCS
    return Cell(section.name, {**stream, "jobs": clones}, size, found)


def _refusal(error: BadInput) -> str:
    """Return the refusal of a job's option: key, message, found and accepted."""
    found = f"found {error.found}" if error.found else ""
    accepted = f"accepted: {listed(error.accepted)}" if error.accepted else ""
    facts = "; ".join(filter(None, (found, accepted)))
    message = f"{error.message} ({facts})" if facts else error.message
    return ": ".join(filter(None, (error.key, message)))


def _failure(jobs: Sequence[Place]) -> str:
    """Return fio's error of a failed job; empty without error."""
    for job in jobs:
        if number := int(job.number("error", 0.0)):
            known = os.strerror(number) if number in errno.errorcode else "which is none of Linux"
            return f"it failed, fio says: error {number}, {known}"
    return ""


def _asked(path: Path, options: Mapping[str, str]) -> tuple[dict[str, Any] | str, int]:
    """Return the stream of one clone with its file size, or the reason why it cannot be fitted."""
    wanted = {key: value for key, value in options.items() if key not in OF_THE_RUN}
    lines = [f"{key}={value}" if value != "" else key for key, value in wanted.items()]
    text = "\n".join(["[job]", "filename=calibrated", *lines]) + "\n"
    (parsed,) = fio.parse_job_text(text, str(path))
    translated = fio.translate([fio.read_job(parsed)], "fio", "null")
    run = plan(StudyFile("fio", path, translated.study), "measured", quick=False).runs[0]
    phase = run.phases[0]
    if reason := unusable(phase):
        return reason, 0
    stream = phase.streams[0].stream.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for key in ("storage", "amount", "delay", "duration"):
        stream.pop(key, None)
    return stream, compiled.size_bytes(str(run.storage[phase.streams[0].storage].size))


def _operations(jobs: Sequence[Place]) -> dict[str, Figures] | str:
    """Return the sum over clones, or the reason why it cannot be used."""
    operations: dict[str, Figures] = {}
    for kind in KINDS:
        sides = [side for job in jobs if (side := job.inside(kind)) and count_of(side)]
        each = [figures_of(side) for side in sides]
        known = [figures for figures in each if figures]
        if len(known) < len(each):
            return NO_LATENCIES
        if known:
            operations[kind] = _summed(known)
    if not operations:
        return "it shows no read and no write"
    return {**operations, **_synced(jobs[0], operations.get("write"))}


def _synced(job: Place, write: Figures | None) -> dict[str, Figures]:
    """Return syncs after writes, and commits (both together); empty without counted syncs.

    fio 3 counts `fsync` and `fdatasync` with their latencies, and `fsync` alone as operations.
    """
    syncs, writes = job.inside("sync"), job.inside("write")
    told = syncs.inside("lat_ns") if syncs else None
    if not syncs or not told or not writes or not write:
        return {}
    count = syncs.number("total_ios", 0.0) or told.number("N", 0.0)
    if not count:
        return {}
    told.above_zero("mean")
    rate, mean = write.rate * count / count_of(writes), mean_of(told)
    points = quantiles_of(told, 1.0) if told.table.get("percentile") else ()
    return {SYNC: Figures(rate, mean, points), COMMIT: Figures(rate, write.mean_ns + mean)}


def _summed(each: Sequence[Figures]) -> Figures:
    """Combine clones: add rates, weight latencies by them."""
    if len(each) == 1:
        return each[0]
    rate = sum(figures.rate for figures in each)
    mean = sum(figures.mean_ns * figures.rate for figures in each) / rate
    points = []
    for share, _ in each[0].quantiles:
        at = [(value, of.rate) for of in each if (value := of.quantile(share)) is not None]
        if len(at) == len(each):
            points.append((share, sum(value * weight for value, weight in at) / rate))
    return Figures(rate, mean, points)


def _averaged(rounds: Sequence[Mapping[str, Figures]]) -> Mapping[str, Figures]:
    """Return the mean over the repetitions of a section."""
    if len(rounds) == 1:
        return rounds[0]
    kinds = [kind for kind in rounds[0] if all(kind in each for each in rounds)]
    sums = {kind: _summed([each[kind] for each in rounds]) for kind in kinds}
    return {kind: replace(of, rate=of.rate / len(rounds)) for kind, of in sums.items()}
