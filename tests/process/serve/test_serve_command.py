"""Refusals of `tameshi serve`, before anything is made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import tameshi

from tameshi.commands import serve as command
from tameshi.commands.serve_target import State, find_target
from tameshi.serve import plans, shortfalls, status_line, stores
from tameshi.serve.messages import parse_message
from tameshi.serve.show import corruption_text, cut_text, slowdown_text
from tameshi.serve.stores import limit_of

REFUSED = [
    ("unknown drive", ["no-such-drive"], "no-such-drive"),
    ("file system", ["null", "--fs", "zfs"], "xfs or ext4"),
    ("lie", ["null", "--lie", "atomic"], "flush"),
    ("small", ["null", "--size", "10MiB"], "512.0 MiB or more"),
    ("memory", ["null", "--memory", "900TiB"], "not so much memory"),
    ("store and memory", ["null", "--store", "/tmp", "--memory", "1GiB"], "--store or --memory"),
    ("no store", ["null", "--store", "{full}/none"], "there is no such directory"),
    ("file as store", ["null", "--store", "{full}/precious"], "this is no directory"),
    ("store in memory", ["null", "--store", "/dev/shm"], "are in memory (tmpfs)"),
    ("block at", ["null", "--block", "--at", "/tmp/x"], "no mount point"),
    ("mount point in use", ["null", "--at", "/proc"], "a mount point in use"),
    ("full folder", ["null", "--at", "{full}"], "1 entries, such as precious"),
    ("file as mount point", ["null", "--at", "{full}/precious"], "not a directory"),
    ("no parent", ["null", "--at", "{full}/a/b"], "no directory"),
    ("no capacitor", ["null", "--without-capacitor"], "no capacitor"),
    ("unknown message", ["ctl", "melt"], "link cut|heal, status or reset"),
    ("slow by nothing", ["ctl", "slow"], "slow FACTOR [SECONDS]"),
    ("speed-up", ["ctl", "slow", "0.5"], "a factor from 1 to 1000; 1 ends it"),
    ("slow by a word", ["ctl", "slow", "auto"], "a factor from 1 to 1000; 1 ends it"),
    ("slow for no time", ["ctl", "slow", "2", "0"], "more than 0 and at most 1,000,000 s"),
    ("corruption", ["ctl", "corrupt", "melt", "0", "1KiB"], "error, flip or misdirect"),
    ("no range", ["ctl", "corrupt", "flip", "0"], "corrupt KIND OFFSET LENGTH"),
    ("no length", ["ctl", "corrupt", "flip", "0", "8 apples"], "`apples` is no unit of a size"),
    ("no session", ["ctl", "cut", "--drive", "nowhere"], "nowhere"),
]

WHOLE = {"unreadable_bytes": 0, "failed_reads": 0, "flipped_bits": 0, "misdirected_writes": 0}


@pytest.mark.parametrize(
    ("options", "expected"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_bad_input_is_refused_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], expected: str
) -> None:
    monkeypatch.setattr(plans, "require_rights", lambda: None)
    (tmp_path / "precious").write_text("data")
    before = sorted(tmp_path.rglob("*"))
    done = tameshi("serve", *(option.format(full=tmp_path) for option in options))
    assert done.returncode == 2 and expected in " ".join(done.stderr.split()), done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_ordinary_user_is_told_to_become_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = tameshi("serve", "null")
    assert done.returncode == 2 and "needs root" in done.stderr


def test_disk_is_served_whole_and_flash_up_to_a_limit() -> None:
    new = State(written=None, aged=())
    disk, flash = (
        find_target(name, None, plans.DEFAULT_BYTES, new, capacitor=True)
        for name in ("sas-15k-146gb", "sata-ssd-480gb")
    )
    assert disk.size_bytes == disk.capacity_bytes == 146_000_000_000
    assert 0.9 * plans.DEFAULT_BYTES < flash.size_bytes <= plans.DEFAULT_BYTES
    assert flash.capacity_bytes == 480_000_000_000


@pytest.mark.parametrize(
    ("free_mib", "limit_mib"), [(10, 0), (64, 0), (320, 256), (1280, 1216), (20_000, 19_000)]
)
def test_store_leaves_a_part_of_the_disk_free(free_mib: int, limit_mib: int) -> None:
    assert limit_of(free_mib << 20) == limit_mib << 20


def test_store_on_a_disk_without_space_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "LEAST_BYTES", 1 << 60)
    done = tameshi("serve", "null", "--store", str(tmp_path))
    assert done.returncode == 2 and "too little free space" in done.stderr, done.stderr


def test_status_line_names_rates_latencies_and_lateness() -> None:
    quiet = {"p50": 0}
    idle = {"operations": 0, "bytes": 0, "modelled_ns": quiet, "met_ns": quiet, "late_ns": quiet}
    busy = {
        "operations": 3000,
        "bytes": 12_288_000,
        "modelled_ns": {"p50": 80_000},
        "met_ns": {"p50": 81_000},
        "late_ns": {"p99": 9_000},
    }
    kinds = {"read": busy, "write": idle, "flush": idle, "trim": idle}
    status = {
        "elapsed_ns": 2_000_000_000,
        "operations": kinds,
        "store": "memory",
        "used_bytes": 1 << 20,
        "limit_bytes": 1 << 30,
        "refused_writes": 2,
        "members": {"failed": [], "rebuilding": [], "is_broken": False},
        "slowdown": {"factor": 1, "left_ns": None},
        "corruption": WHOLE,
    }
    assert status_line(status) == (
        "1,500 reads/s, 6.1 MB/s | read 80.0 µs modelled, 81.0 µs met, late p99 9.00 µs"
        " | 1.0 MiB of 1.0 GiB memory, 2 writes refused"
    )
    assert "| 1.0 MiB of 1.0 GiB in /data," in status_line({**status, "store": "/data"})
    bad = {"unreadable_bytes": 8192, "failed_reads": 3, "flipped_bits": 16, "misdirected_writes": 1}
    slow = {"factor": 2.5, "left_ns": None}
    assert status_line({**status, "slowdown": slow, "corruption": bad}).endswith(
        " | 2.5 times as late, unreadable: 8.0 KiB, failed reads: 3, flipped bits: 16, "
        "misdirected writes: 1"
    )


def test_latency_below_the_path_is_told_with_its_amount() -> None:
    fast = {"operations": 10, "short": 4, "short_ns": 40_000}
    slow = {"operations": 10, "short": 0, "short_ns": 0}
    assert shortfalls({"operations": {"read": fast, "write": slow, "flush": slow}}) == [
        "warning: 40% of reads have a modelled latency below the path's own time, and take "
        "10.0 µs more on average"
    ]


def test_cut_is_told_with_losses_and_recovery() -> None:
    cut = {
        **{"lost_writes": 2, "acknowledged": 9, "lost_bytes": 8192, "stored_writes": 1},
        **{"under_way": 3, "torn_writes": 1, "killed": 4, "mounted_ns": 300_000_000},
    }
    assert cut_text(cut) == (
        "power cut: 2 of 9 acknowledged writes not flushed are lost (8.0 KiB); 1 of 3 writes "
        "under way are stored; 1 torn; 4 processes killed; mounted again after 300 ms"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fail", "1"], "fail 1"),
        (["slow", "4"], "slow 4.0"),
        (["slow", "1.25", "0.5"], "slow 1.25 500000000"),
        (["corrupt", "flip", "1GiB", "4KiB"], "corrupt flip 1073741824 4096"),
        (["corrupt", "error", "0", "512"], "corrupt error 0 512"),
        (["failover"], "fail_over"),
        (["take-back"], "take_back"),
        (["link", "cut"], "link cut"),
    ],
)
def test_message_has_numbers_without_units(words: list[str], message: str) -> None:
    assert parse_message(words) == message


def test_slowdown_is_told_with_its_end() -> None:
    told = [slowdown_text({"factor": 4.0, "left_ns": left}) for left in (None, 30_000_000_000)]
    assert told == [
        "requests are answered 4 times as late, until `tameshi serve ctl slow 1`",
        "requests are answered 4 times as late, for 30 s",
    ]
    assert "by the model's time alone" in slowdown_text({"factor": 1.0, "left_ns": None})


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("error", "reads that touch 8.0 KiB at byte 4,096 fail until it is written anew"),
        ("flip", "16 bits of 8.0 KiB at byte 4,096 flipped: one per sector"),
        (
            "misdirect",
            "the next write that touches 8.0 KiB at byte 4,096 is stored one length "
            "further, without an error",
        ),
    ],
)
def test_corruption_is_told_with_its_range(kind: str, text: str) -> None:
    place = {"kind": kind, "offset_bytes": 4096, "length_bytes": 8192}
    assert corruption_text(place) == text


def test_serve_command_announces_ctl_in_its_help() -> None:
    assert command.app is not None
    done = tameshi("serve", "--help")
    assert "ctl" in done.stdout and "--without-capacitor" in done.stdout
