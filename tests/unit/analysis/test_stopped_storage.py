"""Storages that stop serving: the time, and cases without an outage."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tameshi.analysis.findings import _dead
from tameshi.analysis.series import Stretch
from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.stopped_storage import dead_for, is_without_figures, leaves_nothing

SECOND = 1_000_000_000
DRIVE: dict[str, Any] = {"device": {"profile": "x"}}
MIRROR: dict[str, Any] = {"raid1": {"members": 2, "of": DRIVE}}


def stream(reads: Sequence[float], failed: Sequence[float] = ()) -> WindowData:
    """Return a stream with completions and failures per second."""
    counters = {"read.count": list(reads)} | ({"load.failed": list(failed)} if failed else {})
    return WindowData(SECOND * len(reads), [SECOND] * len(reads), counters, {})


def test_storage_is_stopped_since_its_last_completion() -> None:
    assert dead_for([stream([9, 0, 9, 0, 0], [0, 5, 0, 5, 5])]) == 2 * SECOND
    assert dead_for([stream([9, 9, 9, 0], [0, 0, 0, 5])]) == SECOND


def test_last_served_stream_decides_and_unserved_ones_do_not() -> None:
    early, late = stream([9, 0, 0, 0], [0, 5, 5, 5]), stream([9, 9, 9, 0], [0, 0, 0, 5])
    assert dead_for([early, late]) == SECOND
    assert dead_for([early, stream([0, 0, 0, 0], [5, 5, 5, 5])]) == 3 * SECOND
    assert dead_for([early, stream([9, 9, 9, 9])]) is None


def test_idle_or_serving_storage_is_not_stopped() -> None:
    assert dead_for([]) is None
    assert dead_for([stream([9, 0, 9], [0, 50, 0])]) is None, "it came back"
    assert dead_for([stream([0, 0, 0], [5, 5, 5])]) is None, "no figure is a mean over it"
    assert dead_for([stream([9, 9, 0])]) is None, "nothing was asked for any more"
    assert dead_for([stream([9, 9, 0], [50, 1, 1])]) is None, "a single one may fail"


def test_failure_within_an_interval_stops_storage_from_its_time() -> None:
    last = stream([9, 9, 1], [0, 0, 90])
    assert dead_for([last]) is None
    assert dead_for([last, stream([0, 0, 0])], gone_ns=SECOND * 9 // 10) == SECOND * 9 // 10
    assert dead_for([stream([9, 1, 0], [0, 1, 1])], gone_ns=3 * SECOND // 2) == 3 * SECOND // 2
    assert dead_for([stream([9, 9, 1], [0, 90, 1])], gone_ns=SECOND // 10) is None, "idle"
    assert dead_for([stream([9, 9, 1], [0, 90, 90])], gone_ns=3 * SECOND // 2) is None, "it served"


@pytest.mark.parametrize(
    ("model", "failure", "is_all"),
    [
        (MIRROR, {"member": None}, True),
        (MIRROR, {"member": 1}, False),
        ({"replica": {"of": MIRROR}}, {"member": 0}, False),
        (DRIVE, {"member": 0}, True),
        ({"partition": {"of": DRIVE}}, {"member": 0}, True),
        (DRIVE, {"member": None, "channel": 3, "survived": False}, True),
        (MIRROR, {"member": None, "channel": 3, "survived": False}, False),
        ({"cache": {"of": MIRROR}}, {"member": None}, False),
    ],
)
def test_array_member_or_cache_may_go_on_serving(
    model: dict[str, Any], failure: dict[str, Any], is_all: bool
) -> None:
    assert leaves_nothing(failure, model) is is_all


@pytest.mark.parametrize(("model", "member", "found"), [(DRIVE, None, 1), (MIRROR, 1, 0)])
def test_failure_in_the_last_interval_is_reported_with_its_event(
    model: dict[str, Any], member: int | None, found: int
) -> None:
    dies = {"kind": "fail", "storage": "d", "member": member, "t_ns": 12_100_000_000}
    windows = {"s": stream([9, 9, 1], [0, 0, 90])}
    frames: Any = SimpleNamespace(events=[dies], window=lambda *at: windows[at[2]])
    storage = SimpleNamespace(
        model=SimpleNamespace(model_dump=lambda **_: model, partition=None), scale=None
    )
    phase = SimpleNamespace(streams=[SimpleNamespace(name="s", storage="d")])
    spec = SimpleNamespace(
        repetition=0, phases=[phase], storage={"d": storage}, interval=f"{SECOND} ns"
    )
    outcome = {"windows": [{"phase": 0, "visits": [[10 * SECOND, 13 * SECOND]]}]}
    run: Any = SimpleNamespace(spec=spec, outcome=outcome)
    part = Stretch("p", [(10 * SECOND, 13 * SECOND)], steady=True)
    shown = [finding.figures for finding in _dead(frames, run, 0, part)]
    assert shown == [{"failed_ns": 2.1e9}] * found


def test_phase_without_completions_and_failures_has_no_figures() -> None:
    assert is_without_figures([stream([0, 0]), stream([])])
    assert not is_without_figures([stream([0, 0]), stream([0, 1])])
    assert not is_without_figures([stream([0, 0], [0, 5])]), "that tells why"
    assert not is_without_figures([]), "a pause asks for nothing"
