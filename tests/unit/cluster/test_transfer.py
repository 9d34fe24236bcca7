"""Records in transit: whole ones are stored as they were, others leave nothing."""

from __future__ import annotations

import errno
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sealing import folder_content, made_tasks, sealed_files_of

from tameshi import guard
from tameshi.record import store, transfer
from tameshi.record.transfer import BadRecord, stored
from tameshi.run.tasks import Task

Files = dict[str, bytes]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return made_tasks(tmp_path)[0]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    guard.claim_folder(tmp_path / "results")
    return tmp_path / "results"


def test_record_is_stored_as_it_was_sealed(task: Task, tmp_path: Path, results: Path) -> None:
    files = sealed_files_of(task, tmp_path / "worker")
    place = store.run_folder(results, task.identity)
    run = stored(place, task.spec, task.identity, files)
    assert folder_content(place) == folder_content(
        store.run_folder(tmp_path / "worker", task.identity)
    )
    again = store.read_run(place)
    assert again is not None and again == run and run.is_checked


def test_remains_of_an_interrupted_run_are_replaced(
    task: Task, tmp_path: Path, results: Path
) -> None:
    place = store.run_folder(results, task.identity)
    store.begin_run(place, task.spec, task.identity, {})
    (place / "series" / "old.csv").write_text("t_ns\n")
    stored(place, task.spec, task.identity, sealed_files_of(task, tmp_path / "worker"))
    assert not (place / "series" / "old.csv").exists() and store.read_run(place)


def cut(files: Files) -> None:
    files["events.jsonl"] = files["events.jsonl"][:-3]


def other_content(files: Files) -> None:
    files["series.parquet"] = b"x" * len(files["series.parquet"])


def missing(files: Files) -> None:
    del files["environment.json"]


def surplus(files: Files) -> None:
    files["more.csv"] = zlib.compress(b"")


def outside(files: Files) -> None:
    outcome = json.loads(zlib.decompress(files[store.OUTCOME]))
    outcome["files"]["../other"] = outcome["files"]["spec.json"]
    del outcome["sha256"]
    outcome["sha256"] = store.seal_hash(outcome)
    files[store.OUTCOME] = zlib.compress(store.as_json(outcome))
    files["../other"] = files["spec.json"]


def changed_outcome(files: Files) -> None:
    text = zlib.decompress(files[store.OUTCOME])
    files[store.OUTCOME] = zlib.compress(text.replace(b'"complete"', b'"partial"'))


def no_outcome(files: Files) -> None:
    del files[store.OUTCOME]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (cut, "cannot be decompressed"),
        (other_content, "series.parquet differs from its hash"),
        (missing, "environment.json is not sealed, or missing"),
        (surplus, "more.csv is not sealed, or missing"),
        (outside, "a file outside the run: ../other"),
        (changed_outcome, "outcome.json differs from its hash"),
        (no_outcome, "outcome.json is missing or unreadable"),
    ],
)
def test_damaged_record_is_refused_and_leaves_nothing(
    task: Task, tmp_path: Path, results: Path, damage: Callable[[Files], None], reason: str
) -> None:
    files = sealed_files_of(task, tmp_path / "worker")
    damage(files)
    place = store.run_folder(results, task.identity)
    with pytest.raises(BadRecord, match=reason):
        stored(place, task.spec, task.identity, files)
    assert not place.exists()


def test_record_of_another_run_is_refused(tmp_path: Path, results: Path) -> None:
    task, other = made_tasks(tmp_path)[:2]
    files = sealed_files_of(other, tmp_path / "worker")
    place = store.run_folder(results, task.identity)
    with pytest.raises(BadRecord, match="the record of another run"):
        stored(place, task.spec, task.identity, files)
    with pytest.raises(BadRecord, match=r"spec\.json is that of another run"):
        stored(place, task.spec, other.identity, files)


@pytest.mark.parametrize("full_at", ["worker.log", "series.parquet"])
def test_full_disk_leaves_no_part_of_a_run(
    task: Task, tmp_path: Path, results: Path, full_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = sealed_files_of(task, tmp_path / "worker")
    append = guard.append_file

    def full(path: Path) -> Any:
        if path.name == full_at:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return append(path)

    monkeypatch.setattr(transfer.guard, "append_file", full)
    place = store.run_folder(results, task.identity)
    with pytest.raises(OSError, match="No space"):
        stored(place, task.spec, task.identity, files)
    assert not place.exists()
