"""Cells from fio's JSON results, `--output-format=json` or `json+`."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from tameshi import fio
from tameshi.calibrate.cells import KINDS, SYNC, Cell, Figures
from tameshi.calibrate.recorded import COMMIT, Recorded, in_words, unusable
from tameshi.core.errors import BadInput, listed
from tameshi.core.reasons import Reason, about, quoted, reason
from tameshi.fio import values
from tameshi.fio.bearing import without_bearing
from tameshi.fio.json import (
    COUNT,
    DISKS,
    ERROR,
    IOPS,
    IOPS_DEVIATION,
    IOPS_SAMPLES,
    MEAN,
    PERCENTILES,
    SYNCS,
    TOTAL_LATENCY,
    VERSION,
    Section,
    Table,
    count_of,
    in_one_entry,
    latencies_of,
    mean_of,
    quantiles_of,
    sections_of,
)
from tameshi.fio.recorded import OF_THE_RUN, planned_clone, stream_fields
from tameshi.fio.values import Percent

ALIGNMENT = 4096
"""Granularity to which shares of a size are rounded down."""
SIZE_OPTION = "--size SIZE, of the device or file that they are of, such as --size 3.84TB"


def sized(job: Table, options: Mapping[str, str], device_bytes: int | None) -> Mapping[str, str]:
    """Return the options with `size` and `offset` in bytes; the default size is the rest after the
    offset.

    Raises `BadInput` if the device's size is needed, which fio's results never contain, or if the
    job exceeds it.
    """
    one_size = "-" not in options.get("filesize", "-")
    file_bytes = _bytes(job, options, "filesize") if one_size else None
    total = file_bytes if isinstance(file_bytes, int) else device_bytes
    wanted = {key: _bytes(job, options, key) for key in ("size", "offset") if key in options}
    asked = {key: _share(job, options, key, value, total) for key, value in wanted.items()}
    offset = asked.setdefault("offset", 0)
    if "size" not in asked:
        asked["size"] = _share(job, options, "size", Percent(100), total) - offset
    if device_bytes is not None and offset + asked["size"] > device_bytes:
        message = f"job {job.job} used {offset + asked['size']} B, which is more"
        raise BadInput(message, where="--size", found=f"{device_bytes} B")
    return {**options, **{key: str(value) for key, value in asked.items()}}


def _bytes(job: Table, options: Mapping[str, str], key: str) -> int | Percent:
    setting = fio.Setting(key, options[key], f"{job.file}: job {job.job}")
    return values.size(setting, 1000 if options.get("kb_base") == "1000" else 1024)


def _share(
    job: Table, options: Mapping[str, str], key: str, value: int | Percent, total: int | None
) -> int:
    if isinstance(value, int):
        return value
    if total is None:
        name = options.get("filename", "a file")
        raise BadInput(
            f"these results are of {name}, whose size they don't contain",
            where=f"{job.file}: job {job.job}",
            key=f"job options.{key}",
            found=options.get(key, "no such key"),
            accepted=[SIZE_OPTION],
        )
    return total * value.percent // 100 // ALIGNMENT * ALIGNMENT


ONE_DEVICE = "results of jobs on one device; keep other devices in other files"
SHOWN_DEVICES = 4
"""Devices named in an error."""


def refuse_several(document: Table, jobs: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Raise `BadInput` if jobs, given with their options, used several devices.

    Files in several directories may share a device: fio lists the disks that it used.
    """
    first: dict[str, str] = {}
    for name, options in jobs:
        own = _device_paths(f"{document.file}: job {name}", options)
        first |= {place: name for place in own if place not in first}
        if _are_several(own, document.fields):
            message = "this job used several devices, and a profile describes one"
            raise _several_devices(f"{document.file}: job {name}", message, own)
    if _are_several(first, document.fields):
        message = "these jobs used several devices, and a profile describes one"
        raise _several_devices(
            document.file, message, [f"{place} (job {job})" for place, job in first.items()]
        )


def _several_devices(where: str, message: str, devices: Iterable[str]) -> BadInput:
    places = list(devices)
    more = [f"{len(places) - SHOWN_DEVICES} more"] if len(places) > SHOWN_DEVICES else []
    shown = ", ".join([*places[:SHOWN_DEVICES], *more])
    return BadInput(message, where=where, key="filename", found=shown, accepted=[ONE_DEVICE])


def _device_paths(where: str, options: Mapping[str, str]) -> list[str]:
    """Return the devices of a job and the directories of its files."""

    def split(key: str) -> list[str]:
        return values.files(fio.Setting(key, options[key], where)) if options.get(key) else []

    folders = split("directory") or ["."]
    names = split("filename") or ["file"]
    paths = [PurePosixPath(folder, name) for folder in folders for name in names]
    return list(dict.fromkeys(str(path if _is_device(path) else path.parent) for path in paths))


def _is_device(path: PurePosixPath) -> bool:
    return path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")


def _are_several(places: Iterable[str], document: Mapping[str, Any]) -> bool:
    paths = [PurePosixPath(place) for place in places]
    devices = [place for place in paths if _is_device(place)]
    disks = document.get(DISKS)
    is_one_disk = isinstance(disks, list) and len(disks) == 1
    return len(paths) > 1 and (bool(devices) or not is_one_disk)


FEWEST_SAMPLES = 20
"""Least number of samples for a spread."""


@dataclass(frozen=True)
class Operations:
    """Figures of concurrent clones, by kind of operation."""

    by_kind: dict[str, Figures]


