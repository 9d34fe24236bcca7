"""`tameshi run --records parquet`: the same figures from a few files, also after faults."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from command import SMALL, results, start, tameshi, wait_until
from sealing import folder_content

import tameshi as tm
from tameshi.compare import sides
from tameshi.record import packs as of_packs
from tameshi.record.packs import Packs

PARQUET = ("--records", "parquet")
MANY = SMALL.replace("repetitions = 2", "repetitions = 6")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the small study in both forms of records."""
    folder = tmp_path_factory.mktemp("packed")
    (folder / "small.toml").write_text(SMALL)
    for out, options in (("folders", ()), ("packed", PARQUET)):
        done = tameshi("run", folder / "small.toml", "--out", folder / out, *options)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Return results of a longer study that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "small.toml").write_text(MANY)
    done = tameshi("run", folder / "small.toml", "--out", folder / "out", *PARQUET)
    assert done.returncode == 0, done.stderr
    return results(folder / "out")


@pytest.fixture
def packed(made: Path, tmp_path: Path) -> Path:
    """Copy the packed results, to be changed."""
    return Path(shutil.copytree(made / "packed", tmp_path / "packed"))


def rebuilt(out: Path) -> dict:
    done = tameshi("report", out)
    assert done.returncode == 0, done.stderr
    return results(out)


def pack_of(out: Path) -> Path:
    (path,) = (out / "packs").iterdir()
    return path


def again(made: Path, out: Path, *options: str) -> str:
    done = tameshi("run", made / "small.toml", "--out", out, *options)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_packed_study_has_few_files_and_no_run_folders(made: Path) -> None:
    out = made / "packed"
    assert list((out / "runs").iterdir()) == []
    files = [path.relative_to(out).parts[0] for path in out.rglob("*") if path.is_file()]
    assert sorted(set(files) - {".tameshi-owned"}) == [
        *("order.json", "packs", "report.html", "results", "results.json"),
        *("study.toml", "summary.json"),
    ]
    assert files.count("packs") == 1 and files.count("results") == 2


def test_small_results_point_at_tables_of_all_cells(made: Path) -> None:
    document, full = results(made / "packed"), results(made / "folders")
    assert document["schema_version"] == 3 and "cells" not in document
    assert document["tables"]["cells"]["rows"] == len(full["cells"]) == 4
    assert document["runs"] == {"complete": 4, "partial": 0, "failed": 0}
    assert sum(document["verdicts"].values()) == 4
    assert document["verdict"]["level"] == full["verdict"]["level"]
    assert document["streams"] == full["streams"] and document["left_out"] == full["left_out"]
    table = pl.read_parquet(made / "packed" / document["tables"]["cells"]["files"])
    cells = sorted(map(json.loads, table["document"]), key=json.dumps)
    assert cells == sorted(full["cells"], key=json.dumps)


def test_estimates_equal_those_of_run_folders(made: Path) -> None:
    large, small = tm.open(made / "packed"), tm.open(made / "folders")
    columns = ["phase", "read", "depth", "metric", "subject", "value", "low", "high"]
    frames = [each.estimates().select(columns).sort(columns[:5]) for each in (large, small)]
    assert frames[0].equals(frames[1])
    only = large.estimates("read.iops", subject="s")
    assert only["metric"].unique().to_list() == ["read.iops"]
    assert large.cells.height == small.cells.height
    keys = ["read", "repetition", "t_s", "metric"]
    series = [each.series("read.count").sort(keys) for each in (large, small)]
    assert series[0].equals(series[1]) and series[0].height > 0


def test_results_do_not_depend_on_packs_and_parts(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_packs, "MOST_RUNS", 1)
    again(made, tmp_path / "out", *PARQUET, "--jobs", "1")
    assert len(list((tmp_path / "out" / "packs").iterdir())) == 4
    assert results(tmp_path / "out") == results(made / "packed")


def test_finished_packed_study_makes_no_run_again(made: Path, packed: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in packed.rglob("*.parquet")}
    said = again(made, packed)
    assert "0 runs to make (4 finished before)" in said
    assert {p.name: p.stat().st_mtime_ns for p in packed.rglob("*.parquet")} == before


def test_run_folders_of_a_study_can_be_packed_later(made: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(made / "folders", tmp_path / "out"))
    again(made, out, *PARQUET)
    assert list((out / "runs").iterdir()) == []
    assert results(out) == results(made / "packed")


def test_folders_are_refused_where_packs_are(made: Path, packed: Path) -> None:
    line = ("run", made / "small.toml", "--out", packed, "--records", "folders")
    done = tameshi(*line)
    assert done.returncode == 2 and "the records of this folder are in Parquet" in done.stderr
    done = tameshi(*line, "--fresh")
    assert done.returncode == 0 and not (packed / "packs").exists()
    done = tameshi("run", made / "small.toml", "--records", "paper")
    assert done.returncode == 2 and "folders" in done.stderr and "parquet" in done.stderr


