"""Packs: records of many runs in Parquet, as they were sealed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
from sealing import folder_content, made_tasks, seal_run

from tameshi import guard
from tameshi.record import packs as of_packs
from tameshi.record import store
from tameshi.record.packs import Packs, StoredRuns
from tameshi.record.seal import PACKS
from tameshi.record.transfer import write_record
from tameshi.run.tasks import Task


@pytest.fixture
def tasks(tmp_path: Path) -> list[Task]:
    return made_tasks(tmp_path)


@pytest.fixture
def study(tmp_path: Path, tasks: Sequence[Task]) -> Path:
    """Seal all runs of a study in folders."""
    for task in tasks:
        seal_run(task, tmp_path / "study")
    return tmp_path / "study"


def folders(study: Path) -> list[str]:
    return sorted(path.name for path in (study / "runs").iterdir())


def test_packed_runs_equal_those_in_folders(study: Path, tasks: Sequence[Task]) -> None:
    before = {t.identity: store.read_run(store.run_folder(study, t.identity)) for t in tasks}
    packs = Packs(study)
    assert packs.collect() == len(tasks) == len(packs.places)
    assert folders(study) == [] and len(list((study / PACKS).iterdir())) == 1
    again = Packs(study)
    assert again.places == packs.places and again.damaged == []
    after = again.read(before)
    for identity, run in before.items():
        assert run is not None
        packed = after[identity]
        assert (packed.folder, packed.spec, packed.environment, packed.outcome) == (
            *(run.folder, run.spec, run.environment, run.outcome),
        )
        assert packed.is_checked


def test_unpacked_folder_equals_the_sealed_one(
    study: Path, tasks: Sequence[Task], tmp_path: Path
) -> None:
    identity = tasks[0].identity
    place = store.run_folder(study, identity)
    before = folder_content(place)
    packs = Packs(study)
    packs.collect()
    guard.claim_folder(tmp_path / "other")
    run = packs.read([identity])[identity]
    write_record(store.run_folder(tmp_path / "other", identity), run.content or {})
    assert folder_content(store.run_folder(tmp_path / "other", identity)) == before


def test_few_runs_wait_for_more(study: Path, tasks: Sequence[Task]) -> None:
    packs = Packs(study)
    assert packs.collect(len(tasks) + 1) == 0 and len(folders(study)) == len(tasks)
    assert packs.collect(len(tasks)) == len(tasks)


def test_packs_hold_a_limited_number_of_runs(
    study: Path, tasks: Sequence[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_packs, "MOST_RUNS", 4)
    packs = Packs(study)
    packs.collect()
    assert len(list((study / PACKS).iterdir())) == 2
    assert set(packs.read(packs.places)) == {task.identity for task in tasks}


@pytest.mark.parametrize("status", ["partial", "failed"])
def test_incomplete_run_keeps_its_folder(tmp_path: Path, status: str) -> None:
    task = made_tasks(tmp_path)[0]
    folder = seal_run(task, tmp_path / "study", status)
    packs = Packs(tmp_path / "study")
    assert packs.collect() == 0 and folder.exists()
    # The same run, made again.
    shutil.rmtree(folder)
    seal_run(task, tmp_path / "study")
    assert packs.collect() == 1 and not folder.exists()


def test_damaged_folder_stays_for_the_resume(study: Path, tasks: Sequence[Task]) -> None:
    folder = store.run_folder(study, tasks[0].identity)
    (folder / "events.jsonl").write_text("other\n")
    assert Packs(study).collect() == len(tasks) - 1
    assert folders(study) == [folder.name]


def test_folder_of_a_packed_run_is_removed(
    study: Path, tasks: Sequence[Task], tmp_path: Path
) -> None:
    """As after a kill between the write of a pack and the removal of its folders."""
    folder = store.run_folder(study, tasks[0].identity)
    shutil.copytree(folder, tmp_path / "copy")
    Packs(study).collect()
    shutil.copytree(tmp_path / "copy", folder)
    packs = Packs(study)
    assert packs.collect() == 0 and folders(study) == []
    assert len(packs.places) == len(tasks)


def test_damaged_pack_is_set_aside_and_its_runs_are_gone(
    study: Path, tasks: Sequence[Task]
) -> None:
    Packs(study).collect()
    (path,) = (study / PACKS).iterdir()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    packs = Packs(study)
    assert packs.places == {} and packs.damaged == [path]
    assert [each.damage["code"] for each in packs.damage()] == ["file_content"]
    (moved,) = packs.set_aside()
    assert moved == study / "damaged" / path.name and moved.read_bytes() == data
    assert not path.exists() and packs.damaged == []


def test_stored_runs_are_read_in_the_order_of_the_plan(study: Path, tasks: Sequence[Task]) -> None:
    identities = [task.identity for task in tasks]
    loose_folder = store.run_folder(study, identities[2])
    loose = store.read_run(loose_folder)
    assert loose is not None
    shutil.move(loose_folder, study / "elsewhere")
    packs = Packs(study)
    packs.collect()
    runs = StoredRuns(packs, {identities[2]: loose}, [*reversed(identities), "0" * 64])
    assert len(runs) == len(tasks)
    assert [run.outcome["identity"] for run in runs] == identities[::-1]
    assert runs[0].outcome["identity"] == identities[-1]
    assert [run.outcome["identity"] for run in runs[1:3]] == identities[-2:-4:-1]
    assert {runs.levels_of(each) for each in identities} == {
        ("simulated", f'{{"read": "{read} %"}}', "{}") for read in (0, 50, 100)
    }
    assert {runs.status_of(each) for each in identities} == {"complete"}


def test_pack_is_a_plain_parquet_file(study: Path, tasks: Sequence[Task]) -> None:
    Packs(study).collect()
    frame = pl.read_parquet(study / PACKS / "*.parquet")
    assert frame.columns == list(of_packs.SCHEMA)
    assert sorted(frame["identity"]) == sorted(task.identity for task in tasks)
    assert frame["world"].unique().to_list() == ["simulated"]
