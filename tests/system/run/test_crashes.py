"""Crashes in a study: server restart during the run, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from command import codes, outcomes, results, tameshi
from served import no_drives_served

from tameshi.core.environment import mounts

STUDY = """
title = "A crash"
question = "Is what was acknowledged there?"
[storage.disk]
size = "400 MiB"
[engine.ENGINE]
SETTINGS
[workload.key_update]
tables = 1
rows = 2000
row_size = "300 B"
clients = 2
[phase.run]
workload = ["key_update"]
until = { time = "8 s" }
[event.crash]
phase = "run"
at = "1 s"
HOW
[run]
interval = "100 ms"
"""
SETTINGS = {
    "mariadb": 'buffer_pool = "16 MiB"\nredo_log = "8 MiB"\ncommit = "1"',
    "postgresql": 'buffer_pool = "16 MiB"\nredo_log = "64 MiB"\ncommit = "on"\n'
    'options = { recovery_init_sync_method = "syncfs" }',
    "sqlite": 'commit = "FULL"\noptions = { journal_mode = "WAL" }',
}


@pytest.fixture
def place() -> Iterator[Path]:
    """Make a folder that the servers' users may enter."""
    with TemporaryDirectory(prefix="tameshi-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def crashed(tmp_path: Path, place: Path, engine: str, how: str, settings: str = "") -> Any:
    text = STUDY.replace("ENGINE", engine).replace("HOW", how)
    (tmp_path / "s.toml").write_text(text.replace("SETTINGS", settings or SETTINGS[engine]))
    # A power cut unmounts a file system, which the mounts of a served drive would keep.
    with no_drives_served() if "power_cut" in how else nullcontext():
        return tameshi(
            *("run", tmp_path / "s.toml", "--world", "measured"),
            *(f"--on=disk={place}", "--out", tmp_path / "out"),
        )


def told(out: Path, kind: str) -> list[dict[str, Any]]:
    (cell,) = results(out)["cells"]
    return [event for event in cell["database"] if event["kind"] == kind]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("engine", "how"),
    [
        ("mariadb", 'kill = { down = "1 s" }'),
        ("postgresql", "kill = {}"),
        ("mariadb", "power_cut = {}"),
        ("sqlite", "power_cut = {}"),
    ],
)
def test_crashed_server_restarts_and_verdict_is_reported(
    tmp_path: Path, place: Path, engine: str, how: str
) -> None:
    done = crashed(tmp_path, place, engine, how)
    assert done.returncode == 0, (done.stderr, outcomes(tmp_path / "out"))
    out = tmp_path / "out"
    (crash,) = told(out, "crash")
    assert crash["event"] == "crash" and crash["how"] in how and crash["t_ns"] >= 1_000_000_000
    if "down" in how:
        assert crash["away_ns"] >= crash["recovery_ns"] + 1_000_000_000
    (outage,) = [event["outage"] for event in told(out, "outage")]
    assert outage["first_error_ns"] >= 1_000_000_000 and outage["unserved"] > 0
    assert outage["first_success_ns"] > outage["first_error_ns"]
    (check,) = told(out, "check")
    assert check["holds"] and check["ledger"]["acknowledged"] > 10
    (outcome,) = outcomes(out)
    cut = "power_cut" in how
    assert ("on_volume" in codes(outcome["verdict"])) == cut
    report = (out / "report.html").read_text()
    assert ("power cut at" if cut else "server killed (kill -9) at") in report
    assert "acknowledged commits, 0 lost" in report and "first success after" in report
    assert list(place.iterdir()) == []
    assert not any(mount.point.is_relative_to(place) for mount in mounts())


@pytest.mark.timeout(300)
def test_verdict_reports_settings_that_lose_commits(tmp_path: Path, place: Path) -> None:
    settings = 'commit = "OFF"\noptions = { journal_mode = "WAL" }'
    crashed(tmp_path, place, "sqlite", "power_cut = {}", settings)
    (outcome,) = outcomes(tmp_path / "out")
    verdict = outcome["verdict"]
    assert verdict["level"] == "invalid"
    # It lost commits, or so much that the database is unusable.
    assert "commits_lost" in codes(verdict) or outcome["status"] == "failed", verdict


def test_impossible_crash_is_refused_and_creates_nothing(tmp_path: Path, place: Path) -> None:
    done = crashed(tmp_path, place, "sqlite", "kill = {}")
    assert done.returncode == 2
    assert "there is no server to kill" in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists() and list(place.iterdir()) == []


@pytest.mark.timeout(300)
def test_each_of_two_outages_is_reported(tmp_path: Path, place: Path) -> None:
    """Case v-two-outages: all clients reconnect before the first success after the first one."""
    again = 'kill = { down = "500 ms" }\n[event.again]\nphase = "run"\nat = "5 s"\nkill = {}'
    done = crashed(tmp_path, place, "mariadb", again)
    out = tmp_path / "out"
    assert done.returncode == 0, (done.stderr, outcomes(out))
    first, second = [event["outage"] for event in told(out, "outage")]
    assert first["first_success_ns"] < 5_000_000_000 <= second["first_error_ns"]
    assert second["first_success_ns"] > second["first_error_ns"] and second["unserved"] > 0
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "crash" in report and "again" in report
