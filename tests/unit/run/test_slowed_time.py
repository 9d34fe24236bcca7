"""Slow motion: clock, option, choice of the factor, and what a plan tells."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tameshi.commands.bounds import lasting, too_fast
from tameshi.core.clock import WALL, Clock
from tameshi.core.errors import BadInput
from tameshi.core.spec_types import Plan, World
from tameshi.run.sampler import Row, slowed
from tameshi.run.slow_motion import FACTORS, choose, demand_of
from tameshi.study.bindings import check_slow, slow_of
from tameshi.study.file import plan, read_study

STUDY = """
title = "A drive"
question = "How fast?"
[storage.disk]
device = "DRIVE"
LOAD
[phase]
run = { workload = ["NAME"], until.time = "10 s" }
[run]
seed = 1
"""
STREAM = '[workload.stream.io]\nblock_size = "4 KiB"\nread = "50 %"\nqueue_depth = '
DATABASE = """[engine.mysql]
buffer_pool = "64 MiB"
[workload.key_update]
tables = 1
rows = 1000
row_size = "300 B"
clients = """


def planned(tmp_path: Path, drive: str, load: str, name: str = "stream.io") -> Plan:
    path = tmp_path / "s.toml"
    text = STUDY.replace("DRIVE", drive).replace("LOAD", load).replace("NAME", name)
    path.write_text(text)
    return plan(read_study(path), "emulated", quick=False)


def test_clock_divides_the_wall_and_waits_as_much_longer() -> None:
    clock = Clock(4)
    assert clock.slowed_ns(4_000_000_003) == 1_000_000_000
    assert Clock(1.5).slowed_ns(3_001) == 2_000
    begin_ns = clock.now_ns()
    assert abs(begin_ns * 4 - time.monotonic_ns()) < 1e9
    before_s = time.monotonic()
    assert not clock.wait(threading.Event(), 20_000_000)
    assert 0.08 <= time.monotonic() - before_s < 1
    assert clock.now_ns() - begin_ns >= 20_000_000


def test_clock_without_slow_motion_is_the_wall() -> None:
    for reading in (0, 1, 999, 1 << 62):
        assert WALL.slowed_ns(reading) == reading


def test_kernel_times_are_rows_of_slowed_time() -> None:
    assert slowed(Row("sda", "disk.busy_ns", 4000), Clock(4)).value == 1000
    assert slowed(Row("sda", "disk.reads", 4000), Clock(4)).value == 4000
    assert slowed(Row("sda", "disk.busy_ns", 4000), WALL).value == 4000


@pytest.mark.parametrize(("text", "factor"), [("1", 1), ("4.0", 4), ("1.5", 1.5), ("auto", None)])
def test_option_is_a_factor_or_auto(text: str, factor: float | None) -> None:
    found = slow_of(text)
    # The identity of a run has the number as JSON.
    assert repr(found) == repr(factor)


@pytest.mark.parametrize("text", ["0.5", "-4", "1001", "nan", "inf", "fast", ""])
def test_other_options_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--slow: unknown slow motion"):
        slow_of(text)


def test_slow_motion_needs_an_emulated_world() -> None:
    check_slow(1, [World.simulated])
    check_slow(4, [World.simulated, World.emulated])
    for slow in (4, None):
        with pytest.raises(BadInput, match="emulated runs only"):
            check_slow(slow, [World.simulated, World.measured])


def test_slow_motion_as_of_a_host_excludes_a_factor() -> None:
    check_slow(1, [World.emulated], "host")
    with pytest.raises(BadInput, match="--slow-like: slow motion applies to emulated runs only"):
        check_slow(1, [World.simulated], "host")
    for slow in (4, None):
        with pytest.raises(BadInput, match="it chooses the factor that --slow sets"):
            check_slow(slow, [World.emulated], "host")


def test_auto_leaves_a_disk_at_its_own_pace(tmp_path: Path) -> None:
    choice = choose(planned(tmp_path, "sas-15k-146gb", STREAM + "2"), processors=2)
    assert choice.factor == 1 and "write on `disk`" in choice.why


def test_auto_slows_a_drive_that_outruns_the_path(tmp_path: Path) -> None:
    found = planned(tmp_path, "nvme-tlc-1tb-consumer", STREAM + "1")
    fastest_ns = demand_of(found).fastest_ns
    choice = choose(found, path_ns=3 * fastest_ns, processors=64)
    assert choice.factor == 4
    assert choose(found, path_ns=fastest_ns, processors=64).factor == 1


def test_auto_makes_room_for_the_load(tmp_path: Path) -> None:
    found = planned(tmp_path, "sata-ssd-480gb", DATABASE + "16", "key_update")
    assert demand_of(found).load > 4
    factors = [choose(found, path_ns=1, processors=count).factor for count in (64, 8, 2)]
    assert factors == sorted(factors) and factors[0] == 1 and factors[-1] > 2
    for count, factor in zip((64, 8, 2), factors, strict=True):
        assert demand_of(found).processors(factor) <= 0.7 * count


def test_auto_tells_when_no_factor_is_enough(tmp_path: Path) -> None:
    found = planned(tmp_path, "nvme-tlc-1tb-consumer", STREAM + "1")
    choice = choose(found, path_ns=10**9, processors=2)
    assert choice.factor == FACTORS[-1] and "not" not in choice.why.split(";")[0]
    assert choice.why.endswith("no accepted factor is enough for the path")


def test_plan_tells_wall_time_and_a_shorter_path(tmp_path: Path) -> None:
    found = planned(tmp_path, "nvme-tlc-1tb-consumer", STREAM + "1")
    assert lasting(World.emulated, found) == "at most 10 s"
    slow = lasting(World.emulated, found, 4)
    assert slow == "at most 10 s of slowed time, 40 s of wall time"
    assert too_fast(found) and not too_fast(found, 20)
