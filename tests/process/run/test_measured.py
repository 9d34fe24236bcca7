"""Measured studies on real files, through the command line."""

import contextlib
import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import polars as pl
import pytest
from command import SMALL, codes, outcomes, results, start, tameshi, wait_until

ROOT = Path(__file__).resolve().parents[3]
MEASURED = SMALL.replace("repetitions = 2", "repetitions = 1")
ONE_RUN = (
    MEASURED.replace('"120 ms"', '"2 s"')
    .replace("[1, 4]", "[1]")
    .replace('["0 %", "100 %"]', '["100 %"]')
)
TWO_STORAGES = """
title = "Two places"
question = "Which?"
[axis.place]
one = { use.storage = "one" }
two = { use.storage = "two" }
[storage.one]
size = "96 MiB"
[storage.two]
size = "1 MiB"
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
until = { time = "300 ms" }
[run]
interval = "50 ms"
"""


def on(**places: Path) -> list[str]:
    """Return options that bind storages and select the measured world."""
    return ["--world", "measured", *(f"--on={name}={path}" for name, path in places.items())]


def wait_until_measuring(out: Path, process: subprocess.Popen[str]) -> None:
    events = "runs/*/events.jsonl"
    wait_until(lambda: any('"phase_ramped"' in p.read_text() for p in out.glob(events)), process)


def test_one_study_file_runs_in_both_worlds_unchanged(study, tmp_path):
    out = tmp_path / "out"
    # An amount: a busy disk may complete nothing for a while.
    text = MEASURED.replace('time = "300 ms"', 'amount = "1 MiB"')
    done = tameshi("run", study(text), *on(disk=tmp_path), "--world", "simulated", "--out", out)
    assert done.returncode == 0, done.stderr
    cells = results(out)["cells"]
    assert {c["world"] for c in cells} == {"measured", "simulated"}
    by_world = [
        [
            (c["phase"], c["levels"], [e["metric"] for e in c["estimates"]])
            for c in cells
            if c["world"] == w
        ]
        for w in ("measured", "simulated")
    ]
    assert by_world[0] == by_world[1]


def test_record_holds_target_and_backend(study, tmp_path):
    out = tmp_path / "out"
    assert tameshi("run", study(MEASURED), *on(disk=tmp_path), "--out", out).returncode == 0
    for folder in out.glob("runs/*"):
        environment = json.loads((folder / "environment.json").read_text())
        assert str(tmp_path / "tameshi-disk.dat") in environment["targets"]
        events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
        (begin,) = [e for e in events if e["kind"] == "run_begin"]
        assert begin["backend"] in ("io_uring", "portable")
        series = pl.read_parquet(folder / "series.parquet")
        assert set(series["source"].unique()) == {"load", "sampler"}
        assert {"machine.cpu_user_ns", "process.cpu_user_ns"} <= set(series["metric"].unique())


def test_sampler_counts_match_the_load(study, tmp_path):
    """Direct reads of a file reach the disk; both are counted on one clock."""
    if pl.__version__ and subprocess.run(
        ["findmnt", "-nT", tmp_path, "-o", "FSTYPE"], capture_output=True, text=True, check=True
    ).stdout.strip() in ("tmpfs", "overlay"):
        pytest.skip("the temporary folder is on no disk")
    out = tmp_path / "out"
    text = MEASURED.replace('levels = ["0 %", "100 %"]', 'levels = ["100 %"]')
    assert tameshi("run", study(text), *on(disk=tmp_path), "--out", out).returncode == 0
    (folder,) = out.glob("runs/*")
    series = pl.read_parquet(folder / "series.parquet")
    total = dict(series.group_by("metric").agg(pl.col("value").sum()).iter_rows())
    assert total["disk.read_bytes"] >= total["read.bytes"] * 0.9


def test_target_is_removed_after_study_unless_kept(study, tmp_path):
    file = tmp_path / "tameshi-disk.dat"
    path = study(MEASURED)
    assert tameshi("run", path, *on(disk=tmp_path), "--out", tmp_path / "a").returncode == 0
    assert not file.exists()
    assert (
        tameshi("run", path, *on(disk=tmp_path), "--out", tmp_path / "b", "--keep").returncode == 0
    )
    assert file.stat().st_size > 8 << 20


def test_two_storages_on_one_disk_make_the_comparison_invalid(study, tmp_path):
    out = tmp_path / "out"
    text = TWO_STORAGES.replace("96 MiB", "1 MiB")
    (tmp_path / "x").mkdir()
    done = tameshi("run", study(text), *on(one=tmp_path, two=tmp_path / "x"), "--out", out)
    assert done.returncode == 0, done.stderr
    verdict = results(out)["verdict"]
    assert verdict["level"] == "invalid"
    assert codes(verdict)[0] == "shared_disk"


