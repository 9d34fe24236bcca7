"""Damaged files of a study folder: reported, excluded, and made again by `tameshi run`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command import SMALL, digests, results, tameshi

import tameshi as tm
from tameshi.record import store
from tameshi.record.store import DamagedRun
from tameshi.workflow import study_folder


def cut(path: Path) -> None:
    """Cut off the second half."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def flip(path: Path) -> None:
    """Flip one bit in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def reported(folder: Path) -> dict:
    """Return the results that a report shows now."""
    return json.loads(tameshi("report", folder, "--format", "json").stdout)


def remove(path: Path) -> None:
    path.unlink()


def garble(path: Path) -> None:
    path.write_bytes(b"\xff\x00 not what was here")


DAMAGES = [cut, flip, remove, garble]
RUN_FILES = [
    "spec.json",
    "environment.json",
    "events.jsonl",
    "series/load.csv",
    "series.parquet",
    "histograms/load.hlog",
    "outcome.json",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a simulated study of four runs, in a folder with the study's text."""
    folder = tmp_path_factory.mktemp("damage")
    (folder / "study.toml").write_text(SMALL)
    done = tameshi("run", folder / "study.toml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """Copy the study's folder, to be damaged."""
    return Path(shutil.copytree(made / "out", tmp_path / "out"))


def first_run(out: Path) -> Path:
    return store.run_folder(out, json.loads((out / "order.json").read_text())[0])


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", RUN_FILES)
def test_damaged_run_file_is_found(out: Path, name: str, damage: Callable[[Path], None]) -> None:
    folder = first_run(out)
    damage(folder / name)
    if (damage, name) == (remove, "outcome.json"):
        assert store.read_run(folder) is None  # The same as an interrupted run.
        return
    with pytest.raises(DamagedRun, match=name.replace(".", r"\.")):
        store.read_run(folder)


@pytest.mark.parametrize("name", ["histograms/load.hlog", "spec.json", "outcome.json"])
def test_damaged_run_is_left_out_of_the_report(out: Path, made: Path, name: str) -> None:
    folder = first_run(out)
    cut(folder / name)
    done = tameshi("report", out, "--format", "terminal")
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert folder.name in done.stdout and "damaged" in done.stdout
    found, total = reported(out), results(made / "out")
    assert [damaged["run"] for damaged in found["damaged"]] == [folder.name]
    assert found["verdict"]["level"] != "valid"
    read = json.loads((made / "out/runs" / folder.name / "spec.json").read_text())["cell"]["read"]
    others = [
        [cell["estimates"] for cell in side["cells"] if cell["levels"]["read"] != read]
        for side in (found, total)
    ]
    assert others[0] == others[1] != []
    damaged = [cell for cell in found["cells"] if cell["levels"]["read"] == read]
    assert {cell["runs"]["complete"] for cell in damaged} == {1}


def test_damaged_run_is_set_aside_and_made_again(out: Path, made: Path) -> None:
    folder = first_run(out)
    cut(folder / "histograms/load.hlog")
    size = (folder / "histograms/load.hlog").stat().st_size
    done = tameshi("run", made / "study.toml", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "3 finished before" in done.stderr and "load.hlog" in done.stderr
    kept = out / "damaged" / f"{folder.name}-1"
    assert (kept / "histograms/load.hlog").stat().st_size == size
    assert digests(out) == digests(made / "out")
    assert "damaged" not in results(out)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", [study_folder.SUMMARY, study_folder.ORDER, "results.json"])
def test_damaged_study_file_is_refused_and_written_anew(
    out: Path, made: Path, name: str, damage: Callable[[Path], None]
) -> None:
    damage(out / name)
    done = tameshi("report", out, "--format", "terminal")
    assert done.returncode in (0, 2) and "Traceback" not in done.stderr
    if done.returncode:
        assert "tameshi run" in done.stderr
    again = tameshi("run", made / "study.toml", "--out", out)
    assert again.returncode == 0 and "4 finished before" in again.stderr
    assert results(out) == results(made / "out")


def test_run_without_hashes_is_reported_and_made_again(out: Path, made: Path) -> None:
    folder = first_run(out)
    outcome = json.loads((folder / "outcome.json").read_text())
    for key in ("files", "sha256"):
        del outcome[key]
    (folder / "outcome.json").write_text(json.dumps(outcome | {"schema_version": 1}))
    done = tameshi("report", out, "--format", "terminal")
    assert done.returncode == 0
    assert reported(out)["unchecked"] == 1 and "Not sealed: 1 of the runs" in done.stdout
    again = tameshi("run", made / "study.toml", "--out", out)
    assert again.returncode == 0 and "3 finished before" in again.stderr
    assert "unchecked" not in results(out)


def test_damaged_answer_of_ask_is_refused_before_a_run(out: Path, made: Path) -> None:
    (out / study_folder.ASKED).write_text('{"schema_ver')
    for words in (("report", out), ("run", made / "study.toml", "--out", out)):
        done = tameshi(*words)
        assert done.returncode == 2 and "asked.json: this file is damaged" in done.stderr


def test_results_of_a_newer_version_are_refused_with_remedy(
    out: Path, made: Path, tmp_path: Path
) -> None:
    outcome = first_run(out) / "outcome.json"
    outcome.write_text(json.dumps(json.loads(outcome.read_text()) | {"schema_version": 99}))
    asked = Path(shutil.copytree(made / "out", tmp_path / "asked"))
    (asked / study_folder.ASKED).write_text('{"schema_version": 99}')
    for folder, place in ((out, first_run(out)), (asked, asked / study_folder.ASKED)):
        done = tameshi("report", folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"{place}: this ")
        assert "Found: version 99. Accepted: version 1 or version 2. A newer" in done.stderr
        with pytest.raises(tm.BadInput, match="A newer Tameshi wrote it"):
            tm.open(folder)
