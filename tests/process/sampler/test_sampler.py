"""Sampler: exact increases from known counters, and samples of the real kernel."""

from __future__ import annotations

import csv
import os
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from tameshi import guard
from tameshi.core.environment import diskstats_name
from tameshi.core.errors import GuardRefusal
from tameshi.run import sampler
from tameshi.run.sampler import Counters, Sampler, gains, next_due

HOUR_NS = 3600 * 10**9
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    guard.claim_folder(tmp_path / "run")
    return tmp_path / "run"


class FakeProc:
    """Fictitious /proc; every counter is a small multiple of `step`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "42").mkdir(parents=True)
        self.show(step=1)

    def show(self, step: int, devices: str = "sda", birth: int = 77) -> None:
        columns = " ".join(str(step * column) for column in range(1, 18))
        disks = "".join(f"   8  0 {name} {columns}\n" for name in devices.split())
        (self.root / "diskstats").write_text("   7  0 loop0 " + "0 " * 17 + "\n" + disks)
        (self.root / "stat").write_text(
            f"cpu  {step} {2 * step} {3 * step} {4 * step} {5 * step} {6 * step} {7 * step} 9 9 9\n"
            "cpu0 1 1 1 1 1 1 1 1 1 1\nbtime 0\n"
        )
        before, between = "S 1 1 1 0 -1 0 0 0 0 0", "0 0 20 0 1 0"
        (self.root / "42" / "stat").write_text(
            f"42 (a (nasty) name) {before} {8 * step} {9 * step} {between} {birth} 0 0\n"
        )
        (self.root / "42" / "io").write_text(
            f"rchar: 1\nread_bytes: {10 * step}\nwrite_bytes: {11 * step}\n"
        )


@pytest.fixture
def proc(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path / "proc")


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "series" / "sampler.csv").open() as file:
        return list(csv.DictReader(file))


def totals(folder: Path) -> dict[tuple[str, str], int]:
    summed: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows(folder):
        summed[row["subject"], row["metric"]] += int(row["value"])
    return dict(summed)


def test_every_metric_is_the_gain_within_the_interval(folder: Path, proc: FakeProc) -> None:
    with Sampler(folder, 0, HOUR_NS, ["sda"], {"worker": 42}, proc=proc.root) as taken:
        proc.show(step=101)
    found = totals(folder)
    own = {key for key in found if key[0] == "sampler"}
    assert own == {("sampler", "process.cpu_user_ns"), ("sampler", "process.cpu_system_ns")}
    assert {key: value for key, value in found.items() if key not in own} == {
        ("sda", "disk.reads"): 100,
        ("sda", "disk.read_merges"): 200,
        ("sda", "disk.read_ns"): 400_000_000,
        ("sda", "disk.write_merges"): 600,
        ("sda", "disk.write_ns"): 800_000_000,
        ("sda", "disk.read_bytes"): 300 * 512,
        ("sda", "disk.writes"): 500,
        ("sda", "disk.written_bytes"): 700 * 512,
        ("sda", "disk.flushes"): 1600,
        ("sda", "disk.busy_ns"): 1000 * 10**6,
        ("sda", "disk.weighted_ns"): 1100 * 10**6,
        ("machine", "machine.cpu_user_ns"): 300 * TICK_NS,
        ("machine", "machine.cpu_system_ns"): 1600 * TICK_NS,
        ("machine", "machine.cpu_iowait_ns"): 500 * TICK_NS,
        ("machine", "machine.cpu_idle_ns"): 400 * TICK_NS,
        ("worker", "process.cpu_user_ns"): 800 * TICK_NS,
        ("worker", "process.cpu_system_ns"): 900 * TICK_NS,
        ("worker", "process.read_bytes"): 1000,
        ("worker", "process.written_bytes"): 1100,
    }
    assert taken.problems == []


def test_a_kernel_that_counts_no_flushes_has_no_row_for_them(folder: Path, proc: FakeProc) -> None:
    (proc.root / "diskstats").write_text("   8  0 sda 1 2 3 4 5 6 7 8 9 10 11\n")
    with Sampler(folder, 0, HOUR_NS, ["sda"], {}, proc=proc.root):
        pass
    metrics = {row["metric"] for row in rows(folder) if row["subject"] == "sda"}
    assert "disk.reads" in metrics and "disk.flushes" not in metrics


def test_counters_the_kernel_hides_leave_the_others(folder: Path, proc: FakeProc) -> None:
    (proc.root / "42" / "io").unlink()
    with Sampler(folder, 0, HOUR_NS, [], {"worker": 42}, proc=proc.root) as taken:
        pass
    metrics = {row["metric"] for row in rows(folder) if row["subject"] == "worker"}
    assert metrics == {"process.cpu_user_ns", "process.cpu_system_ns"}
    assert taken.problems == []


def test_a_device_that_vanishes_ends_its_rows_and_is_a_problem(
    folder: Path, proc: FakeProc
) -> None:
    with Sampler(folder, 0, HOUR_NS, ["sda"], {}, proc=proc.root) as taken:
        proc.show(step=2, devices="sdb")
    subjects = {row["subject"] for row in rows(folder)}
    assert subjects == {"machine", "sampler"}
    assert taken.problems == ["sda vanished during the run"]


def test_a_process_that_ends_or_is_followed_by_another_is_a_problem(
    folder: Path, proc: FakeProc
) -> None:
    with Sampler(folder, 0, HOUR_NS, [], {"worker": 42}, proc=proc.root) as taken:
        proc.show(step=2, birth=78)
    assert "worker" not in {row["subject"] for row in rows(folder)}
    assert taken.problems == ["the counters of worker began anew during the run"]


def test_what_is_not_there_at_the_start_is_a_problem(folder: Path, proc: FakeProc) -> None:
    with Sampler(folder, 0, HOUR_NS, ["nvme9n1"], {"server": 43}, proc=proc.root) as taken:
        pass
    assert taken.problems == [
        "nvme9n1 is not there to be sampled",
        "server is not there to be sampled",
    ]


def test_a_proc_that_makes_no_sense_ends_the_sampler_and_not_the_run(
    folder: Path, proc: FakeProc
) -> None:
    with Sampler(folder, 0, HOUR_NS, ["sda"], {}, proc=proc.root) as taken:
        (proc.root / "diskstats").write_text("   8  0 sda " + "x " * 17)
    assert len(taken.problems) == 1 and "the sampler ended early" in taken.problems[0]


def test_nothing_is_recorded_before_t0(folder: Path, proc: FakeProc) -> None:
    ahead = time.monotonic_ns() + HOUR_NS
    with Sampler(folder, ahead, HOUR_NS, ["sda"], {}, proc=proc.root):
        proc.show(step=2)
    assert (folder / "series" / "sampler.csv").read_bytes() == sampler.HEADER


def test_a_subject_that_would_break_the_file_is_not_accepted(folder: Path) -> None:
    with pytest.raises(ValueError, match="series"):
        Sampler(folder, 0, HOUR_NS, [], {"a,b": 1})


def test_sampler_writes_only_into_own_folder(tmp_path: Path) -> None:
    with pytest.raises(GuardRefusal):
        Sampler(tmp_path, 0, HOUR_NS, [], {})
    assert list(tmp_path.iterdir()) == []


# --- Increases and schedule, without a thread --------------------------------------------------


@pytest.mark.parametrize("metric", ["disk.busy_ns", "disk.weighted_ns"])
def test_wrapped_time_counter_keeps_its_increase(metric: str) -> None:
    full = 10**6 << 32
    before = {"sda": Counters("", {metric: full - 7_000_000})}
    now = {"sda": Counters("", {metric: 3_000_000})}
    assert gains(before, now) == ([sampler.Row("sda", metric, 10_000_000)], [])


def test_falling_counter_restarted_and_has_no_row() -> None:
    before = {"sda": Counters("", {"disk.reads": 9, "disk.writes": 1})}
    now = {"sda": Counters("", {"disk.reads": 8, "disk.writes": 2})}
    assert gains(before, now) == ([], ["the counters of sda began anew during the run"])


def test_idle_time_taken_back_is_no_increase() -> None:
    before = {"machine": Counters("", {"machine.cpu_idle_ns": 9})}
    now = {"machine": Counters("", {"machine.cpu_idle_ns": 8})}
    assert gains(before, now) == ([sampler.Row("machine", "machine.cpu_idle_ns", 0)], [])


@pytest.mark.parametrize(
    ("now", "due"), [(0, 100), (99, 100), (100, 110), (109, 110), (110, 120), (1234, 1240)]
)
def test_sampling_schedule_is_absolute(now: int, due: int) -> None:
    assert next_due(now, t0_ns=100, interval_ns=10) == due


# --- The real kernel -------------------------------------------------------------------------


def test_kernel_counters_show_written_bytes(folder: Path) -> None:
    device = diskstats_name(folder)
    size = 8 << 20
    t0_ns = time.monotonic_ns()
    devices = [device] if device else []
    with Sampler(folder, t0_ns, 50_000_000, devices, {"worker": os.getpid()}) as taken:
        for _ in range(3):
            with (folder / "data").open("wb") as file:
                file.write(os.urandom(size))
                os.fsync(file.fileno())
            time.sleep(0.1)
    assert taken.problems == []
    found = totals(folder)
    if device:
        assert found[device, "disk.written_bytes"] >= 3 * size
        assert found["worker", "process.written_bytes"] >= 3 * size
        assert found[device, "disk.busy_ns"] > 0
    assert found["machine", "machine.cpu_idle_ns"] + found["machine", "machine.cpu_user_ns"] > 0


def test_intervals_are_contiguous(folder: Path) -> None:
    t0_ns = time.monotonic_ns()
    with Sampler(folder, t0_ns, 20_000_000, [], {}):
        time.sleep(0.1)
    times = list(dict.fromkeys((int(row["t_ns"]), int(row["dt_ns"])) for row in rows(folder)))
    assert len(times) > 1
    assert all(dt_ns > 0 for _, dt_ns in times)
    for (before_ns, _), (t_ns, dt_ns) in pairwise(times):
        assert t_ns - dt_ns == before_ns


def test_family_counts_descendants_and_ended_processes(tmp_path):
    def process(pid: int, parent: int, ticks: int) -> None:
        folder = tmp_path / str(pid)
        folder.mkdir(exist_ok=True)
        fields = ["S", str(parent), *["0"] * 9, str(ticks), "0", *["0"] * 6, str(pid), "0"]
        (folder / "stat").write_text(f"{pid} (a (b) c) {' '.join(fields)}\n")

    def user() -> int:
        return family.read(tmp_path, "server")["server"].values["process.cpu_user_ns"]

    family = sampler.Family(lambda: 10)
    for pid, parent, ticks in ((10, 1, 5), (11, 10, 7), (12, 11, 100), (99, 1, 1000)):
        process(pid, parent, ticks)
    assert user() == 112 * TICK_NS
    (tmp_path / "12" / "stat").unlink()
    process(13, 10, 1)
    assert user() == 113 * TICK_NS, "what 12 did is not taken back"
    (tmp_path / "10" / "stat").unlink()
    assert family.read(tmp_path, "server") == {}
