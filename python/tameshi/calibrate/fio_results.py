"""Cells from fio's own JSON results, `--output-format=json` or `json+`."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi import _core
from tameshi.calibrate.cells import KINDS, SYNC, Cell, Figures
from tameshi.calibrate.fio_devices import refuse_several
from tameshi.calibrate.fio_figures import Place, count_of, figures_of, mean_of, quantiles_of
from tameshi.calibrate.fio_sizes import sized
from tameshi.calibrate.recorded import COMMIT, Recorded, unusable
from tameshi.compat import fio
from tameshi.compat.fio import values
from tameshi.errors import BadInput, listed
from tameshi.study import StudyFile, plan

OF_THE_RUN = {"numjobs", "filename", "directory", "write_bw_log", "write_lat_log"}
OPTION = re.compile(r"[A-Za-z0-9_-]+")
NO_LATENCIES = "no latencies were recorded"


def is_fio(document: Any) -> bool:
    """Whether a JSON document is fio's."""
    return isinstance(document, dict) and "fio version" in document and "jobs" in document


def read_fio(path: Path, document: Mapping[str, Any], device_bytes: int | None = None) -> Recorded:
    """The cells of fio's results, of a device or file of that size where it is known.

    Raises `BadInput` for what fio can't have written, for jobs of several devices, and where the
    size is needed and not known.
    """
    found = Recorded([], {"fio": document["fio version"]}, capacity=device_bytes)
    whole = Place(str(path), "", "", document)
    groups = list(_groups(whole))
    refuse_several(whole, ((name, options) for name, options, _ in groups))
    for name, options, jobs in groups:
        failed = _failure(jobs)
        made = failed or _cell(path, name, sized(jobs[0], options, device_bytes), jobs)
        if isinstance(made, str):
            found.left_out.append(f"{name}: {made}")
        else:
            found.cells.append(made)
    if not found.cells:
        reasons = "; ".join(found.left_out[:3]) or "it lists no job"
        raise BadInput("no job of this can be fitted", where=str(path), found=reasons)
    return found


def _groups(whole: Place) -> Iterator[tuple[str, dict[str, Any], list[Place]]]:
    """Jobs that are clones of one another, with a name of their own and what was asked of them."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    of_all = whole.table["jobs"]
    if not isinstance(of_all, list) or not all(isinstance(job, dict) for job in of_all):
        raise whole.bad("jobs", "this is no list of jobs", "a list of tables, as fio writes it")
    for job in of_all:
        key = (str(job.get("jobname")), json.dumps(job.get("job options"), sort_keys=True))
        groups.setdefault(key, []).append(job)
    shared = whole.inside("global options")
    taken: set[str] = set()
    for (name, _), jobs in groups.items():
        unique = name if name not in taken else f"{name} ({len(taken) + 1})"
        taken.add(unique)
        places = [Place(whole.file, unique, "", job) for job in jobs]
        own = places[0].inside("job options")
        if own is None:
            message = "what was asked of the job is not told, as old versions of fio leave it"
            raise places[0].bad("job options", message, "a table of the job's options")
        asked = {key: _option(of, key) for of in (shared, own) if of for key in of.table}
        yield unique, asked, places


def _option(of: Place, key: str) -> str:
    """An option's value as a line of a job file can have it."""
    value = of.table[key]
    plain = isinstance(value, str | int | float) and len(str(value).splitlines()) < 2
    if not plain or not OPTION.fullmatch(key):
        raise of.bad(key, "this is no option of a job", "KEY and VALUE as a job file has them")
    return str(value)


def _cell(path: Path, name: str, options: Mapping[str, str], jobs: Sequence[Place]) -> Cell | str:
    """A cell, or why there is none."""
    operations = _operations(jobs)
    if isinstance(operations, str):
        return operations
    try:
        stream, size = _asked(path, options)
        clones = values.integer(fio.Setting("numjobs", options.get("numjobs", "1"), str(path)), 1)
    except BadInput as error:
        return _refusal(error)
    if isinstance(stream, str):
        return stream
    shown = len(jobs) if len(jobs) > 1 else 1
    if shown not in (1, clones):
        return f"{shown} of {clones} clones are told"
    return Cell(name, {**stream, "jobs": clones}, size, operations)


def _refusal(error: BadInput) -> str:
    """Why what was asked of a job can't be read: key, message, what was found and is accepted."""
    found = f"found {error.found}" if error.found else ""
    accepted = f"accepted: {listed(error.accepted)}" if error.accepted else ""
    facts = "; ".join(filter(None, (found, accepted)))
    message = f"{error.message} ({facts})" if facts else error.message
    return ": ".join(filter(None, (error.key, message)))


def _failure(jobs: Sequence[Place]) -> str:
    """What fio tells of a job that failed; empty of one that did not."""
    for job in jobs:
        if number := int(job.number("error", 0.0)):
            known = os.strerror(number) if number in errno.errorcode else "which is none of Linux"
            return f"it failed, fio says: error {number}, {known}"
    return ""


def _asked(path: Path, options: Mapping[str, str]) -> tuple[dict[str, Any] | str, int]:
    """The stream that one clone was, or why it is none that can be fitted; and the file's size."""
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
    return stream, _core.size_bytes(str(run.storage[phase.streams[0].storage].size))


def _operations(jobs: Sequence[Place]) -> dict[str, Figures] | str:
    """What clones did together, or why it can't be used."""
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
    """Syncs after writes, and the two together; none where no sync was counted."""
    syncs, writes = job.inside("sync"), job.inside("write")
    count = syncs.number("total_ios", 0.0) if syncs else 0.0
    told = syncs.inside("lat_ns") if syncs and count else None
    if not told or not writes or not write:
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
    shares = [share for share, _ in each[0].quantiles]
    points = [
        (share, sum((f.quantile(share) or 0.0) * f.rate for f in each) / rate) for share in shares
    ]
    return Figures(rate, mean, points)
