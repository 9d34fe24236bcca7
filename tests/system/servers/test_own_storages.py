"""Log, binary log and temporary files of a real server on storages of their own."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import codes, outcomes, results, tameshi
from making import place_for_all

STUDY = """
title = "The log on a storage of its own"
question = "Where does the server write?"
[use]
storage = "disk"
USE
[storage.disk]
size = "400 MiB"
[storage.fast]
size = "200 MiB"
[engine.ENGINE]
buffer_pool = "16 MiB"
redo_log = "64 MiB"
SETTINGS
[workload.key_update]
tables = 1
rows = 2000
row_size = "300 B"
clients = 2
[phase.run]
workload = ["key_update"]
until = { time = "5 s" }
[event.crash]
phase = "run"
at = "1 s"
kill = {}
[run]
interval = "100 ms"
start = "cold"
"""
LOGS = {
    "mariadb": ("log/ib_logfile0", "data/ib_logfile0", "run/pid"),
    "postgresql": ("log/pg_wal", "data/pg_wal", "data/postmaster.pid"),
}
"""The log in its place, where it would be otherwise, and a file of a running server."""


@pytest.fixture
def places() -> Iterator[tuple[Path, Path]]:
    """Make two folders that the servers' users may enter."""
    with place_for_all() as data, place_for_all() as fast:
        yield data, fast


def run(tmp_path: Path, places: tuple[Path, Path], engine: str, use: str, more: str = "") -> Any:
    text = STUDY.replace("ENGINE", engine).replace("USE", use).replace("SETTINGS", more)
    (tmp_path / "s.toml").write_text(text)
    return tameshi(
        *("run", tmp_path / "s.toml", "--world", "measured", "--out", tmp_path / "out"),
        *(f"--on=disk={places[0]}", f"--on=fast={places[1]}"),
    )


def tree(folder: Path) -> dict[str, str]:
    """Return kind and size of everything below a folder; what is gone meanwhile is left out."""
    found = {}
    for here, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(here, name)
            try:
                kind = "link" if path.is_symlink() else f"{path.lstat().st_mtime_ns}"
            except OSError:
                continue
            found[str(path.relative_to(folder))] = kind
    return found


@contextmanager
def watched(places: tuple[Path, Path]) -> Iterator[list[tuple[dict[str, str], dict[str, str]]]]:
    """Collect the files of both places, again and again, while a study runs."""
    seen: list[tuple[dict[str, str], dict[str, str]]] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            data, fast = places
            seen.append((tree(data / "tameshi-disk-db"), tree(fast / "tameshi-fast-db")))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("engine", "use"),
    [
        ("mariadb", 'log = "fast"\nbinlog = "fast"\ntemp = "fast"'),
        ("postgresql", 'log = "fast"\ntemp = "fast"'),
    ],
)
def test_server_writes_its_log_to_the_other_storage(
    tmp_path: Path, places: tuple[Path, Path], engine: str, use: str
) -> None:
    with watched(places) as seen:
        done = run(tmp_path, places, engine, use)
    # Both storages are folders of one disk here, which the verdict says.
    found = results(tmp_path / "out")
    assert "shared_disk" in codes(found["verdict"]), (done.stderr, outcomes(tmp_path / "out"))
    (cell,) = found["cells"]
    (check,) = [event for event in cell["database"] if event["kind"] == "check"]
    assert check["ledger"]["acknowledged"] > 0 and check["ledger"]["lost"] == 0
    log, by_itself, pid = LOGS[engine]
    during = [(data, fast) for data, fast in seen if log in fast and pid in data]
    assert during, "the log was seen where it belongs"
    data = during[len(during) // 2][0]
    if engine == "mariadb":
        assert all(by_itself not in data for data, _ in during)
        assert len({fast[log] for _, fast in during}) > 3, "it is written during the run"
        assert any("binlog/binlog.000002" in fast for _, fast in during), "after the restart"
    else:
        assert data[by_itself] == "link"
        written = {tuple(v for k, v in fast.items() if k.startswith(log)) for _, fast in during}
        assert len(written) > 3, "it is written during the run"
        spaces = [name for name in data if name.startswith("data/pg_tblspc/")]
        assert spaces and data[spaces[0]] == "link"
    left = [tree(place) for place in (places[0] / "tameshi-disk-db", places[1] / "tameshi-fast-db")]
    assert not [name for each in left for name in each if name.startswith(("log/", "data/"))]


REFUSED = [
    ("sqlite", 'log = "fast"', "use.log", "keeps no such files on a storage of their own"),
    ("postgresql", 'binlog = "fast"', "use.binlog", "use.log or use.temp"),
]


@pytest.mark.parametrize(("engine", "use", "key", "words"), REFUSED)
def test_files_that_a_product_lacks_are_refused(
    tmp_path: Path, places: tuple[Path, Path], engine: str, use: str, key: str, words: str
) -> None:
    done = run(tmp_path, places, engine, use)
    assert done.returncode == 2
    assert key in done.stderr and words in done.stderr, done.stderr
    assert [list(place.iterdir()) for place in places] == [[], []]


def test_power_cut_with_files_elsewhere_is_refused(
    tmp_path: Path, places: tuple[Path, Path]
) -> None:
    text = STUDY.replace("kill = {}", "power_cut = {}").replace("ENGINE", "mariadb")
    (tmp_path / "s.toml").write_text(text.replace("USE", 'log = "fast"').replace("SETTINGS", ""))
    done = tameshi(
        *("run", tmp_path / "s.toml", "--world", "measured", "--out", tmp_path / "out"),
        *(f"--on=disk={places[0]}", f"--on=fast={places[1]}"),
    )
    assert done.returncode == 2
    assert "event.crash.power_cut" in done.stderr and "use.log" in done.stderr, done.stderr
