"""Durability of databases: acknowledged commits survive a kill and a power cut at settings that
promise it, and TPC-C's conditions hold.

At other settings the same check finds losses, which proves that it can.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from crashing import crashing
from making import SUPPORT, Maker
from served import no_drives_served

from tameshi.core.environment import mounts
from tameshi.core.errors import RunFailed
from tameshi.guard import Volume

SIZE = 640 << 20
ENGINES = ["mariadb", "postgresql", "sqlite"]
TPCC = {"tpcc": {"warehouses": 1, "clients": 4}}
UPDATES = {"key_update": {"tables": 1, "rows": 2000, "row_size": "200 B", "clients": 3}}
QUICK_RECOVERY = {"recovery_init_sync_method": "syncfs"}
DURABLE = {
    "mariadb": {"commit": "1"},
    "postgresql": {"commit": "on", "options": QUICK_RECOVERY},
    "sqlite": {"commit": "FULL", "options": {"journal_mode": "WAL"}},
}
LOSSY = {
    "mariadb": {"commit": "2"},
    "postgresql": {"options": {"fsync": "off", **QUICK_RECOVERY}},
    "sqlite": {"commit": "OFF", "options": {"journal_mode": "WAL"}},
}
FEW, MANY = ["kill", "cut"], {"kill": ["kill"] * 20, "cut": ["cut"] * 20}
FEWER = {"items": 1000, "districts": 10, "customers": 60}
"""TPC-C rows for two short crashes; twenty crashes use the specification's."""
CUTS_UNTIL_CAUGHT = 10
"""InnoDB flushes its log once per second: a cut right after a flush loses nothing."""


@pytest.fixture
def volume(ground: Path) -> Iterator[Volume]:
    with no_drives_served(), Volume(ground / "volume", SIZE) as made:
        yield made


def crash_in_turn(
    make: Maker,
    ground: Path,
    volume: Volume,
    name: str,
    ways: Sequence[str],
    sizes: dict[str, int] | None = None,
) -> None:
    crashes = crashing(make, ground, name, TPCC, volume, sizes, **DURABLE[name])
    chance = random.Random(f"{name} {ways}")
    for how in ways:
        found = crashes.cycle(how, chance)
        assert len(found["conditions"]) == 12
        assert found["holds"], (name, how, crashes.cycles, found)
        print(name, how, crashes.cycles, found["ledger"])
    assert crashes.acknowledged >= TPCC["tpcc"]["clients"] * len(ways)
    crashes.server.stop()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ENGINES)
def test_durable_settings_lose_no_acknowledged_commit(
    volume: Volume, make: Maker, ground: Path, name: str
) -> None:
    crash_in_turn(make, ground, volume, name, FEW, FEWER)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("how", MANY)
def test_twenty_crashes_lose_no_acknowledged_commit(
    volume: Volume, make: Maker, ground: Path, name: str, how: str
) -> None:
    crash_in_turn(make, ground, volume, name, MANY[how])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ENGINES)
def test_power_cut_reveals_settings_that_lose_commits(
    volume: Volume, make: Maker, ground: Path, name: str
) -> None:
    crashes = crashing(make, ground, name, UPDATES, volume, **LOSSY[name])
    chance = random.Random(name)
    caught = False
    for _ in range(CUTS_UNTIL_CAUGHT):
        try:
            caught = bool(crashes.cycle("cut", chance)["ledger"]["lost"])
        except RunFailed:
            caught = True  # it lost more than commits: it does not restart
        if caught:
            break
    assert caught


HOLDER = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from contextlib import ExitStack
from making import Maker
from tameshi.guard import Volume
with Volume(Path({ground!r}) / "volume", {size}) as volume, ExitStack() as stack:
    make = Maker(Path({made!r}), Path({ground!r}), stack, {{"mariadb": Path({template!r})}})
    server = make.server("mariadb", volume.point / "db")
    server.start()
    print("ready", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_volume_with_a_server_survives_the_end_of_tameshi(
    make: Maker, ground: Path, how: signal.Signals
) -> None:
    script = HOLDER.format(
        tests=str(SUPPORT),
        ground=str(ground),
        made=str(make.made),
        size=SIZE,
        template=str(make._template("mariadb")),
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert holder.stdout and holder.stdout.readline() == "ready\n"
    holder.send_signal(how)
    holder.wait()
    folder = ground / "volume"
    if how is signal.SIGINT:
        assert not folder.exists()
    else:  # no process could clean up; the next one does
        assert os.path.ismount(folder / "mnt")
        with Volume(folder, SIZE) as volume:
            assert list(volume.point.iterdir()) == []
    assert not any(mount.point.is_relative_to(ground) for mount in mounts())
