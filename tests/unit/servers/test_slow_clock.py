"""Slowed clocks of servers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tameshi.core.errors import BadInput
from tameshi.servers import slow_clock
from tameshi.servers.mariadb import MariaDB
from tameshi.servers.postgresql import PostgreSQL


def test_command_runs_as_it_is_without_slow_motion() -> None:
    assert slow_clock.slowed(["mariadbd", "-x"], 1) == ["mariadbd", "-x"]


def test_slowed_command_loads_the_library_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
    place.parent.mkdir(parents=True)
    place.touch()
    monkeypatch.setattr(slow_clock, "_FOLDERS", (str(tmp_path),))
    env, library, rate, stat, *command = slow_clock.slowed(["mariadbd", "-x"], 3)
    assert (env, library, stat) == ("env", f"LD_PRELOAD={place}", "NO_FAKE_STAT=1")
    assert rate == "FAKETIME=+0 x0.333333333333" and command == ["mariadbd", "-x"]
    assert [each.product for each in slow_clock.found()] == ["libfaketime"]


def test_missing_library_is_refused_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_clock, "_FOLDERS", (str(tmp_path),))
    assert list(slow_clock.found()) == []
    with pytest.raises(BadInput, match="apt-get install libfaketime"):
        slow_clock.require_library()


def test_killed_process_leaves_no_shared_memory() -> None:
    pid = 2**22 + os.getpid()  # No process has such a number.
    left = [Path("/dev/shm", name) for name in (f"faketime_shm_{pid}", f"sem.faketime_sem_{pid}")]
    for path in left:
        path.touch()
    slow_clock.bury(pid)
    assert not any(path.exists() for path in left)
    slow_clock.bury(pid)


def test_interval_timers_of_postgresql_are_stretched() -> None:
    assert PostgreSQL().slowed({}, 4) == {"deadlock_timeout": "4000ms"}
    kept = {"deadlock_timeout": "2s"}
    assert PostgreSQL().slowed(kept, 4) == kept
    assert MariaDB().slowed({"a": "b"}, 4) == {"a": "b"}
