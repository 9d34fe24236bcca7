"""Cells from fio's own JSON results, `--output-format=json` or `json+`."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tameshi import fio
from tameshi.calibrate.cells import KINDS, SYNC, Cell, Figures
from tameshi.calibrate.fio_devices import refuse_several
from tameshi.calibrate.fio_figures import Place, count_of, figures_of, mean_of, quantiles_of
from tameshi.calibrate.fio_sections import Section, in_one_entry, sections_of
from tameshi.calibrate.fio_sizes import sized
from tameshi.calibrate.recorded import COMMIT, Recorded, in_words, unusable
from tameshi.core import compiled
from tameshi.core.errors import BadInput, listed
from tameshi.core.reasons import Reason, about, quoted, reason
from tameshi.fio import values
from tameshi.study.file import StudyFile, plan

OF_THE_RUN = {"numjobs", "filename", "directory", "write_bw_log", "write_lat_log"}


@dataclass(frozen=True)
class Operations:
    """Figures of what clones did together, by kind of operation."""

    by_kind: dict[str, Figures]


def read_fio(path: Path, document: Mapping[str, Any], device_bytes: int | None = None) -> Recorded:
    """The cells of fio's results, of a device or file of that size where it is known.

    Raises `BadInput` for what fio can't have written, for jobs of several devices, where the size
    is needed and not known, and where jobs ran at once and it is not told which.
    """
    found = Recorded([], {"fio": document["fio version"]}, capacity=device_bytes)
    whole = Place(str(path), "", "", document)
    sections = sections_of(whole)
    refuse_several(whole, ((section.name, section.options) for section in sections))
    for section in sections:
        jobs = [job for clones in section.rounds for job in clones]
        options = sized(jobs[0], section.options, device_bytes)
        made = section.at_once or _failure(jobs) or _cell(path, replace(section, options=options))
        if isinstance(made, Cell):
            found.cells.append(made)
        else:
            found.left_out.append(about(section.name, made))
    if not found.cells:
        reasons = in_words(found.left_out[:3]) or "it lists no job"
        raise BadInput("no job of this can be fitted", where=str(path), found=reasons)
    return found


def _cell(path: Path, section: Section) -> Cell | Reason:
    """A cell, or why there is none; of a section that ran several times the mean."""
    rounds: list[dict[str, Figures]] = []
    for jobs in section.rounds:
        operations = _operations(jobs)
        if not isinstance(operations, Operations):
            return operations
        rounds.append(operations.by_kind)
    options = section.options
    try:
        excluded, stream, size = _asked(path, options)
        clones = values.integer(fio.Setting("numjobs", options.get("numjobs", "1"), str(path)), 1)
    except BadInput as error:
        return _refusal(error)
    if excluded is not None:
        return excluded
    for jobs in section.rounds:
        if len(jobs) > clones:
            return reason("clones_mismatch", shown=len(jobs), clones=clones)
        if 1 < len(jobs) < clones:
            return reason("clones_missing", shown=len(jobs), clones=clones)
        if len(jobs) == 1 and (count := in_one_entry(jobs[0], options)) > clones:
            return reason("clones_grouped", shown=count, clones=clones)
    found = _averaged(rounds)
    # Of O_DSYNC, a word and no table, the writes themselves take the time.
    if isinstance(stream.get("sync"), dict) and "write" in found and SYNC not in found:
        return reason("no_syncs")
    return Cell(section.name, {**stream, "jobs": clones}, size, found)


def _refusal(error: BadInput) -> Reason:
    """Return why a job's options can't be read."""
    if not error.found or not error.accepted:
        return quoted(": ".join(filter(None, (error.key, error.message))))
    return reason(
        "invalid_option",
        key=error.key,
        message=error.message,
        found=error.found,
        accepted=listed(error.accepted),
    )


def _failure(jobs: Sequence[Place]) -> Reason | None:
    """Return fio's error of a job that failed; None if none did."""
    for job in jobs:
        if number := int(job.number("error", 0.0)):
            known = os.strerror(number) if number in errno.errorcode else "unknown to Linux"
            return reason("fio_failed", number=number, words=known)
    return None


def _asked(path: Path, options: Mapping[str, str]) -> tuple[Reason | None, dict[str, Any], int]:
    """Why a clone's stream can't be fitted, if so; else the stream, and the file's size."""
    wanted = {key: value for key, value in options.items() if key not in OF_THE_RUN}
    lines = [f"{key}={value}" if value != "" else key for key, value in wanted.items()]
    text = "\n".join(["[job]", "filename=calibrated", *lines]) + "\n"
    (parsed,) = fio.parse_job_text(text, str(path))
    translated = fio.translate([fio.read_job(parsed)], "fio", "null")
    run = plan(StudyFile("fio", path, translated.study), "measured", quick=False).runs[0]
    phase = run.phases[0]
    if excluded := unusable(phase):
        return excluded, {}, 0
    stream = phase.streams[0].stream.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for key in ("storage", "amount", "delay", "duration"):
        stream.pop(key, None)
    return None, stream, compiled.size_bytes(str(run.storage[phase.streams[0].storage].size))


def _operations(jobs: Sequence[Place]) -> Operations | Reason:
    """What clones did together, or why it can't be used."""
    operations: dict[str, Figures] = {}
    for kind in KINDS:
        sides = [side for job in jobs if (side := job.inside(kind)) and count_of(side)]
        each = [figures_of(side) for side in sides]
        known = [figures for figures in each if figures]
        if len(known) < len(each):
            return reason("no_latencies")
        if known:
            operations[kind] = _summed(known)
    if not operations:
        return reason("no_operations")
    return Operations({**operations, **_synced(jobs[0], operations.get("write"))})


def _synced(job: Place, write: Figures | None) -> dict[str, Figures]:
    """Syncs after writes, and the two together; none where no sync was counted.

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
    """Clones together: rates add up, latencies are weighted by them."""
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
    """The mean of what a section did each time that it ran."""
    if len(rounds) == 1:
        return rounds[0]
    kinds = [kind for kind in rounds[0] if all(kind in each for each in rounds)]
    sums = {kind: _summed([each[kind] for each in rounds]) for kind in kinds}
    return {kind: replace(of, rate=of.rate / len(rounds)) for kind, of in sums.items()}
