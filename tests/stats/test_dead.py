"""A storage that serves nothing any more: since when, and when that is no outage."""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.stats.dead import dead_for, is_without_figures
from tameshi.stats.estimates import WindowData

SECOND = 1_000_000_000


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


def test_a_phase_that_completed_nothing_and_failed_nothing_has_no_figures() -> None:
    assert is_without_figures([stream([0, 0]), stream([])])
    assert not is_without_figures([stream([0, 0]), stream([0, 1])])
    assert not is_without_figures([stream([0, 0], [0, 5])]), "that tells why"
    assert not is_without_figures([]), "a pause asks for nothing"