def read_fio(path: Path, document: Mapping[str, Any], device_bytes: int | None = None) -> Recorded:
    """Return the cells of fio's results, for a device or file of this size, if known.

    Raises `BadInput` for impossible values, jobs of several devices, a size that is needed and
    unknown, and jobs of unknown concurrency.
    """
    recorded = Recorded([], {"fio": document[VERSION]}, capacity=device_bytes)
    table = Table(str(path), "", "", document)
    sections = sections_of(table)
    refuse_several(table, ((section.name, section.options) for section in sections))
    for section in sections:
        jobs = [job for clones in section.rounds for job in clones]
        asked, ignored = without_bearing(section.options)
        recorded.ignored.extend(each for each in ignored if each not in recorded.ignored)
        options = sized(jobs[0], asked, device_bytes)
        made = section.at_once or _failure(jobs) or _cell(path, replace(section, options=options))
        if isinstance(made, Cell):
            recorded.cells.append(made)
        else:
            recorded.left_out.append(about(section.name, made))
    if not recorded.cells:
        reasons = in_words(recorded.left_out[:3]) or "it lists no job"
        raise BadInput("no job here can be fitted", where=str(path), found=reasons)
    return recorded


def _cell(path: Path, section: Section) -> Cell | Reason:
    """Return a cell, or the reason against it; the mean over repeated sections."""
    rounds: list[dict[str, Figures]] = []
    for jobs in section.rounds:
        operations = _operations(jobs)
        if not isinstance(operations, Operations):
            return operations
        rounds.append(operations.by_kind)
    options = section.options
    try:
        excluded, stream, size = _stream_of(path, options)
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
    operations_mean = _averaged(rounds)
    # With O_DSYNC, the writes themselves take the time of syncs.
    if (
        isinstance(stream.get(SYNCS), dict)
        and "write" in operations_mean
        and SYNC not in operations_mean
    ):
        return reason("no_syncs")
    return Cell(section.name, {**stream, "jobs": clones}, size, operations_mean)


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


def _failure(jobs: Sequence[Table]) -> Reason | None:
    """Return fio's error of a job that failed; None if none did."""
    for job in jobs:
        if number := int(job.number(ERROR, 0.0)):
            known = os.strerror(number) if number in errno.errorcode else "unknown to Linux"
            return reason("fio_failed", number=number, words=known)
    return None


def _stream_of(path: Path, options: Mapping[str, str]) -> tuple[Reason | None, dict[str, Any], int]:
    """Return why a clone's stream cannot be fitted, if so; else the stream and its file size."""
    asked = {key: value for key, value in options.items() if key not in OF_THE_RUN}
    phase, size = planned_clone(path, asked, "null")
    if excluded := unusable(phase):
        return excluded, {}, 0
    return None, stream_fields(phase), size


def _operations(jobs: Sequence[Table]) -> Operations | Reason:
    """Return the sum over clones, or the reason why it cannot be used."""
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


def figures_of(side: Table) -> Figures | None:
    """Return the figures of one direction of a job; None if fio recorded no latencies."""
    rate = side.above_zero(IOPS)
    latencies = latencies_of(side)
    if latencies is None:
        return None
    mean_ns, quantiles = latencies
    samples, deviation = side.number(IOPS_SAMPLES, 0.0), side.number(IOPS_DEVIATION, 0.0)
    spread = 2 * deviation / rate / samples**0.5 if samples >= FEWEST_SAMPLES else None
    return Figures(rate, mean_ns, quantiles, spread)


def _synced(job: Table, write: Figures | None) -> dict[str, Figures]:
    """Return syncs after writes, and commits (both together); empty without counted syncs.

    fio 3 counts `fsync` and `fdatasync` with their latencies, and `fsync` alone as operations.
    """
    syncs, writes = job.inside(SYNCS), job.inside("write")
    latencies = syncs.inside(TOTAL_LATENCY) if syncs else None
    if not syncs or not latencies or not writes or not write:
        return {}
    count = syncs.number(COUNT, 0.0) or latencies.number("N", 0.0)
    if not count:
        return {}
    latencies.above_zero(MEAN)
    rate, mean = write.rate * count / count_of(writes), mean_of(latencies)
    points = quantiles_of(latencies, 1.0) if latencies.fields.get(PERCENTILES) else ()
    return {SYNC: Figures(rate, mean, points), COMMIT: Figures(rate, write.mean_ns + mean)}


def _summed(each: Sequence[Figures]) -> Figures:
    """Combine clones: add rates, weight latencies by them."""
    if len(each) == 1:
        return each[0]
    rate = sum(figures.rate for figures in each)
    mean = sum(figures.mean_ns * figures.rate for figures in each) / rate
    points = []
    for share, _ in each[0].quantiles:
        at = [(value, clone.rate) for clone in each if (value := clone.quantile(share)) is not None]
        if len(at) == len(each):
            points.append((share, sum(value * weight for value, weight in at) / rate))
    return Figures(rate, mean, points)


def _averaged(rounds: Sequence[Mapping[str, Figures]]) -> Mapping[str, Figures]:
    """Return the mean over the repetitions of a section."""
    if len(rounds) == 1:
        return rounds[0]
    kinds = [kind for kind in rounds[0] if all(kind in each for each in rounds)]
    sums = {kind: _summed([each[kind] for each in rounds]) for kind in kinds}
    return {
        kind: replace(figures, rate=figures.rate / len(rounds)) for kind, figures in sums.items()
    }