def test_damaged_pack_is_reported_and_its_runs_made_again(made: Path, packed: Path) -> None:
    path = pack_of(packed)
    data = path.read_bytes()
    path.write_bytes(data[:-9] + b"damaged!!")
    document = rebuilt(packed)
    assert [each["run"] for each in document["damaged"]] == [path.name]
    assert document["runs"]["complete"] == 0 and document["tables"]["cells"]["rows"] == 0
    said = again(made, packed)
    assert "a pack of runs is damaged" in said
    assert results(packed) == results(made / "packed")
    assert (packed / "damaged" / path.name).exists()


def test_damaged_tables_are_computed_anew(made: Path, packed: Path) -> None:
    for table in ("cells", "estimates"):
        (path,) = (packed / "results" / table).iterdir()
        path.write_bytes(b"PAR1 damaged")
    assert rebuilt(packed) == results(made / "packed")
    shutil.rmtree(packed / "results")
    done = tameshi("report", packed, "--format", "md")
    assert done.returncode == 2 and "older than its runs" in done.stderr
    assert not (packed / "results").exists()
    assert rebuilt(packed) == results(made / "packed")


def test_unpacked_runs_equal_run_folders(made: Path, tmp_path: Path) -> None:
    done = tameshi("report", made / "packed", "--unpack", tmp_path / "all")
    assert done.returncode == 0 and "4 run folders" in done.stdout, done.stderr
    whole = folder_content(tmp_path / "all" / "runs")
    names = {name for name in whole if "environment" not in name and "outcome" not in name}
    assert names == {
        name
        for name in folder_content(made / "folders" / "runs")
        if "environment" not in name and "outcome" not in name
    }
    line = ("report", made / "packed", "--unpack", tmp_path / "some")
    done = tameshi(*line, "--cell", "read=100 %")
    assert done.returncode == 0 and len(list((tmp_path / "some" / "runs").iterdir())) == 2
    done = tameshi(*line, "--cell", "read=99 %")
    assert done.returncode == 2 and "no packed run has these levels" in done.stderr
    for words, message in (
        (("report", made / "packed", "--cell", "read=100 %"), "Give --unpack DIR too"),
        ((*line, "--cell", "read"), "this names no level"),
        (("report", made / "folders", "--unpack", tmp_path / "no"), "are folders already"),
    ):
        done = tameshi(*words)
        assert done.returncode == 2 and message in done.stderr, done.stderr


def test_packed_results_compare_like_those_of_folders(
    made: Path, packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("compare", made / "folders", made / "packed", "--format", "json")
    done = tameshi(*line)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"]["level"] == "comparable" and len(found["cells"]) == 4
    judged = found["counts"].pop("same")
    assert judged > 0 and not any(found["counts"].values())
    of_python = tm.open(made / "folders").compare(tm.open(made / "packed"))
    assert of_python.height == judged
    monkeypatch.setattr(sides, "MOST_CELLS", 3)
    done = tameshi(*line)
    assert done.returncode == 2 and "too many cells to compare one by one" in done.stderr
    monkeypatch.undo()
    shutil.rmtree(packed / "results")
    done = tameshi("compare", made / "folders", packed)
    assert done.returncode == 2 and "tables of these results are missing" in done.stderr


def test_report_of_packed_runs_begins_with_the_gain(made: Path, tmp_path: Path) -> None:
    answer = '[answer]\nmetric = "read.iops"\n[[answer.table]]\nrows = "read"\n'
    answer += 'columns = ["depth"]\nbase = { depth = "4" }\nat = { read = "100 %" }\n'
    (tmp_path / "asked.toml").write_text(SMALL.replace("[workload", answer + "[workload", 1))
    for text, base, level in ((SMALL, "1", "4"), (None, "4", "1")):
        study = made / "small.toml" if text else tmp_path / "asked.toml"
        out = tmp_path / f"out-{base}"
        done = tameshi("run", study, "--out", out, *PARQUET)
        assert done.returncode == 0, done.stderr
        assert (
            f"depth {level} yields " in done.stdout and f"operations / s of {base}" in done.stdout
        )


def test_prices_are_for_large_studies(made: Path, packed: Path) -> None:
    done = tameshi("report", packed, "--price", "depth=2", "--price", "read.100 %=0.5")
    assert done.returncode == 0, done.stderr
    assert "cost against latency" in (packed / "report.html").read_text() or "cost" in done.stdout
    done = tameshi("report", packed, "--price", "pool=2")
    assert done.returncode == 2 and "depth" in done.stderr
    done = tameshi("report", made / "folders", "--price", "depth=2")
    assert done.returncode == 2 and "--records parquet" in done.stderr
    with pytest.raises(tm.BadInput, match="--records parquet"):
        tm.open(made / "folders").report(prices={"depth": 2})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_packed_study_resumes_after_a_stop(
    study: Callable[..., Path], whole: dict, tmp_path: Path, number: int
) -> None:
    path, out = study(MANY), tmp_path / "out"
    process = start("run", path, "--out", out, *PARQUET)
    wait_until(lambda: len(list(out.glob("runs/*/outcome.json"))) > 3, process)
    os.kill(process.pid, number)
    _, errors = process.communicate()
    assert process.returncode == (130 if number == signal.SIGINT else -number), errors
    done = tameshi("run", path, "--out", out)
    assert done.returncode == 0, done.stderr
    assert results(out) == whole
    assert list((out / "runs").iterdir()) == [] and len(Packs(out).places) == 12