def test_null_backend_moves_nothing_and_warns(study, tmp_path):
    out = tmp_path / "out"
    done = tameshi("run", study(MEASURED), *on(disk=tmp_path), "--backend=null", "--out", out)
    assert done.returncode == 0, done.stderr
    verdict = results(out)["verdict"]
    assert "null_backend" in codes(verdict)
    series = pl.read_parquet(list(out.glob("runs/*/series.parquet")))
    totals = dict(series.group_by("metric").agg(pl.col("value").sum()).rows())
    assert totals["read.count"] > 0
    # Not zero: pages of its own program that were evicted are read again.
    assert totals["process.read_bytes"] < totals["read.bytes"] / 100


def test_a_backend_needs_a_measured_run_and_a_known_word(study, tmp_path):
    path = study(MEASURED)
    wrong = tameshi("run", path, *on(disk=tmp_path), "--backend=aio", "--out", tmp_path / "a")
    assert wrong.returncode != 0 and "io_uring" in wrong.stderr
    virtual = tameshi("run", path, "--backend=null", "--out", tmp_path / "b")
    assert virtual.returncode != 0 and "--world measured" in virtual.stderr
    assert not (tmp_path / "a").exists() and not (tmp_path / "b").exists()


@pytest.mark.slow("a run in real time")
def test_a_vanished_file_fails_its_run(study, tmp_path):
    out, file = tmp_path / "out", tmp_path / "tameshi-disk.dat"
    process = start("run", study(ONE_RUN), *on(disk=tmp_path), "--out", out)
    wait_until_measuring(out, process)
    file.unlink()
    _, errors = process.communicate()
    assert process.returncode == 1
    assert "vanished during the run" in errors
    (outcome,) = outcomes(out)
    assert outcome["status"] == "failed"
    assert outcome["verdict"]["level"] == "invalid"


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of its own, 128 MiB large."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=192m", "tameshi-test", place]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("mounting a file system needs root")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_full_disk_fails_its_run_and_others_continue(study, tmp_path, small_disk):
    out, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    target = small_disk / "tameshi-one.dat"
    done = threading.Event()

    def fill() -> None:
        while not done.is_set():
            if not target.exists():
                continue
            with (small_disk / "rest").open("wb") as rest:
                free = shutil.disk_usage(small_disk).free
                # The target grows meanwhile: space that was free before may be taken.
                with contextlib.suppress(OSError):
                    os.posix_fallocate(rest.fileno(), 0, max(free - (1 << 20), 1))
                    return

    filler = threading.Thread(target=fill)
    filler.start()
    try:
        run = tameshi("run", study(TWO_STORAGES), *on(one=small_disk, two=other), "--out", out)
    finally:
        done.set()
        filler.join()
    assert run.returncode == 1, run.stderr
    found = {c["levels"]["place"]: c for c in results(out)["cells"]}
    assert found["one"]["runs"] == {"complete": 0, "partial": 0, "failed": 1}
    # A short write has its own message.
    assert "no space left" in found["one"]["verdict"]["reasons"][0]["values"]["text"].lower()
    assert found["one"]["estimates"] == []
    assert found["two"]["runs"]["complete"] == 1


@pytest.mark.slow("several runs in real time")
def test_unwritable_record_fails_its_run(study, tmp_path):
    """Refuse permission in the middle of a run; for root, only an immutable folder does."""
    out = tmp_path / "out"
    process = start("run", study(ONE_RUN), *on(disk=tmp_path), "--out", out)
    wait_until_measuring(out, process)
    (folder,) = out.glob("runs/*")
    if subprocess.run(["chattr", "+i", folder], check=False).returncode:
        process.kill()
        pytest.skip("this file system knows no immutable folders")
    try:
        _, errors = process.communicate()
    finally:
        subprocess.run(["chattr", "-i", folder], check=True)
    assert process.returncode == 1
    assert "cannot be sealed" in errors
    assert "Traceback" not in errors
    (cell,) = results(out)["cells"]
    assert cell["runs"] == {"complete": 0, "partial": 0, "failed": 1}
    assert "cannot be sealed" in cell["verdict"]["reasons"][0]["values"]["text"]
    resumed = tameshi("run", study(ONE_RUN), *on(disk=tmp_path), "--out", out)
    assert resumed.returncode == 0, resumed.stderr


def test_partial_sectors_are_refused_before_layout(tmp_path, attach):
    backing = tmp_path / "backing"
    backing.write_bytes(bytes(16 << 20))
    node = attach(backing, "--sector-size", "4096")
    text = MEASURED.replace("[workload.stream.s]", '[workload.stream.s]\nblock_size = "512 B"')
    (tmp_path / "s.toml").write_text(text)
    out = tmp_path / "out"
    words = (*on(disk=node), "--destroy", backing, "--out", out)
    done = tameshi("run", tmp_path / "s.toml", *words)
    assert done.returncode == 2 and not out.exists()
    assert done.stderr.startswith("workload.stream.s.block_size: direct requests begin and end")
    assert backing.read_bytes() == bytes(16 << 20)
