"""Studies in the emulated world: streams, databases, power cuts, members, and what is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import codes, outcomes, results, start, tameshi_process, wait_until
from emulated_studies import STREAM, database, events, run
from served import left, only_served_drives, wait_for

MEMBERS = """
[event.dead]
fail.member = 1
at = "1 s"
[event.new]
replace.member = 1
at = "1500 ms"
"""
MORE_CUTS = """
[event.second]
phase = "run"
at = "3 s"
power_cut = {}
[event.third]
phase = "run"
at = "5 s"
power_cut = {}
"""


def on_weak_drive(engine: str) -> str:
    """Return a study with a power cut, on a SATA SSD without its capacitor."""
    text = database(engine, "sata-ssd-480gb", "1").replace("1 GiB", "512 MiB")
    return text.replace("scale = 1", "scale = 1\nwithout_capacitor = true")


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


def test_stream_meets_the_model_and_the_record_says_so(tmp_path: Path) -> None:
    out = run(tmp_path, STREAM.replace("TIME", "3 s") + MEMBERS)
    (served,) = events(out, "drive_served")
    assert served["storage"] == "disk" and served["offset_ns"] > 0
    (figures,) = events(out, "drive_figures")
    reads = figures["operations"]["read"]
    # A 15k disk: some milliseconds each.
    assert reads["operations"] > 100 and 2e6 < reads["modelled_ns"]["p50"] < 20e6
    assert reads["met_ns"]["p50"] == pytest.approx(reads["modelled_ns"]["p50"], rel=0.02)
    (cell,) = results(out)["cells"]
    assert cell["world"] == "emulated" and "served_short" not in codes(cell["verdict"])
    (begin,) = events(out, "run_begin")
    assert not any("in memory" in feature for feature in begin["features"])
    (dead,), (new,) = events(out, "fail"), events(out, "replace")
    assert dead["member"] == new["member"] == 1 and new["t_ns"] > dead["t_ns"] >= 1_000_000_000


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ["mariadb", "sqlite"])
def test_power_cut_loses_nothing_acknowledged(tmp_path: Path, engine: str) -> None:
    out = run(tmp_path, on_weak_drive(engine))
    (cut,) = events(out, "drive_cut")
    assert cut["mounted_ns"] > 0
    (check,) = events(out, "check")
    assert check["holds"] and check["ledger"]["acknowledged"] > 10 and not check["ledger"]["lost"]
    (cell,) = results(out)["cells"]
    assert "on_volume" not in codes(cell["verdict"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ["mariadb", pytest.param("sqlite", marks=pytest.mark.soak)])
def test_failover_to_the_far_side_loses_nothing_acknowledged(tmp_path: Path, engine: str) -> None:
    mirror = 'replica = { of = { device = "sata-ssd-480gb" }, link = "tcp-10gbe" }\n'
    text = database(engine, "sata-ssd-480gb").replace('device = "sata-ssd-480gb"\n', mirror)
    out = run(tmp_path, text.replace("power_cut = {}", 'failover = { down = "300 ms" }'))
    (lost,) = events(out, "drive_failed_over")
    assert lost["mounted_ns"] > 0 and not lost["lost_writes"]
    (crash,) = events(out, "crash")
    assert crash["how"] == "failover" and crash["away_ns"] > 300_000_000 + lost["mounted_ns"]
    (outage,) = events(out, "outage")
    assert outage["outage"]["first_success_ns"] > crash["t_ns"] + crash["away_ns"] - 100_000_000
    (check,) = events(out, "check")
    assert check["holds"] and check["ledger"]["acknowledged"] > 10


@pytest.mark.timeout(300)
def test_study_catches_a_drive_that_ignores_flushes(tmp_path: Path) -> None:
    text = on_weak_drive("mariadb") + MORE_CUTS
    text = text.replace("4 s", "15 s").replace("without", "ignores_flush = true\nwithout")
    (tmp_path / "s.toml").write_text(text)
    out = tmp_path / "out"
    tameshi_process("run", tmp_path / "s.toml", "--world", "emulated", "--out", out)
    assert left() == []
    (served,) = events(out, "drive_served")
    assert served["ignores_flush"]
    (outcome,) = outcomes(out)
    if outcome["status"] == "complete":
        (check,) = events(out, "check")
        assert check["ledger"]["lost"] and not check["holds"]
    else:  # It lost more than commits: the server does not start on it.
        assert "did not come back" in outcome["reason"]["values"]["text"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_study_leaves_nothing(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "s.toml").write_text(STREAM.replace("TIME", "60 s"))
    out = tmp_path / "out"
    process = start("run", tmp_path / "s.toml", "--world", "emulated", "--out", out)
    wait_until(lambda: any("phase_begin" in p.read_text() for p in _records(out)), process)
    os.kill(process.pid, how)
    process.communicate(timeout=30)
    wait_for(lambda: left() == [])
    if how is signal.SIGINT:
        (outcome,) = outcomes(out)
        assert outcome["status"] == "partial"
        assert events(out, "drive_figures")


def _records(out: Path) -> list[Path]:
    return list(out.glob("runs/*/events.jsonl"))


def test_fio_job_runs_on_an_emulated_drive(tmp_path: Path) -> None:
    job, out = tmp_path / "job.fio", tmp_path / "out"
    job.write_text(
        f"[a]\nrw=randread\nbs=4k\ndirect=1\nsize=256m\nruntime=1\ntime_based\n"
        f"filename={tmp_path}/unused\n"
    )
    options = ("--world", "emulated", "--device", "sas-15k-146gb", "--out", out)
    done = tameshi_process("fio", job, *options)
    assert done.returncode == 0, done.stderr
    assert events(out, "drive_figures")[0]["operations"]["read"]["operations"] > 50
    assert not (tmp_path / "unused").exists() and left() == []
