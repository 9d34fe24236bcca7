"""Study folder of imported archives: runs in the form of measured ones, results, report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.archives.fio_results import STORAGE
from tameshi.archives.model import MS_NS, SECOND_NS, Archive, ImportedPhase
from tameshi.core.errors import BadInput
from tameshi.core.reasons import reason, verdict
from tameshi.core.spec_types import AxisSummary, RunSpec, Summary, Varies
from tameshi.record import store
from tameshi.record.events import append_event
from tameshi.workflow import study_folder

NAME = "import"
"""Name of the study of imported runs."""
FIGURES_VERSION = 1
"""Version of figures.json."""
SPEC_VERSION = 1


@dataclass(frozen=True)
class Labelled:
    """Archive with its label, which is a level of the axis."""

    label: str
    path: Path
    archive: Archive


def import_archives(
    labelled: Sequence[Labelled], folder: Path, axis: str, title: str, reproduce: Sequence[str]
) -> study_folder.Shown:
    """Write a study folder of archives, with results and report; return its summary.

    Archives of one label are repetitions. Raises `BadInput` for a folder that holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput(
            "this folder exists; an import makes a new one",
            where=str(folder),
            accepted=["the path of a new folder"],
            hint="`tameshi compare` compares any number of folders.",
        )
    labels = list(dict.fromkeys(each.label for each in labelled))
    has_axis = len(labels) > 1
    axes = [AxisSummary(name=axis, varies=Varies.across, levels=labels)] if has_axis else []
    tools = ", ".join(dict.fromkeys(each.archive.title for each in labelled))
    summary = Summary(
        name=NAME,
        title=title or f"Imported: {', '.join(labels)}",
        question=f"What did {tools} measure?",
        axes=axes,
        published=[],
        windows={},
    )
    with store.locked_study(folder):
        identities = []
        repetitions: dict[str, int] = {}
        for each in labelled:
            for phases in each.archive.repetitions:
                number = repetitions.get(each.label, 0)
                repetitions[each.label] = number + 1
                cell = {axis: each.label} if has_axis else {}
                identities.append(_write_run(folder, each, phases, cell, number))
        study_folder.write_summary(folder, summary, reproduce)
        study_folder.write_order(folder, identities)
        return study_folder.show(folder, "en")


def _write_run(
    folder: Path,
    each: Labelled,
    phases: Sequence[ImportedPhase],
    cell: Mapping[str, str],
    repetition: int,
) -> str:
    """Write and seal one run; return its identity."""
    content = each.path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    spec = _spec(phases, cell, repetition)
    identity = store.identity(spec, {"archive": digest, "label": each.label})
    archive = each.archive
    environment: dict[str, Any] = {
        "world": "measured",
        "tameshi": version("tameshi"),
        "tool": archive.title,
        "imported": {
            "file": each.path.name,
            "sha256": digest,
            **({"written": archive.written} if archive.written else {}),
        },
        "settings": dict(archive.settings),
        "findings": [verdict("warning", reason("imported", tool=archive.title))],
    }
    run = store.run_folder(folder, identity)
    store.begin_run(run, spec, identity, environment)
    guard.write_file(run / "archive" / each.path.name, content)
    store.write_json(run / store.FIGURES, _figures(phases))
    begin_ns = 0
    for index, phase in enumerate(phases):
        end_ns = begin_ns + phase.length_ns
        append_event(run, begin_ns, "phase_begin", phase=index)
        append_event(run, begin_ns, "phase_ramped", phase=index)
        append_event(run, end_ns, "phase_end", phase=index, ended_by="time")
        begin_ns = end_ns
    append_event(run, begin_ns, "run_end", status="complete", digest=None)
    rows = list(_series(phases))
    if rows:
        header = ",".join(store.SERIES)
        guard.write_file(run / "series" / "load.csv", "\n".join([header, *rows, ""]).encode())
    store.seal(run)
    return identity


def _spec(phases: Sequence[ImportedPhase], cell: Mapping[str, str], repetition: int) -> RunSpec:
    """Return the spec of an imported run, as far as the results state it."""
    sizes = [phase.size_bytes for phase in phases]
    size = max((size for size in sizes if size), default=None) if all(sizes) else None
    return RunSpec.model_validate(
        {
            "schema_version": SPEC_VERSION,
            "study": NAME,
            "world": "measured",
            "cell": dict(cell),
            "repetition": repetition,
            "seed": 0,
            "start": "as-is",
            "interval": "1 s",
            "storage": {STORAGE: {"size": f"{size} B"}} if size else {},
            "phases": [
                {
                    "name": phase.name,
                    "levels": {},
                    "streams": list(phase.streams),
                    **({"programs": list(phase.programs)} if phase.programs else {}),
                    "ramp": "0 s",
                    "until": {"time": _rounded(phase.length_ns)},
                }
                for phase in phases
            ],
        }
    )


def _rounded(length_ns: int) -> str:
    """Return a length in whole seconds, or in milliseconds if it is short: clocks of two runs
    differ."""
    seconds = round(length_ns / SECOND_NS)
    return f"{seconds} s" if seconds else f"{round(length_ns / MS_NS)} ms"


def _figures(phases: Sequence[ImportedPhase]) -> dict[str, Any]:
    """Return the content of figures.json."""
    return {
        "schema_version": FIGURES_VERSION,
        "figures": [
            {
                "phase": phase.name,
                "subject": figure.subject,
                "metric": figure.metric,
                "value": figure.value,
                **({} if figure.operations is None else {"operations": figure.operations}),
            }
            for phase in phases
            for figure in phase.figures
        ],
    }


def _series(phases: Sequence[ImportedPhase]) -> Iterator[str]:
    """Yield the recorded intervals as rows of a series."""
    begin_ns = 0
    for phase in phases:
        for step in phase.steps:
            for (subject, metric), value in step.counters.items():
                end_ns = begin_ns + step.end_ns
                yield f"{end_ns},{step.length_ns},{subject},{metric},{value:.12g}"
        begin_ns += phase.length_ns
