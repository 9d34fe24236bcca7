"""Sealed runs without their simulation, for tests of what happens to records."""

from __future__ import annotations

import hashlib
from pathlib import Path

from tameshi import guard
from tameshi.core.spec_types import World
from tameshi.record import store
from tameshi.record.events import append_event
from tameshi.record.transfer import packed
from tameshi.run.tasks import Task, tasks_of
from tameshi.study.bindings import Bindings
from tameshi.study.file import read_study
from tameshi.workflow.prepare import prepare

STUDY = """
title = "Sealed"
question = "Does its record arrive?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[axis.read]
set = "workload.stream.s.read"
levels = ["0 %", "50 %", "100 %"]
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
until = { time = "120 ms" }
[run]
repetitions = 2
"""


def made_tasks(folder: Path) -> list[Task]:
    """Return the six runs of a small study."""
    path = folder / "sealed.toml"
    path.write_text(STUDY)
    prepared = prepare(read_study(path), [World.simulated], Bindings(), quick=False)
    return tasks_of(prepared.examined[World.simulated], prepared.plans[World.simulated].runs)


def seal_run(task: Task, study: Path, status: str = "complete") -> Path:
    """Seal a run that was not simulated; return its folder."""
    guard.claim_folder(study)
    folder = store.run_folder(study, task.identity)
    store.begin_run(folder, task.spec, task.identity, task.examined.environment)
    guard.append_file(folder / "worker.log").close()
    append_event(folder, 0, "run_end", status=status, digest=None)
    store.seal(folder)
    return folder


def sealed_files_of(task: Task, study: Path, status: str = "complete") -> dict[str, bytes]:
    """Return the packed record of a run that was not simulated."""
    return packed(seal_run(task, study, status))


def folder_content(folder: Path) -> dict[str, str]:
    """Return each file below a folder with the hash of its content, and each folder."""
    return {
        path.relative_to(folder).as_posix(): _hash(path) if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
