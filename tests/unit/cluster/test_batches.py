"""Batches of a cluster: order of runs, time of a batch, each run handed out once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tameshi.cluster.batches import FIRST_RUNS, MOST_RUNS, TARGET_S, Backlog


def task(cell: str, number: int = 0) -> Any:
    return SimpleNamespace(identity=f"{cell}{number}", setting=cell)


def names(tasks: list[Any]) -> list[str]:
    return [each.identity for each in tasks]


def test_first_batch_is_small_while_no_time_is_known() -> None:
    backlog = Backlog([task(f"c{n}") for n in range(100)])
    assert names(backlog.batch(threads=2)) == [f"c{n}0" for n in range(FIRST_RUNS)]
    assert backlog.expected_s(task("c0")) is None


def test_batch_takes_the_target_time_by_known_runs() -> None:
    backlog = Backlog([task(f"c{n}") for n in range(1000)])
    for done in backlog.batch(threads=2):
        backlog.note(done, TARGET_S / 20)
    assert len(backlog.batch(threads=2)) == 20
    assert backlog.expected_s(task("unseen")) == TARGET_S / 20


def test_unknown_cells_go_first_then_the_longest() -> None:
    backlog = Backlog([task(cell, n) for n in range(2) for cell in ("a", "b", "c")])
    first = backlog.batch(threads=1)
    assert names(first) == ["a0", "b0", "c0"]
    for done, took_s in zip(first, (2.0, 9.0, 5.0), strict=True):
        backlog.note(done, took_s)
    backlog.put(task("d"))
    order = [name for _ in range(4) for name in names(backlog.batch(threads=1))]
    assert order == ["d0", "b1", "c1", "a1"] and backlog.count == 0


def test_last_batches_leave_work_for_each_thread() -> None:
    backlog = Backlog([task("c", n) for n in range(17)])
    backlog.note(backlog.batch(threads=8)[0], 0.01)
    assert len(backlog.batch(threads=8)) == 1


def test_very_short_runs_are_limited_by_number() -> None:
    backlog = Backlog([task("c", n) for n in range(20 * MOST_RUNS)])
    backlog.note(task("c"), 1e-6)
    assert len(backlog.batch(threads=2)) == MOST_RUNS


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0.001, 20)), min_size=1, max_size=80),
    st.integers(1, 9),
    st.data(),
)
def test_every_run_is_handed_out_once(
    runs: list[tuple[str, float]], threads: int, data: st.DataObject
) -> None:
    times = {f"{cell}{n}": took_s for n, (cell, took_s) in enumerate(runs)}
    backlog = Backlog([task(cell, n) for n, (cell, _) in enumerate(runs)])
    made: list[str] = []
    while backlog.count:
        batch = backlog.batch(threads)
        assert batch
        for each in batch:
            if data.draw(st.booleans(), "comes back unmade"):
                backlog.put(each)
            else:
                made.append(each.identity)
                backlog.note(each, times[each.identity])
    assert sorted(made) == sorted(times)
