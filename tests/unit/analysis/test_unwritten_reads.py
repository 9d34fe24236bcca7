"""Detection of reads that mostly hit flash that was never written."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.unwritten_reads import least_read_ns, share_met

READ_NS = 40_000


def flash(written: str | None, *times: str) -> dict[str, Any]:
    """Return a flash drive in a device tree."""
    value = list(times) if len(times) > 1 else times[0]
    drive: dict[str, Any] = {"nand": {"read_time": {"value": value, "source": "s"}}}
    if written:
        drive["simulated"] = {"written": written}
    return {"device": {"profile": "p", "device": {"flash": drive}}}


DISK = {"device": {"profile": "d", "device": {"hdd": {}}}}


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (flash("never", "40 µs"), READ_NS),
        (flash(None, "60 µs", "40 µs"), READ_NS),
        ({"raid1": {"members": 2, "of": flash("never", "40 µs")}}, READ_NS),
        ({"stripe": {"of": [flash("never", "90 µs"), flash("never", "40 µs")]}}, READ_NS),
        (flash("once", "40 µs"), None),
        ({"stripe": {"of": [flash("never", "90 µs"), flash("steady", "40 µs")]}}, None),
        ({"tier": {"fast": flash("never", "40 µs"), "slow": DISK}}, None),
        (DISK, None),
    ],
)
def test_only_new_all_flash_storage_can_be_unwritten(
    model: dict[str, Any], least: int | None
) -> None:
    assert least_read_ns(model) == least


@pytest.mark.parametrize(
    ("met", "mapped", "told"),
    [(100, 0.0, 1.0), (70, 0.2, 0.7), (40, 0.2, None), (100, 0.9, None)],
)
def test_fast_reads_of_little_mapped_flash_are_unwritten(
    met: int, mapped: float, told: float | None
) -> None:
    spent = {"time.media_ns_sum": [READ_NS * (100.0 - met)]} if met < 100 else {}
    stream = WindowData(1, [1], {"read.count": [100.0], **spent}, {})
    states = {"flash.mapped_bytes": [mapped * 1000], "flash.logical_bytes": [1000.0]}
    result = share_met(stream, WindowData(1, [1], states, {}), READ_NS)
    assert result == (None if told is None else pytest.approx(told))


def test_stream_without_reads_has_no_unwritten_reads() -> None:
    states = {"flash.mapped_bytes": [0.0], "flash.logical_bytes": [1000.0]}
    assert share_met(WindowData(1, [1], {}, {}), WindowData(1, [1], states, {}), READ_NS) is None
