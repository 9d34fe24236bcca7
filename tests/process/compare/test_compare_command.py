"""`tameshi compare` and `tameshi report --format` on real study folders."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from command import tameshi

STUDY = """
title = "Small"
question = "Does it run?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[axis.depth]
set = "workload.stream.s.queue_depth"
varies = "within"
levels = [1, 4]
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
ramp = "20 ms"
until = { time = "120 ms" }
[run]
interval = "10 ms"
repetitions = 2
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the study, itself again, on twice the span, and with other seeds."""
    home = tmp_path_factory.mktemp("studies")
    made = {}
    for name, text in {
        "first": STUDY,
        "again": STUDY,
        "wider": STUDY.replace("8 MiB", "64 MiB"),
        "seeds": STUDY + "seed = 7\n",
    }.items():
        path = home / name / "small.toml"
        path.parent.mkdir()
        path.write_text(text)
        done = tameshi("run", path, "--out", home / name / "out")
        assert done.returncode == 0, done.stderr
        made[name] = home / name / "out"
    return made


def test_same_study_run_twice_is_identical(folders: dict[str, Path]) -> None:
    done = tameshi("compare", folders["first"], folders["again"], "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["schema_version"] == 1
    assert result["verdict"] == {"level": "comparable", "because": "nothing"}
    assert result["counts"] == {
        "better": 0,
        "same": 6,
        "worse": 0,
        "undecided": 0,
        "not_judged": 0,
    }
    assert {j["why"] for c in result["cells"] for j in c["judgements"]} == {"identical"}
    assert tameshi("compare", folders["first"], folders["again"], "--fail-on", "worse")


def test_changed_size_is_incomparable(folders: dict[str, Path]) -> None:
    done = tameshi("compare", folders["first"], folders["wider"])
    assert done.returncode == 3
    assert "Incomparable: storage size (disk) differ." in done.stdout
    named = tameshi("compare", folders["first"], folders["wider"], "--changed", "work")
    assert named.returncode == 0
    assert "only the intended change differs" in named.stdout


def test_changed_seeds_have_no_effect(folders: dict[str, Path]) -> None:
    done = tameshi("compare", folders["first"], folders["seeds"], "--format", "md")
    assert done.returncode == 0
    assert done.stdout.startswith("# Comparison of A and B\n")
    assert "| seed | no effect |" in done.stdout


def test_results_file_alone_has_no_environment(folders: dict[str, Path], tmp_path) -> None:
    shutil.copy(folders["first"] / "results.json", tmp_path / "kept.json")
    done = tameshi("compare", tmp_path / "kept.json", folders["again"], "--lang", "ja")
    assert done.returncode == 0
    assert "results.jsonだけでは" in done.stdout


BAD = {
    "missing": (["nowhere", "nowhere"], "this is no study folder and no results.json"),
    "json": (["not.json", "not.json"], "this is not JSON"),
    "other": (["other.json", "other.json"], "this holds no results of a study"),
    "newer": (["newer.json", "newer.json"], "A newer Tameshi wrote it: read it with that one."),
    "format": (["{first}", "{first}", "--format", "pdf"], "--format"),
    "fail": (["{first}", "{first}", "--fail-on", "rain"], "--fail-on"),
    "within": (["{first}", "{first}", "--within", "0"], "--within"),
    "changed": (["{first}", "{first}", "--changed", "moon"], "--changed"),
    "world": (["{first}", "{first}", "--world", "moon"], "--world"),
    "no world": (["{first}", "{first}", "--world", "measured"], "it has no measured cells"),
    "lang": (["{first}", "{first}", "--lang", "fr"], "--lang"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_exits_with_2(case: str, folders, tmp_path) -> None:
    (tmp_path / "not.json").write_text("{")
    (tmp_path / "other.json").write_text("[]")
    (tmp_path / "newer.json").write_text('{"schema_version": 99, "cells": []}')
    words, expected = BAD[case]
    places = [w.format(first=folders["first"]) for w in words[:2]]
    done = tameshi("compare", *(tmp_path / place for place in places), *words[2:])
    assert done.returncode == 2, done.stdout
    assert expected in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_report_command_prints_text(folders: dict[str, Path], lang: str) -> None:
    folder = folders["first"]
    page = tameshi("report", folder, "--format", "md", "--lang", lang)
    assert page.returncode == 0 and page.stdout.startswith("# Does it run?\n")
    shown = tameshi("report", folder, "--format", "terminal", "--lang", lang)
    assert shown.returncode == 0 and "Does it run?" in shown.stdout
    heading = "Steps to reproduce" if lang == "en" else "再現手順"
    assert heading in page.stdout and heading in shown.stdout
    assert tameshi("report", folder, "--format", "pdf").returncode == 2
