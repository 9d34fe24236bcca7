"""What a load costs in power, from the energy in the record."""

from __future__ import annotations

from tameshi.stats.estimates import WindowData
from tameshi.stats.power import power

SECOND = 10**9


def drawn(joules: float, seconds: int = 2) -> WindowData:
    return WindowData(
        seconds * SECOND,
        [SECOND] * seconds,
        {"power.energy_nj": [joules * 1e9 / seconds] * seconds},
        {},
    )


def served(reads: float, writes: float) -> WindowData:
    counters = {
        "read.count": [reads],
        "read.bytes": [reads * 4096],
        "write.count": [writes],
        "write.bytes": [writes * 4096],
        "sync.count": [1e9],
    }
    return WindowData(SECOND, [SECOND], counters, {})


def test_watts_are_joules_by_seconds_and_a_watt_brings_what_was_done_by_joules() -> None:
    found = power("storage.d", [drawn(30.0), drawn(50.0)], [[served(1000, 600)], [served(0, 400)]])
    assert found == {
        "subject": "storage.d",
        "watts": 20.0,
        "iops_per_watt": 25.0,
        "bandwidth_per_watt": 25.0 * 4096,
    }


def test_an_idle_drive_draws_power_for_nothing() -> None:
    found = power("storage.d", [drawn(10.0)], [])
    assert found is not None
    assert (found["watts"], found["iops_per_watt"], found["bandwidth_per_watt"]) == (5, None, None)


def test_what_does_not_say_what_it_draws_has_no_power() -> None:
    silent = WindowData(SECOND, [SECOND], {"busy.media_ns": [5]}, {})
    assert power("storage.d", [silent], [[served(10, 10)]]) is None
