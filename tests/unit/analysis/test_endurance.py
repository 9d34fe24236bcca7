"""Flash wear from the counters and states of the record."""

from __future__ import annotations

import pytest

from tameshi.analysis.stats.endurance import SECONDS_PER_YEAR, Worn, endurance, worn
from tameshi.analysis.stats.estimates import WindowData

SECOND = 10**9
STATES = {
    "flash.physical_bytes": 1250.0,
    "flash.logical_bytes": 1000.0,
    "flash.mapped_bytes": 800.0,
    "flash.erased_bytes": 50.0,
    "flash.cycles_mean_permille": 1500.0,
    "flash.cycles_max": 4.0,
}


def window(host: float, moved: float, life: float, share: float = 1) -> WindowData:
    """Return one second in two intervals; the host wrote a share of the programmed bytes."""
    counts = {
        "flash.written_bytes": [0, host * share],
        "flash.host_bytes": [host, 0],
        "flash.moved_bytes": [0, moved],
    }
    states = {name: [value, value] for name, value in STATES.items()}
    return WindowData(
        SECOND, [SECOND // 2] * 2, {**counts, **states, "flash.life_bytes": [life] * 2}, {}
    )


def test_amplification_spare_and_life_follow_their_definitions() -> None:
    result = endurance("storage.d", [window(100, 150, 1e9), window(300, 250, 1e9)])
    assert result is not None
    assert (result["host_bytes"], result["moved_bytes"], result["padded_bytes"]) == (400, 400, 0)
    assert result["write_amplification"] == 2.0
    assert result["over_provisioning"] == {"nominal": 0.25, "effective": 0.5}
    assert (result["cycles_mean"], result["cycles_max"]) == (1.5, 4)
    # 800 bytes in two seconds.
    assert result["life_years"] == pytest.approx(1e9 / (400 * SECONDS_PER_YEAR), rel=1e-5)


def test_write_below_a_mapping_unit_costs_a_whole_unit() -> None:
    (complete, quarter) = (
        endurance("storage.d", [window(400, 400, 1e9, share)]) for share in (1, 0.25)
    )
    assert complete is not None
    assert quarter is not None
    assert (quarter["written_bytes"], quarter["host_bytes"]) == (100, 400)
    assert quarter["write_amplification"] == 4 * complete["write_amplification"]
    assert quarter["life_years"] == complete["life_years"]


def test_read_retry_extends_life_beyond_endurance() -> None:
    run = window(400, 400, 1e9)
    more = {**run.counters, "flash.retry_life_bytes": [6.4e8] * 2}
    (rated, retried) = (
        endurance("storage.d", [WindowData(SECOND, run.lengths_ns, counters, {})])
        for counters in (run.counters, more)
    )
    assert rated is not None
    assert retried is not None
    assert rated["life_years_retried"] is None
    assert retried["life_years"] == rated["life_years"]
    assert retried["life_years_retried"] == pytest.approx(1.64 * rated["life_years"], rel=1e-5)


def test_stream_writes_stand_next_to_the_arrays_writes() -> None:
    runs = [window(100, 0, 1e9), window(300, 0, 1e9)]
    streams = [
        [WindowData(SECOND, [SECOND], {"write.bytes": [written]}, {}) for written in both]
        for both in [(30, 70), (20, 80)]
    ]
    result = endurance("storage.mirror", runs, streams)
    assert result is not None
    assert (result["stream_written_bytes"], result["written_bytes"]) == (200, 400)
    result = endurance("storage.of_a_database", runs)
    assert result is not None
    assert result["stream_written_bytes"] is None


def test_idle_flash_has_no_amplification_and_lasts() -> None:
    result = endurance("storage.d", [window(0, 0, 1e9)])
    assert result is not None
    assert (result["write_amplification"], result["life_years"]) == (None, None)


def test_earlier_phases_writes_count_but_are_not_extrapolated() -> None:
    result = endurance("storage.d", [window(400, 400, 1e9)], retried=True, is_written=False)
    assert result is not None
    assert (result["host_bytes"], result["moved_bytes"]) == (400, 400)
    shown = (result[key] for key in ("write_amplification", "life_years", "life_years_retried"))
    assert list(shown) == [None, None, None]


def test_storage_without_flash_has_no_endurance() -> None:
    assert (
        endurance("storage.d", [WindowData(SECOND, [SECOND], {"busy.media_ns": [5]}, {})]) is None
    )


def test_exhausted_life_with_read_retry_is_zero() -> None:
    over = endurance("storage.d", [window(400, 400, 0)], retried=True)
    assert over is not None
    assert (over["life_years"], over["life_years_retried"]) == (0, 0)


def test_flash_is_readable_up_to_endurance_plus_read_retry() -> None:
    retry = {"worn": {"value": "20 %"}, "extra_life": {"value": "64 %"}}
    for percent, flash, shown, readable in [
        (None, {}, Worn(0.0, None), True),
        (None, {"read_retry": retry}, Worn(0.2, 0.64), True),
        (164, {"read_retry": retry}, Worn(1.64, 0.64), True),
        (165, {"read_retry": retry}, Worn(1.65, 0.64), False),
        (101, {"read_retry": {"worn": {"value": "0 %"}}}, Worn(1.01, None), False),
    ]:
        drive = {"device": {"profile": "p", "device": {"flash": flash}}}
        if percent is not None:
            flash["simulated"] = {"worn_percent": percent}
        result = worn({"raid0": {"members": 2, "of": drive}})
        assert result == shown
        assert result.is_readable == readable
    assert worn({"device": {"profile": "p", "device": {"hdd": {}}}}) is None


def test_rebuild_wears_flash_in_an_idle_phase() -> None:
    run = window(400, 200, 1e9)
    rebuilt = WindowData(SECOND, run.lengths_ns, {**run.counters, "rebuild.bytes": [400, 0]}, {})
    result = endurance("storage.d", [rebuilt], is_written=False)
    assert result is not None
    assert result["write_amplification"] == 1.5
    assert result["life_years"] == pytest.approx(1e9 / (600 * SECONDS_PER_YEAR), rel=1e-5)
    moved = window(0, 200, 1e9)
    by_itself = WindowData(
        SECOND, run.lengths_ns, {**moved.counters, "rebuild.bytes": [200, 0]}, {}
    )
    result = endurance("storage.d", [by_itself], is_written=False)
    assert result is not None
    assert result["write_amplification"] is None
    assert result["life_years"] == pytest.approx(1e9 / (200 * SECONDS_PER_YEAR), rel=1e-5)


def test_drive_without_effective_spare_has_exactly_none() -> None:
    mapped, erased = [4 << 12, 3 << 12, 4 << 12], [84 << 12, 70 << 12, 2 << 12]

    def effective(more: int) -> float:
        held = [ours + theirs + more for ours, theirs in zip(mapped, erased, strict=True)]
        states = {"physical": held, "logical": mapped, "mapped": mapped, "erased": erased}
        counters = {f"flash.{part}_bytes": values for part, values in states.items()}
        result = endurance("storage.d", [WindowData(SECOND, [SECOND // 3] * 3, counters, {})])
        assert result is not None
        return result["over_provisioning"]["effective"]

    assert effective(0) == 0
    assert (effective(4096), effective(-4096)) == pytest.approx((3 / 11, -3 / 11))
