"""`tameshi calibrate` for its user: a file, fio's results, a study's results, bad input."""

import json
import signal
import subprocess
import time
from pathlib import Path

import fio_json
import pytest
from command import start, tameshi

from tameshi.calibrate.command import _summary
from tameshi.core import compiled

STUDY = """
title = "A cloud's volume"
question = "What does it do?"
[storage.disk]
device = "cloud-volume-1tb"
size = "256 MiB"
[workload.stream.s]
[axis.kind]
read = { workload.stream.s.read = "100 %" }
write = { workload.stream.s.read = "0 %" }
[axis.block]
set = "workload.stream.s.block_size"
levels = ["4 KiB", "256 KiB"]
[axis.depth]
varies = "within"
set = "workload.stream.s.queue_depth"
levels = [1, 4, 16, 64]
[phase.p]
workload = ["stream.s"]
until = { time = "400 ms" }
[run]
interval = "20 ms"
"""
FIO_JOBS = """
[global]
filename=data
size=32m
direct=1
ioengine=io_uring
runtime=300ms
time_based
[read-1]
stonewall
rw=randread
bs=4k
[read-4]
stonewall
rw=randread
bs=4k
iodepth=4
[read-large]
stonewall
rw=randread
bs=128k
iodepth=4
[write-1]
stonewall
rw=randwrite
bs=4k
[write-4]
stonewall
rw=randwrite
bs=4k
iodepth=4
fdatasync=1
[two-files-at-once]
stonewall
rw=randread
bs=4k
rate_iops=50
"""


def check_fit(folder: Path, name: str) -> dict:
    """Check that a fit's files are complete and the profile is usable; return fit.json."""
    text = (folder / "profiles" / "devices" / f"{name}.toml").read_text()
    profile = compiled.device_profile(name, "x", text)
    document = json.loads((folder / "fit.json").read_text())
    assert document["model"] in profile["device"]
    for cell in document["cells"]:
        assert cell["measured"]["rate"] > 0
        assert cell["simulated"]["rate"] > 0
    for file in ("fit.html", "fit.md"):
        shown = (folder / file).read_text()
        assert all(cell["cell"] in shown for cell in document["cells"])
    return document


