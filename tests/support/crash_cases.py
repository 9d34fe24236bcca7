"""Crash tests on emulated drives: their specs, run in a process of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from making import Maker
from served import left

PROGRAM = Path(__file__).with_name("served_crashes.py")
SIZE = 1 << 30
QUICK_RECOVERY = {"recovery_init_sync_method": "syncfs"}
DURABLE: dict[str, dict[str, Any]] = {
    "mariadb": {"commit": "1"},
    "postgresql": {"commit": "on", "options": QUICK_RECOVERY},
    "sqlite": {"commit": "FULL", "options": {"journal_mode": "WAL"}},
}
MANY_PAGES = {
    "commit": "1",
    "buffer_pool": "8 MiB",
    "options": {"innodb_io_capacity": "20000", "innodb_io_capacity_max": "40000"},
}
SSD = {"drive": "sata-ssd-480gb", "without_capacitor": True}
"""Its programs take long: acknowledged data are volatile for milliseconds."""
SLOW_CARD = SSD | {
    "changes": {
        "buffer": {"size": "64 KiB"},
        "controller": {"data_channels": 1, "dies_per_channel": 1},
    },
    "writes_under_way": 8,
}
"""One die and a small buffer, in units of 4 KiB: pages of 16 KiB are under way for long."""


def updates(engine: str, rows: int = 2000, row_size: str = "200 B") -> dict[str, Any]:
    """Return a program of small commits; several writers of SQLite would wait for each other."""
    clients = 1 if engine == "sqlite" else 4
    shape = {"tables": 1, "rows": rows, "row_size": row_size, "clients": clients}
    return {"key_update": shape}


def pages(engine: str) -> dict[str, Any]:
    """Return the same on more data than the buffer pool holds: pages are written all the time."""
    return updates(engine, 20_000, "1 KB")


def durable(engine: str) -> dict[str, Any]:
    """Return the spec of an engine at durable settings."""
    return {"engine": engine, "settings": DURABLE[engine], "program": updates(engine)}


def crashes(
    make: Maker, ground: Path, ways: Sequence[str], results: Path, **spec: Any
) -> list[dict[str, Any]]:
    """Crash a server on an emulated drive in turn; return what was found, by crash.

    Ends with the first crash after which the check fails.
    """
    engine, program, sizes = spec["engine"], spec["program"], spec.get("sizes")
    templates = made_before(make, engine, program, sizes)
    usual = {"seed": 1, "file_system": "xfs", "size_bytes": SIZE, "pause": [0.05, 0.4]}
    whole = usual | spec | {"ways": list(ways), "results": str(results), "ground": str(ground)}
    file = ground / "spec.json"
    file.write_text(json.dumps(whole | {"templates": templates}))
    with appended(results) as found:
        done = subprocess.run(
            [sys.executable, PROGRAM, file], stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert [each for each in left() if "/crashes-" in each] == []
    return found


def made_before(
    make: Maker, engine: str, program: dict[str, Any], sizes: dict[str, int] | None
) -> dict[str, str]:
    """Return the data set's folder under its name; load it once per session of tests."""
    data = make.loaded(engine, program, sizes)
    return {key: str(of) for key, of in make.templates.items() if of == data}


@contextmanager
def appended(path: Path) -> Iterator[list[dict[str, Any]]]:
    """Fill the list, at the end, with the lines of JSON that a file has got."""
    before, found = len(lines(path)), list[dict[str, Any]]()
    yield found
    found += lines(path)[before:]


def lines(path: Path) -> list[dict[str, Any]]:
    """Return the results in a file; a line that a killed run began is left out."""
    texts = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [json.loads(text) for text in texts if text.endswith("\n")]
