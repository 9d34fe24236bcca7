"""`tameshi import`: study folders of archives, their report and their comparison."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import tameshi

import tameshi as tm

SAMPLES = Path(__file__).parents[2] / "unit" / "archives" / "samples"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return folders of two drives' archives, one drive's twice, and one of all tools."""
    home = tmp_path_factory.mktemp("lab")
    slower = json.loads((SAMPLES / "fio_randread.json").read_text())
    slower["jobs"][0]["read"]["iops"] /= 2
    slower["jobs"][0]["read"]["total_ios"] //= 2
    (home / "slower.json").write_text(json.dumps(slower))
    fast = SAMPLES / "fio_randread.json"
    asked = {
        "fast": [fast],
        "slow": [home / "slower.json"],
        "both": [f"old={fast}", f"old={home / 'slower.json'}", f"new={fast}"],
        "all": sorted(path for path in SAMPLES.glob("*") if path.name != "sysbench_cpu.txt"),
    }
    for name, archives in asked.items():
        done = tameshi("import", *archives, "--out", home / name, "--axis", "drive")
        assert done.returncode == 0, done.stderr
    return {name: home / name for name in asked}


def results_of(folder: Path) -> dict:
    return json.loads((folder / "results.json").read_text())


def test_archive_becomes_a_measured_cell_with_a_warning(lab: dict[str, Path]) -> None:
    (cell,) = results_of(lab["fast"])["cells"]
    assert (cell["world"], cell["phase"], cell["levels"]) == ("measured", "randread", {})
    assert cell["verdict"]["level"] == "warning"
    assert cell["verdict"]["reasons"][0]["code"] == "imported"
    estimates = {e["metric"]: e for e in cell["estimates"]}
    assert estimates["read.iops"]["unit"] == "1/s"
    assert estimates["read.iops"]["sampling"]["method"] == "summary_only"
    assert not {m for m in estimates if m.startswith("write")}
    (run,) = (lab["fast"] / "runs").iterdir()
    assert (run / "archive" / "fio_randread.json").read_bytes() == (
        SAMPLES / "fio_randread.json"
    ).read_bytes()


def test_archives_of_one_label_are_repetitions(lab: dict[str, Path]) -> None:
    document = results_of(lab["both"])
    assert document["axes"] == [{"name": "drive", "varies": "across", "levels": ["old", "new"]}]
    old, new = document["cells"]
    assert (old["runs"]["complete"], new["runs"]["complete"]) == (2, 1)
    iops = {e["metric"]: e for e in old["estimates"]}["read.iops"]
    assert iops["sampling"]["runs"] == 2 and len(iops["by_repetition"]) == 2


def test_report_of_all_tools_has_no_gaps(lab: dict[str, Path]) -> None:
    for lang in ("en", "ja"):
        shown = tameshi("report", lab["all"], "--format", "md", "--lang", lang)
        assert shown.returncode == 0, shown.stderr
        assert "sysbench 1.0.20" in shown.stdout and "nan" not in shown.stdout
    assert (lab["all"] / "report.html").stat().st_size > 10_000
    frame = tm.open(lab["all"]).estimates("transaction.rate")
    assert set(frame["subject"]) >= {"oltp", "pgbench", "tpcc"}


def test_compare_takes_any_number_of_folders(lab: dict[str, Path]) -> None:
    folders = [lab["fast"], lab["slow"], lab["fast"]]
    done = tameshi("compare", *folders, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [c["b"]["path"] for c in found["comparisons"]] == [str(f) for f in folders[1:]]
    for form in ("terminal", "md"):
        shown = tameshi("compare", *folders, "--format", form)
        assert "A: " in shown.stdout and "C: " in shown.stdout and "0.500 ×" in shown.stdout
    other = tameshi("compare", lab["fast"], lab["slow"], lab["all"])
    assert other.returncode == 3 and "no common cell" in other.stdout


def test_folder_that_exists_is_refused(lab: dict[str, Path]) -> None:
    before = sorted(lab["fast"].rglob("*"))
    done = tameshi("import", SAMPLES / "pgbench.txt", "--out", lab["fast"])
    assert done.returncode == 2 and "this folder exists" in done.stderr
    assert sorted(lab["fast"].rglob("*")) == before


def test_bad_archives_leave_nothing_written(tmp_path) -> None:
    (tmp_path / "cut.txt").write_text("transaction type: <builtin: select only>\n")
    (tmp_path / "odd.txt").write_text("hello\n")
    good = SAMPLES / "pgbench.txt"
    done = tameshi(
        "import", good, tmp_path / "cut.txt", tmp_path / "odd.txt", "--out", tmp_path / "o"
    )
    assert done.returncode == 2 and not (tmp_path / "o").exists()
    assert "cut off" in done.stderr and "known tool" in done.stderr
    axis = tameshi("import", good, "--out", tmp_path / "o", "--axis", "a b")
    assert axis.returncode == 2 and "--axis" in axis.stderr and not (tmp_path / "o").exists()


def test_imported_results_are_no_originals(lab: dict[str, Path], tmp_path) -> None:
    form = tameshi("report", lab["all"], "--format", "tpcc-mysql")
    assert form.returncode == 2 and "these results are imported" in form.stderr
    fitted = tameshi("calibrate", lab["fast"], "--out", tmp_path / "fit")
    assert fitted.returncode == 2 and "a fit needs the originals" in fitted.stderr
    shutil.copytree(lab["fast"], tmp_path / "copy")
    rebuilt = tameshi("report", tmp_path / "copy")
    assert rebuilt.returncode == 0
    assert results_of(tmp_path / "copy") == results_of(lab["fast"])
