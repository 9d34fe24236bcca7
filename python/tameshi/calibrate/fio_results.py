"""Cells from fio's own JSON results, `--output-format=json` or `json+`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi import _core
from tameshi.calibrate.cells import KINDS, SYNC, Cell, Figures
from tameshi.calibrate.recorded import COMMIT, Recorded, unusable
from tameshi.compat import fio
from tameshi.errors import BadInput
from tameshi.study import StudyFile, plan

FEWEST = 20
OF_THE_RUN = {"numjobs", "filename", "directory", "write_bw_log", "write_lat_log"}
ACCEPTED = ("fio's results: fio --output-format=json JOBFILE",)


def is_fio(document: Any) -> bool:
    """Whether a JSON document is fio's."""
    return isinstance(document, dict) and "fio version" in document and "jobs" in document


def read_fio(path: Path, text: str) -> Recorded:
    """The cells of fio's results; raises `BadInput` for what is none or holds none."""
    start = text.find("{")  # fio prints notes before its JSON
    try:
        document = json.loads(text[start:] if start > 0 else text)
    except ValueError as error:
        raise BadInput("this is not JSON", where=str(path), found=str(error)) from None
    if not is_fio(document):
        raise BadInput("these are no results of fio", where=str(path), accepted=ACCEPTED)
    found = Recorded([], {"fio": document.get("fio version")})
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for job in document["jobs"]:
        key = (str(job.get("jobname")), json.dumps(job.get("job options", {}), sort_keys=True))
        groups.setdefault(key, []).append(job)
    taken: set[str] = set()
    for (name, _), jobs in groups.items():
        unique = name if name not in taken else f"{name} ({len(taken) + 1})"
        taken.add(unique)
        options = {**document.get("global options", {}), **jobs[0].get("job options", {})}
        try:
            cell = _cell(path, unique, options, jobs)
        except BadInput as error:
            found.left_out.append(f"{unique}: {error.message}")
            continue
        if isinstance(cell, str):
            found.left_out.append(f"{unique}: {cell}")
        else:
            found.cells.append(cell)
    if not found.cells:
        reasons = "; ".join(found.left_out[:3]) or "it lists no job"
        raise BadInput("no job of this can be fitted", where=str(path), found=reasons)
    return found


def _cell(
    path: Path, name: str, options: Mapping[str, str], jobs: Sequence[Mapping[str, Any]]
) -> Cell | str:
    """A cell, or why there is none."""
    wanted = {key: value for key, value in options.items() if key not in OF_THE_RUN}
    lines = [f"{key}={value}" if value != "" else key for key, value in wanted.items()]
    jobname = "job"
    text = "\n".join([f"[{jobname}]", "filename=calibrated", *lines]) + "\n"
    (parsed,) = fio.parse_job_text(text, str(path))
    job = fio.read_job(parsed)
    translated = fio.translate([job], "fio", "null")
    study = StudyFile("fio", path, translated.study)
    planned = plan(study, "measured", quick=False)
    phase = planned.runs[0].phases[0]
    if reason := unusable(phase):
        return reason
    spec = phase.streams[0].stream
    stream = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for key in ("storage", "amount", "delay", "duration"):
        stream.pop(key, None)
    clones = int(options.get("numjobs", "1"))
    stream["jobs"] = clones
    shown = len(jobs) if len(jobs) > 1 else 1
    if shown not in (1, clones):
        return f"{shown} of {clones} clones are told"
    operations = {}
    for kind in KINDS:
        figures = [_figures(job[kind]) for job in jobs if job.get(kind, {}).get("total_ios", 0)]
        if figures:
            operations[kind] = _summed(figures)
    if not operations:
        return "it shows no read and no write"
    syncs = jobs[0].get("sync", {})
    if syncs.get("total_ios") and "write" in operations:
        write, told = operations["write"], syncs["lat_ns"]
        listed = sorted((float(p) / 100, float(v)) for p, v in told.get("percentile", {}).items())
        points = [(0.0, float(told["min"])), *listed, (1.0, float(told["max"]))]
        operations[SYNC] = Figures(write.rate, float(told["mean"]), points if listed else ())
        operations[COMMIT] = Figures(write.rate, write.mean_ns + float(told["mean"]))
    size = _core.size_bytes(str(planned.runs[0].storage[phase.streams[0].storage].size))
    return Cell(name, stream, size, operations)


def _figures(told: Mapping[str, Any]) -> Figures:
    """One direction of one job; of its percentiles those that fio lists, completion latencies."""
    latencies = told["lat_ns"] if told.get("lat_ns", {}).get("percentile") else told["clat_ns"]
    listed = latencies.get("percentile") or {}
    points = sorted((float(share) / 100, float(value)) for share, value in listed.items())
    points = [(0.0, float(latencies["min"])), *points, (1.0, float(latencies["max"]))]
    samples, deviation = told.get("iops_samples", 0), told.get("iops_stddev", 0.0)
    spread = 2 * deviation / told["iops"] / samples**0.5 if samples >= FEWEST else None
    mean = told["lat_ns"]["mean"] or told["clat_ns"]["mean"]
    return Figures(float(told["iops"]), float(mean), points, spread)


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
