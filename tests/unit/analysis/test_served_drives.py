"""Verdicts on served drives from their figures."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.stats.served import KINDS, moved_share, path_share, served_verdicts
from tameshi.report.words.text import Text

SECOND_NS = 1_000_000_000
NONE = dict.fromkeys(("mean", "p50", "p99"), 0)


def figures(
    count: int = 0, modelled_ns: int = 0, late_ns: int = 0, short: int = 0, short_ns: int = 0
) -> dict[str, Any]:
    """Figures of requests that all took the same time."""
    same = {"modelled_ns": modelled_ns, "late_ns": late_ns, "met_ns": modelled_ns + late_ns}
    spread = {name: dict.fromkeys(NONE, value) for name, value in same.items()}
    return {"operations": count, "short": short, "short_ns": short_ns, **spread}


def status(**operations: dict[str, Any]) -> dict[str, Any]:
    """Figures of a drive with all means of pacing."""
    every = {kind: operations.get(kind, figures()) for kind in KINDS}
    return {"operations": every, "real_time": True, "processors_awake": True}


def found(of: dict[str, Any], window_ns: int = SECOND_NS) -> list[tuple[str, str]]:
    """Levels and codes of the verdicts."""
    verdicts = served_verdicts("disk", of, window_ns)
    return [(each["level"], reason["code"]) for each in verdicts for reason in each["reasons"]]


@pytest.mark.parametrize(
    ("modelled_ns", "late_ns", "warns"),
    [
        (80_000, 4_900, False),
        (80_000, 5_100, True),
        (5_000_000, 90_000, False),
        (5_000_000, 110_000, True),
    ],
)
def test_late_answers_warn_above_5_us_and_2_percent(
    modelled_ns: int, late_ns: int, warns: bool
) -> None:
    of = status(read=figures(10, modelled_ns, late_ns))
    assert found(of) == [("warning", "served_late")] * warns


def test_unmet_latencies_warn_with_operation_and_amount() -> None:
    of = status(write=figures(1000, 8_000, 0, short=990, short_ns=990 * 27_000))
    (warning,) = served_verdicts("disk", of, 100 * SECOND_NS)
    (reason,) = warning["reasons"]
    assert reason["code"] == "served_short" and reason["subject"] == "disk"
    assert reason["values"] == {"operation": "write", "share": 0.99, "missing_ns": 27_000}


def test_lateness_beyond_5_percent_of_work_is_invalid() -> None:
    late = status(read=figures(9_000, 100_000, 7_000))
    assert ("invalid", "served_moved") in found(late)
    assert moved_share(late, SECOND_NS) == pytest.approx(9_000 * 7_000 / SECOND_NS)


def test_idle_drive_moves_no_rate_by_lateness() -> None:
    late = status(read=figures(100, 10_000, 10_000))
    assert found(late, 10 * SECOND_NS) == [("warning", "served_late")]


def test_busy_kernel_path_warns_with_its_share() -> None:
    of = status(read=figures(100, 90_000)) | {"kernel_ns": {"read": 100 * 100_000, "write": 0}}
    assert path_share(of) == pytest.approx(0.1)
    assert found(of) == [("warning", "served_path")]


def test_unpaced_drive_warns() -> None:
    assert found(status() | {"real_time": False}) == [("warning", "served_unpaced")]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_each_reason_has_words(lang: str) -> None:
    of = status(read=figures(9_000, 80_000, 30_000, short=9_000, short_ns=9_000 * 20_000))
    of |= {"processors_awake": False, "kernel_ns": {"read": 2 * SECOND_NS}}
    verdicts = served_verdicts("disk", of, SECOND_NS)
    said = [Text(lang).reason(reason) for each in verdicts for reason in each["reasons"]]
    assert len(said) == 5 and all("disk" in sentence for sentence in said)
