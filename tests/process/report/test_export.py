"""`tameshi report --export`: data of plots as CSV files."""

import csv
from pathlib import Path

import pytest
from command import SMALL, results, tameshi


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the results of a small study."""
    place = tmp_path_factory.mktemp("export")
    (place / "s.toml").write_text(SMALL)
    done = tameshi("run", place / "s.toml", "--out", place / "out")
    assert done.returncode == 0, done.stderr
    return place / "out"


def test_export_writes_the_values_of_results(folder: Path, tmp_path: Path) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.iterdir())
    done = tameshi("report", folder, "--export", tmp_path / "csv")
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "csv").iterdir())
    assert f"Written: {len(files)} CSV files to" in done.stdout and len(files) > 2
    with (tmp_path / "csv" / "rate-p.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    estimates = {
        (cell["levels"]["read"], cell["levels"]["depth"]): estimate["value"]
        for cell in results(folder)["cells"]
        for estimate in cell["estimates"]
        if estimate["metric"] in ("read.iops", "write.iops") and estimate["subject"] == "s"
    }
    assert sorted(float(row["value"]) for row in rows) == pytest.approx(sorted(estimates.values()))
    assert {row["depth"] for row in rows} == {"1", "4"} and {row["unit"] for row in rows} == {"1/s"}
    assert sorted((path, path.stat().st_mtime_ns) for path in folder.iterdir()) == before


def test_export_replaces_its_own_files_alone(folder: Path, tmp_path: Path) -> None:
    assert tameshi("report", folder, "--export", tmp_path).returncode == 0
    assert tameshi("report", folder, "--export", tmp_path).returncode == 0
    (tmp_path / "rate-p.csv").write_text("mine\n")
    done = tameshi("report", folder, "--export", tmp_path)
    assert done.returncode == 2 and "rate-p.csv: this is not overwritten" in done.stderr
    assert (tmp_path / "rate-p.csv").read_text() == "mine\n"


@pytest.mark.parametrize("option", [("--format", "md"), ("--out", "x.html")])
def test_export_is_alone_in_its_command(folder: Path, option: tuple[str, str]) -> None:
    done = tameshi("report", folder, *option, "--export", folder.parent / "csv")
    assert done.returncode == 2 and "--export: this writes the plots' data alone" in done.stderr
    assert not (folder.parent / "csv").exists()


def test_export_to_a_file_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = tameshi("report", folder, "--export", tmp_path / "file")
    assert done.returncode == 2 and "Traceback" not in done.stderr
