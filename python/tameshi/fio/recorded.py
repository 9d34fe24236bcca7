"""Streams of fio's results: the options of a recorded job as a stream of a study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tameshi.core import compiled
from tameshi.core.spec_types import PhaseSpec
from tameshi.fio.job import read_job
from tameshi.fio.jobfile import parse_job_text
from tameshi.fio.translate import translate
from tameshi.study.file import StudyFile, plan

OF_THE_RUN = {"numjobs", "filename", "directory", "write_bw_log", "write_lat_log"}
"""Options that state no property of a clone's stream."""


def planned_clone(
    path: Path, options: Mapping[str, str], device: str | None
) -> tuple[PhaseSpec, int]:
    """Return the phase of one clone with these options, and the bytes of its storage.

    `device`: profile of the storage, without which the stream may use the page cache.

    Raises `BadInput` for an option that no stream can have.
    """
    lines = [f"{key}={value}" if value != "" else key for key, value in options.items()]
    text = "\n".join(["[job]", "filename=recorded", *lines]) + "\n"
    (parsed,) = parse_job_text(text, str(path))
    translated = translate([read_job(parsed)], "fio", device)
    run = plan(StudyFile("fio", path, translated.study), "measured", quick=False).runs[0]
    phase = run.phases[0]
    size = run.storage[phase.streams[0].storage].size
    return phase, compiled.size_bytes(str(size))


def stream_fields(phase: PhaseSpec) -> dict[str, Any]:
    """Return the fields of a phase's first stream, without those of its storage and its end."""
    stream = phase.streams[0].stream.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {k: v for k, v in stream.items() if k not in ("storage", "amount", "delay", "duration")}
