"""Verdicts on databases: on no disk, without completed transactions."""

import tempfile
from pathlib import Path

import pytest
from command import codes, results, tameshi

from tameshi.core.environment import diskstats_name

STUDY = """
title = "A small database in an awkward place"
question = "Does it run, or say why not?"
[storage.disk]
size = "64 MiB"
[engine.sqlite]
[workload.key_update]
tables = 1
rows = 200
row_size = "200 B"
clients = 1
[phase.run]
workload = ["key_update"]
until.time = "1 s"
"""


def verdict(tmp_path: Path, disk: Path) -> dict:
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    done = tameshi(
        *("run", study, "--world", "measured", "--on", f"disk={disk}", "--out", tmp_path / "out")
    )
    assert done.returncode == 0, done.stderr
    return dict(results(tmp_path / "out")["verdict"])


@pytest.mark.slow("a database in real time")
def test_database_in_memory_is_invalid(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        found = verdict(tmp_path, Path(memory))
    assert found["level"] == "invalid"
    assert "no_disk" in codes(found)


@pytest.mark.slow("a database in real time")
def test_database_on_a_disk_is_served_by_it(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    found = verdict(tmp_path, disk)
    without = "no_disk" in codes(found)
    assert without == (diskstats_name(disk) is None)