@pytest.mark.timeout(600)
def test_file_is_measured_fitted_and_simulated(tmp_path: Path) -> None:
    words = ("calibrate", ".", "--quick", "--repetitions", "1", "--time", "24 s", "--name", "here")
    done = tameshi(*words, "--size", "64 MiB", "--model", "volume", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = check_fit(tmp_path / "out", "here")
    assert {cell["held_out"] for cell in document["cells"]} == {True, False}
    assert not (tmp_path / "tameshi-disk.dat").exists()
    study = STUDY.replace("cloud-volume-1tb", "here")
    (tmp_path / "out" / "mine.toml").write_text(study)
    ran = tameshi("run", "out/mine.toml", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_profile_from_study_reproduces_its_results(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    assert tameshi("run", "study.toml", "--out", "study", cwd=tmp_path).returncode == 0
    done = tameshi(
        "calibrate", "study/results.json", "--out", "out", "--name", "mine", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    document = check_fit(tmp_path / "out", "mine")
    assert document["considered"][0]["model"] == "volume with limits"
    assert document["summary"]["held_out"]["cells"] >= 4
    assert document["summary"]["held_out"]["worst_error"] < 0.15
    assert document["summary"]["held_out"]["median_error"] < 0.05
    assert "simulated" in document["basis"]
    profile = (tmp_path / "out" / "profiles" / "devices" / "mine.toml").read_text()
    known = 'capacity = { value = "1000000000000 B", source = "the size of what was measured" }'
    assert known in profile


def test_results_of_two_devices_are_refused_with_names(tmp_path: Path) -> None:
    axis = """[axis.kind]
cloud = { storage.disk.device = "cloud-volume-1tb" }
disk = { storage.disk.device = "sata-7k2-1tb" }
[axis.block]"""
    study = STUDY.replace('device = "cloud-volume-1tb"\n', "")
    head, _, rest = study.partition("[axis.kind]")
    (tmp_path / "study.toml").write_text(head + axis + rest.partition("[axis.block]")[2])
    assert tameshi("run", "study.toml", "--out", "study", cwd=tmp_path).returncode == 0
    done = tameshi("calibrate", "study", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    output = " ".join(done.stderr.split())
    assert "these cells used 2 storages, and a profile describes one" in output
    assert "disk (cloud-volume-1tb) in cell" in output and "disk (sata-7k2-1tb) in cell" in output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", ["json", "json+"])
def test_fio_results_become_a_profile(tmp_path: Path, form: str) -> None:
    (tmp_path / "jobs.fio").write_text(FIO_JOBS)
    words = ["fio", f"--output-format={form}", "--output=fio.json", "jobs.fio"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    words = ("calibrate", "fio.json", "--out", "out", "--model", "volume", "--format", "md")
    done = tameshi(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = check_fit(tmp_path / "out", "fio")
    measured = {cell["cell"]: cell["measured"] for cell in document["cells"]}
    content = {
        job["jobname"]: job for job in json.loads((tmp_path / "fio.json").read_text())["jobs"]
    }
    assert set(measured) == set(content) - {"two-files-at-once"}
    for name, cell in measured.items():
        side = content[name]["write" if "write" in name else "read"]
        assert cell["rate"] == pytest.approx(side["iops"], rel=1e-6)
        assert cell["p99"] == side["clat_ns"]["percentile"]["99.000000"]
    assert document["left_out"] == [
        {"code": "open_loop", "subject": "two-files-at-once", "values": {}}
    ]
    assert "# Profile fio: goodness of fit" in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "it was cut off at byte 1"),
        ("[1, x]", "this is not JSON"),
        ("{}", "no results found here"),
        ('{"fio version": "fio-3.33", "jobs": []}', "no job here can be fitted"),
        ('{"schema_version": 1, "cells": []}', "does not contain the requested workload"),
    ],
)
def test_non_result_is_refused_and_leaves_nothing(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "found.json").write_text(text)
    done = tameshi("calibrate", "found.json", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["found.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("absent.json",), "cannot be read"),
        (("absent",), "no such file or directory"),
        (("absent/results",), "no such file or directory"),
        ((".", "--time", "3 s"), "cannot be measured in this time"),
        ((".", "--time", "soon"), "--time"),
        ((".", "--model", "tape"), "unknown value"),
        ((".", "--size", "0 B"), "this must be above zero"),
    ],
)
def test_unmeasurable_target_is_refused_and_leaves_nothing(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    done = tameshi("calibrate", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_too_few_cells_are_refused_with_minimum(tmp_path: Path) -> None:
    few = fio_json.results(fio_json.job("randread", 1, 12_500.0))
    (tmp_path / "few.json").write_text(json.dumps(few))
    done = tameshi("calibrate", "few.json", cwd=tmp_path)
    assert done.returncode == 2
    output = " ".join(done.stderr.split())
    assert "Found: 1 cell" in output and "1 cells" not in output, output
    assert "Accepted: 3 cells or more" in output, output


def test_a_foreign_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("dear to me")
    done = tameshi("calibrate", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert (tmp_path / "mine").read_text() == "dear to me"
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    "words",
    [
        ("--destroy", "SERIAL"),
        ("--time", "5 min"),
        ("--repetitions", "3"),
        ("--quick",),
        ("--keep",),
        ("--fresh",),
    ],
)
def test_options_of_measuring_are_refused_with_results(tmp_path: Path, words: tuple) -> None:
    (tmp_path / "fio.out").write_text(json.dumps(fio_json.drive()))
    done = tameshi("calibrate", "fio.out", *words, cwd=tmp_path)
    assert done.returncode == 2
    output = " ".join(done.stderr.split())
    assert (
        f"{words[0]}: this option applies to measuring" in output and "results in fio.out" in output
    ), output
    assert [path.name for path in tmp_path.iterdir()] == ["fio.out"]


def test_last_state_of_run_is_fitted_and_stated(
    tmp_path: Path,
) -> None:
    states = []
    for passed in (1, 2):
        document = fio_json.drive()
        for job in document["jobs"]:
            job["elapsed"] = passed
        states.append(json.dumps(document | {"timestamp_ms": 1e12 + 1000 * passed}))
    (tmp_path / "fio.out").write_text("\n".join(states))
    words = ("calibrate", "fio.out", "--model", "volume", "--out", "out")
    done = tameshi(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    basis = json.loads((tmp_path / "out" / "fit.json").read_text())["basis"]
    assert "the last of 2 states of the run" in basis


def test_interrupted_calibration_names_resuming_command(tmp_path: Path) -> None:
    words = ("calibrate", ".", "--quick", "--repetitions", "1", "--time", "60 s")
    words = (*words, "--size", "16 MiB", "--out", "my out")
    with start(*words, cwd=tmp_path) as process:
        deadline = time.monotonic() + 60
        while not any(tmp_path.glob("my out/runs/*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, output = process.communicate(timeout=60)
    assert process.returncode == 130, output
    assert "`tameshi calibrate 'my out'` fits the finished measurements" in output
    assert "the report covers" not in output


def test_uncertain_cells_are_counted_apart_from_misses() -> None:
    def row(low: float, high: float, simulated: float) -> dict:
        measured = {"rate": 100.0, "low": low, "high": high, "p50": None}
        figures = {"rate": simulated, "p50": None}
        error = simulated / 100 - 1
        return {"held_out": True, "measured": measured, "simulated": figures, "error": error}

    known, open_ = (95.0, 105.0), (80.0, 125.0)
    rows = [row(*known, 104), row(*known, 117), row(*open_, 135), row(*open_, 139)]
    once = {**row(1, 2, 100), "measured": {"rate": 100.0, "p50": None}}
    summary = _summary([*rows, once, {**rows[0], "held_out": False}], held_out=True)
    counted = ("cells", "within_10", "repeated", "known_to_10", "within_10_of_interval")
    assert [summary[key] for key in counted] == [5, 2, 4, 2, 2]
    assert summary["beyond_25"] == 2
