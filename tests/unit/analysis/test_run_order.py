"""Order of runs: repetition by repetition, shuffled within, and reproducible."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tameshi.analysis.stats.run_order import randomised

Run = tuple[int, str]


def order(runs: list[Run], seed: int) -> list[Run]:
    return randomised(runs, seed, block=lambda run: run[0], name=lambda run: run[1])


@given(st.sets(st.tuples(st.integers(0, 4), st.text("abc", max_size=3))), st.integers(0, 2**64))
def test_order_is_a_shuffle_within_repetitions(runs: set[Run], seed: int) -> None:
    result = order(sorted(runs), seed)
    assert set(result) == runs and len(result) == len(runs)
    assert [run[0] for run in result] == sorted(run[0] for run in runs)
    assert order(sorted(runs, reverse=True), seed) == result


def test_remaining_runs_keep_their_order() -> None:
    runs = [(repetition, name) for repetition in range(3) for name in "abcdef"]
    complete = order(runs, 7)
    assert order(runs[5:], 7) == [run for run in complete if run in runs[5:]]


def test_every_cell_is_equally_often_first() -> None:
    firsts = Counter(order([(0, name) for name in "abcd"], seed)[0][1] for seed in range(2000))
    assert all(430 < firsts[name] < 570 for name in "abcd")


def test_order_is_the_same_in_every_version() -> None:
    assert [name for _, name in order([(0, name) for name in "abcdef"], 1)] == list("cedbfa")
