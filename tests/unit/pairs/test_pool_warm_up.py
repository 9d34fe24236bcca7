"""Warm-up of a buffer pool from counters, and commits of growing journals."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tameshi.pairs.ledger_load import JOURNAL, LedgerLoad
from tameshi.pairs.warm_up import PoolReading, drive_reads, warmths
from tameshi.servers.product import Address

LEFT, RIGHT = ("left", 7), ("right", 8)


def reading(at_s: float, commits: int, **counters: int | None) -> PoolReading:
    given = {"requests": None, "misses": None, "drive_reads": None, **counters}
    return PoolReading(time_ns=round(at_s * 1e9), server=LEFT, commits=commits, **given)


def test_warmth_is_the_increase_between_two_readings() -> None:
    first = reading(1, 100, requests=1000, misses=10, drive_reads=50)
    second = reading(3, 300, requests=3000, misses=110, drive_reads=150)
    (found,) = warmths([first, second], event_ns=500_000_000)
    assert (found.begin_ns, found.end_ns) == (500_000_000, 2_500_000_000)
    assert found.rate == 100
    assert found.hit_ratio == pytest.approx(0.95)
    assert found.reads_per_commit == 0.5


def test_warmth_without_requests_commits_or_drive_is_not_known() -> None:
    (idle,) = warmths([reading(0, 5, requests=9, misses=1), reading(1, 5, requests=9, misses=1)], 0)
    assert idle.hit_ratio is None and idle.reads_per_commit is None and idle.rate == 0
    (restarted,) = warmths([reading(0, 1, requests=9), reading(1, 2, requests=3)], 0)
    assert restarted.hit_ratio is None, "counters of a server began anew"


def test_readings_of_two_servers_make_no_warmth() -> None:
    left = reading(0, 1)
    right = PoolReading(10**9, RIGHT, 2, None, None, None)
    assert warmths([left, right], 0) == ()


def test_side_without_a_served_drive_has_no_reads() -> None:
    assert drive_reads(SimpleNamespace(drive=None)) is None  # type: ignore[arg-type]
    gone = SimpleNamespace(drive=SimpleNamespace(node=Path("/dev/no-such-device")))
    assert drive_reads(gone) is None  # type: ignore[arg-type]


def test_commits_are_counted_as_journals_grow(tmp_path: Path) -> None:
    load = LedgerLoad(Address("mariadb", "tameshi"), {}, tmp_path)
    folder = tmp_path / JOURNAL
    folder.mkdir()
    journal = folder / "client-0.journal"
    journal.write_text("run 1\na 1 3\na 4")
    assert load.commits() == 3
    with journal.open("a") as file:
        file.write(" 6\nu 7\na 8 8\n")
    (folder / "client-1.journal").write_text("a 1 10\n")
    assert load.commits() == 3 + 3 + 1 + 10
    assert load.commits() == 17
