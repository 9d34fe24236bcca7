"""Crash truth: what was acknowledged is there after a kill and after a power cut, at settings that
promise it; at settings that do not, the same check finds it lost, which proves that it can."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ledger import Ledger
from making import Maker

from tameshi.environment import mounts
from tameshi.errors import RunFailed
from tameshi.guard import Volume
from tameshi.servers.crash import cut_power
from tameshi.servers.private import PrivateServer
from tameshi.servers.shape import ClientError

SIZE = 448 << 20
ENGINES = ["mariadb", "postgresql", "sqlite"]
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
FEW, MANY = 2, 20
CUTS_UNTIL_CAUGHT = 10
"""InnoDB flushes its log each second: a cut just after that finds nothing to lose."""


@pytest.fixture
def volume(ground: Path) -> Iterator[Volume]:
    with Volume(ground / "volume", SIZE) as made:
        yield made


def ready(
    make: Maker, volume: Volume, name: str, **settings: object
) -> tuple[PrivateServer, Ledger]:
    """A server that runs on the volume, with an empty ledger that no cut can take away."""
    server = make.server(name, volume.point / "db", **settings)
    server.start()
    ledger = Ledger(server)
    make.stack.callback(ledger.join)
    ledger.create()
    volume.sync()
    return server, ledger


def load_for_a_while(ledger: Ledger, chance: random.Random) -> None:
    """Load until every client has committed something, and then a random time longer."""
    before = len(ledger.acknowledged)
    ledger.start()
    deadline = time.monotonic() + 60
    while len(ledger.acknowledged) < before + 20 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(chance.uniform(0.05, 1.2))


def cut(volume: Volume, server: PrivateServer, ledger: Ledger) -> None:
    ledger.freeze()
    cut_power(volume, server, ledger.join)


def crash_many_times(
    make: Maker, volume: Volume, name: str, how: str, times: int, **settings: object
) -> None:
    server, ledger = ready(make, volume, name, **settings)
    chance = random.Random(f"{name} {how}")
    for _ in range(times):
        load_for_a_while(ledger, chance)
        if how == "kill":
            server.kill()
            ledger.join()
        else:
            cut(volume, server, ledger)
        server.start()
        verdict = ledger.verdict()
        assert verdict.is_whole, (name, how, verdict)
    assert len(ledger.acknowledged) >= 20 * times
    server.stop()


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("how", ["kill", "cut"])
def test_nothing_acknowledged_is_lost_at_durable_settings(
    volume: Volume, make: Maker, name: str, how: str
) -> None:
    crash_many_times(make, volume, name, how, FEW, **DURABLE[name])


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("how", ["kill", "cut"])
def test_nothing_acknowledged_is_lost_in_twenty_crashes(
    volume: Volume, make: Maker, name: str, how: str
) -> None:
    crash_many_times(make, volume, name, how, MANY, **DURABLE[name])


@pytest.mark.parametrize("name", ENGINES)
def test_a_power_cut_catches_settings_that_lose_commits(
    volume: Volume, make: Maker, name: str
) -> None:
    server, ledger = ready(make, volume, name, **LOSSY[name])
    chance = random.Random(name)
    caught = False
    for _ in range(CUTS_UNTIL_CAUGHT):
        load_for_a_while(ledger, chance)
        cut(volume, server, ledger)
        try:
            server.start()
            caught = bool(ledger.verdict().lost)
        except (RunFailed, ClientError):
            caught = True  # what it lost was more than commits: it does not come back
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
        tests=str(Path(__file__).parent),
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
    else:  # nobody could clean up; whoever comes next does
        assert os.path.ismount(folder / "mnt")
        with Volume(folder, SIZE) as volume:
            assert list(volume.point.iterdir()) == []
    assert not any(mount.point.is_relative_to(ground) for mount in mounts())
