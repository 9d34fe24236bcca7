"""Failures of commands: one message with a remedy, and an exit status of the documented table."""

import errno
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command import SMALL, tameshi
from disks import unable
from tree import text_of

from tameshi.core.exit_status import ExitStatus
from tameshi.workflow import study_folder

STUDY = SMALL.replace("repetitions = 2", "repetitions = 1").replace(', "100 %"', "")
Remount = Callable[[str], None]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Remount]]:
    """Mount a file system of 512 KiB; also return a function that remounts it."""
    place = tmp_path / "disk"
    place.mkdir()

    def mount(options: str) -> int:
        line = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        return subprocess.run(line, check=False).returncode

    if os.geteuid() != 0 or mount("size=512k"):
        unable("mounting a file system needs root")
    yield (
        place,
        lambda options: (
            subprocess.run(["mount", "-o", f"remount,{options}", str(place)], check=True) and None
        ),
    )
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a finished study."""
    place = tmp_path_factory.mktemp("made")
    (place / "s.toml").write_text(STUDY)
    assert tameshi("run", place / "s.toml", "--out", place / "out").returncode == 0
    return place / "out"


def tree_of(folder: Path) -> dict[str, int]:
    """Return each path below a folder with the time of its last change."""
    return {str(path): path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


UNWRITTEN = STUDY.replace('"sas-15k-146gb"', '"sata-ssd-480gb"\nwritten = "never"').replace(
    '"0 %"', '"100 %"'
)
NULL = ("--world", "measured", "--backend", "null")
LEVELS = {"valid": (STUDY, ()), "warning": (UNWRITTEN, ()), "invalid": (STUDY, NULL)}
"""Study and options by the level of the verdict that they give."""
FAILING = {"never": (), "invalid": ("invalid",), "warning": ("warning", "invalid")}


@pytest.mark.parametrize("level", LEVELS)
def test_fail_on_exits_with_3_from_that_verdict_on(level, tmp_path):
    study, options = LEVELS[level]
    (tmp_path / "s.toml").write_text(study)
    on = ["--on", f"disk={tmp_path / 'disk'}"] if options else []
    line = ["run", tmp_path / "s.toml", *options, *on, "--out", tmp_path / "out", "--fail-on"]
    for fail_on, failing in FAILING.items():
        done = tameshi(*line, fail_on)
        found = json.loads((tmp_path / "out" / "results.json").read_text())
        assert found["verdict"]["level"] == level
        assert done.returncode == (ExitStatus.INVALID if level in failing else 0), done.stderr


def test_fail_on_takes_no_other_level(tmp_path):
    (tmp_path / "s.toml").write_text(STUDY)
    done = tameshi("run", tmp_path / "s.toml", "--fail-on", "rain")
    assert done.returncode == ExitStatus.REFUSED
    assert "invalid or warning" in done.stderr


def test_unexpected_error_leaves_a_file_to_report(made, tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise KeyError("[/x] of a fault")

    monkeypatch.setattr(study_folder, "read_summary", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = tameshi("report", made)
    assert done.returncode == ExitStatus.UNEXPECTED == 70
    assert "unexpected error: KeyError: '[/x] of a fault'" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    (path,) = tmp_path.glob("tameshi-error-*.txt")
    assert str(path) in done.stderr
    text = path.read_text(encoding="utf-8")
    assert f"command: tameshi report {made}" in text
    assert re.search(r"^tameshi: ", text, re.M)
    assert "Traceback" in text
    assert "in report_command" in text


def test_unwritable_bug_report_is_printed(made, tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr(study_folder, "read_summary", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    done = tameshi("report", made)
    assert done.returncode == ExitStatus.UNEXPECTED
    assert "in report_command" in done.stderr


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO])
def test_system_error_is_told_with_place_and_remedy(made, monkeypatch, code):
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code), "/srv/some/place")

    monkeypatch.setattr(study_folder, "read_summary", fail)
    done = tameshi("report", made)
    assert done.returncode == ExitStatus.FAILED
    assert done.stderr.startswith("/srv/some/place: ")
    assert f"Found: {os.strerror(code).lower()}." in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_full_disk_is_told_and_runs_are_kept(small_disk, tmp_path):
    place, remount = small_disk
    (tmp_path / "s.toml").write_text(STUDY)
    done = tameshi("run", tmp_path / "s.toml", "--out", place / "out")
    assert done.returncode == ExitStatus.FAILED
    assert "report.html: the file system is full. Found: no space left on device." in done.stderr
    assert "Make room" in done.stderr
    remount("size=32m")
    again = tameshi("run", tmp_path / "s.toml", "--out", place / "out")
    assert again.returncode == 0
    assert "0 runs to make (1 finished before)" in again.stderr


def test_read_only_folder_is_refused_unless_shown_elsewhere(small_disk, tmp_path):
    place, remount = small_disk
    (tmp_path / "s.toml").write_text(STUDY)
    remount("size=32m")
    out = place / "out"
    assert tameshi("run", tmp_path / "s.toml", "--out", out).returncode == 0
    remount("ro")
    for words in (("run", tmp_path / "s.toml", "--out", out), ("report", out)):
        done = tameshi(*words)
        assert done.returncode == ExitStatus.REFUSED
        assert "no permission to write here" in done.stderr
        assert "Choose another place" in done.stderr or "--out FILE" in done.stderr
    assert tameshi("report", out, "--format", "md").returncode == 0
    assert tameshi("report", out, "--out", tmp_path / "r.html").returncode == 0


@pytest.mark.parametrize("form", ["html", "md", "json", "terminal"])
def test_report_out_leaves_the_folder_alone(made, tmp_path, form):
    before = tree_of(made)
    file = tmp_path / "report"
    assert tameshi("report", made, "--format", form, "--out", file).returncode == 0
    shown = tameshi("report", made, "--format", form, "--out", "-")
    assert file.read_text(encoding="utf-8") == shown.stdout
    assert "Does it run?" in shown.stdout
    assert tameshi("report", made, "--format", form, "--out", file).returncode == 0
    assert tree_of(made) == before
    if form == "json":
        assert shown.stdout == (made / "results.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["html", "md", "json", "terminal"])
def test_report_out_overwrites_no_foreign_file(made, tmp_path, form):
    thesis, link = tmp_path / "thesis.txt", tmp_path / "link"
    thesis.write_text("years of work")
    link.symlink_to(thesis)
    for path in (thesis, link, tmp_path, tmp_path / "gone" / "report"):
        done = tameshi("report", made, "--format", form, "--out", path)
        assert done.returncode == ExitStatus.REFUSED, path
        assert str(path) in done.stderr
    assert thesis.read_text() == "years of work"
    assert sorted(tmp_path.iterdir()) == [link, thesis]


def test_quick_run_replaces_no_full_study(tmp_path):
    (tmp_path / "s.toml").write_text(STUDY + "[quick]\nphase.p.until.time = '110 ms'\n")
    assert tameshi("run", "s.toml", cwd=tmp_path).returncode == 0
    full = tmp_path / "tameshi-results" / "s"
    before = tree_of(full)
    assert tameshi("run", "s.toml", "--quick", cwd=tmp_path).returncode == 0
    assert (tmp_path / "tameshi-results" / "s-quick" / "report.html").exists()
    done = tameshi("run", "s.toml", "--quick", "--out", full, cwd=tmp_path)
    assert done.returncode == ExitStatus.REFUSED
    assert "--quick does not replace the results of a full study" in done.stderr
    assert tree_of(full).keys() == before.keys()
    assert all(Path(path).stat().st_mtime_ns == time for path, time in before.items())


def test_every_exit_status_is_in_the_table(root):
    rows = re.findall(r"^\| (\d+) \|", text_of(root / "docs" / "exit-status.md") or "", re.M)
    assert [int(row) for row in rows] == list(ExitStatus)
