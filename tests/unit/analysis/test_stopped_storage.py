"""A storage that serves nothing any more: since when, and when that is no outage."""

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
    """What a stream completed and what failed of it in each second."""
    counters = {"read.count": list(reads)} | ({"load.failed": list(failed)} if failed else {})
    return WindowData(SECOND * len(reads), [SECOND] * len(reads), counters, {})


def test_a_storage_is_dead_since_the_last_interval_that_completed_anything() -> None:
    assert dead_for([stream([9, 0, 9, 0, 0], [0, 5, 0, 5, 5])]) == 2 * SECOND
    assert dead_for([stream([9, 9, 9, 0], [0, 0, 0, 5])]) == SECOND


def test_whoever_was_served_last_tells_and_whoever_never_was_does_not() -> None:
    early, late = stream([9, 0, 0, 0], [0, 5, 5, 5]), stream([9, 9, 9, 0], [0, 0, 0, 5])
    assert dead_for([early, late]) == SECOND
    assert dead_for([early, stream([0, 0, 0, 0], [5, 5, 5, 5])]) == 3 * SECOND
    assert dead_for([early, stream([9, 9, 9, 9])]) is None


def test_what_is_served_to_the_end_never_or_of_nobody_is_not_dead() -> None:
    assert dead_for([]) is None
    assert dead_for([stream([9, 0, 9], [0, 50, 0])]) is None, "it came back"
    assert dead_for([stream([0, 0, 0], [5, 5, 5])]) is None, "no figure is a mean over it"
    assert dead_for([stream([9, 9, 0])]) is None, "nothing was asked for any more"
    assert dead_for([stream([9, 9, 0], [50, 1, 1])]) is None, "a single one may fail"


def test_what_lost_all_that_serves_within_an_interval_is_dead_from_then_on() -> None:
    last = stream([9, 9, 1], [0, 0, 90])
    assert dead_for([last]) is None
    assert dead_for([last, stream([0, 0, 0])], gone_ns=SECOND * 9 // 10) == SECOND * 9 // 10
    assert dead_for([stream([9, 1, 0], [0, 1, 1])], gone_ns=3 * SECOND // 2) == 3 * SECOND // 2
    assert dead_for([stream([9, 9, 1], [0, 90, 1])], gone_ns=SECOND // 10) is None, "of nobody"
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
def test_a_member_of_several_and_what_a_cache_holds_may_go_on_serving(
    model: dict[str, Any], failure: dict[str, Any], is_all: bool
) -> None:
    assert leaves_nothing(failure, model) is is_all


@pytest.mark.parametrize(("model", "member", "found"), [(DRIVE, None, 1), (MIRROR, 1, 0)])
def test_a_storage_that_dies_in_the_last_interval_is_told_with_its_event(
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
    told = [finding.figures for finding in _dead(frames, run, 0, part)]
    assert told == [{"failed_ns": 2.1e9}] * found


def test_a_phase_that_completed_nothing_and_failed_nothing_has_no_figures() -> None:
    assert is_without_figures([stream([0, 0]), stream([])])
    assert not is_without_figures([stream([0, 0]), stream([0, 1])])
    assert not is_without_figures([stream([0, 0], [0, 5])]), "that tells why"
    assert not is_without_figures([]), "a pause asks for nothing"
