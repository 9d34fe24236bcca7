"""Studies on served drives for tests, and what their runs record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from command import outcomes, tameshi_process
from served import left

STREAM = """
title = "A mirror"
question = "How fast?"
[storage.disk]
raid1 = { members = 2, device = "sas-15k-146gb" }
size = "1 GiB"
[workload.stream.io]
block_size = "4 KiB"
read = "70 %"
queue_depth = 2
[phase]
run = { workload = ["stream.io"], ramp = "200 ms", until.time = "TIME" }
[run]
interval = "100 ms"
seed = 1
"""
DATABASE = """
title = "A crash"
question = "Is what was acknowledged there?"
[storage.disk]
device = "DRIVE"
size = "1 GiB"
scale = SCALE
[engine.ENGINE]
SETTINGS
[workload.key_update]
tables = 1
rows = 2000
row_size = "300 B"
clients = 2
[phase.run]
workload = ["key_update"]
until = { time = "4 s" }
[event.crash]
phase = "run"
at = "1500 ms"
power_cut = {}
[run]
interval = "100 ms"
"""
SETTINGS = {
    "mariadb": 'buffer_pool = "16 MiB"\nredo_log = "8 MiB"\ncommit = "1"',
    "postgresql": 'buffer_pool = "16 MiB"\nredo_log = "64 MiB"\ncommit = "on"\n'
    'options = { recovery_init_sync_method = "syncfs" }',
    "sqlite": 'commit = "FULL"\noptions = { journal_mode = "WAL" }',
}


def run(tmp_path: Path, text: str, *options: str, out: str = "out") -> Path:
    """Run a study in the emulated world; return its folder."""
    (tmp_path / "s.toml").write_text(text)
    folder = tmp_path / out
    done = tameshi_process(
        *("run", tmp_path / "s.toml", "--world", "emulated", "--out", folder, *options)
    )
    assert done.returncode == 0, (done.stderr, outcomes(folder))
    assert left() == []
    return folder


def database(engine: str, drive: str, scale: str = "") -> str:
    """Return a study of key updates with a power cut."""
    text = DATABASE.replace("ENGINE", engine).replace("SETTINGS", SETTINGS[engine])
    return text.replace("DRIVE", drive).replace("scale = SCALE", f"scale = {scale}" * bool(scale))


def events(out: Path, kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind of the only run."""
    (_,) = out.glob("runs/*/events.jsonl")
    return all_events(out, kind)


def all_events(out: Path, kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind of all runs."""
    paths = sorted(out.glob("runs/*/events.jsonl"))
    found = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return [event for event in found if event["kind"] == kind]
