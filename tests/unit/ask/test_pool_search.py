"""Search over buffer pools."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tameshi.ask.command import MAX_ROUNDS
from tameshi.ask.pool_search import FINE, Tried, doubled_sizes, falls, middle_of, refinements

GIB = 1 << 30


def test_pools_double_from_least_to_greatest():
    assert doubled_sizes(8 * GIB, 64 * GIB) == [8 * GIB, 16 * GIB, 32 * GIB, 64 * GIB]
    assert doubled_sizes(8 * GIB, 40 * GIB) == [8 * GIB, 16 * GIB, 32 * GIB, 40 * GIB]
    assert doubled_sizes(8 * GIB, 17 * GIB) == [8 * GIB, 17 * GIB], "no two that are nearly one"
    assert doubled_sizes(8 * GIB, 8 * GIB) == [8 * GIB]


def search(needs: dict[str, int], price: dict[str, float]) -> tuple[list[Tried], int]:
    """Return all pools tested when each storage needs at least a given pool; a pool costs 1 per
    GiB."""

    def cost(storage: str, pool: int) -> float:
        return price[storage] + pool / GIB

    def tried(storage: str, pool: int) -> Tried:
        reach = pool / needs[storage]
        return Tried(storage, pool, reach >= 1, cost(storage, pool), reach)

    found = [tried(storage, pool) for storage in needs for pool in doubled_sizes(GIB, 64 * GIB)]
    rounds = 0
    while more := refinements(found, cost):
        rounds += 1
        assert rounds < 20
        found += [tried(storage, pool) for storage, pool in more.items()]
    return found, rounds


@given(st.integers(GIB, 64 * GIB), st.integers(GIB, 70 * GIB), st.floats(0, 100))
def test_search_finds_cheapest_pool_within_tolerance(need, other, dearer):
    found, _ = search({"a": need, "b": other}, {"a": 0.0, "b": dearer})
    best = min(each.cost for each in found if each.meets)
    ideal = min([need / GIB] + ([dearer + other / GIB] if other <= 64 * GIB else []))
    assert ideal <= best * (1 + 1e-9)
    assert best <= dearer + other / GIB + 1 or best <= need / GIB * FINE + 1
    assert best <= need / GIB * FINE + 1


def test_pool_that_cannot_be_cheapest_is_not_refined():
    found, _ = search({"cheap": 3 * GIB, "dear": 3 * GIB}, {"cheap": 0.0, "dear": 1000.0})
    assert {each.pool for each in found if each.storage == "dear"} == set(
        doubled_sizes(GIB, 64 * GIB)
    )
    assert len([each for each in found if each.storage == "cheap"]) > len(
        doubled_sizes(GIB, 64 * GIB)
    )


def test_pools_all_meeting_or_missing_are_not_refined():
    assert search({"never": 100 * GIB}, {"never": 1.0})[1] == 0
    assert search({"always": 1}, {"always": 1.0})[1] == 0


def test_middle_pool_is_rounded_and_between():
    assert middle_of(8 * GIB, 16 * GIB) == 11 * GIB + (256 << 20)
    assert middle_of(10 * GIB, 11 * GIB) is None


def humped(peak: int, most: float) -> list[Tried]:
    """Return all pools tested when one pool reaches `most` of the target, and its neighbours
    less."""

    def tried(pool: int) -> Tried:
        reach = most - 0.1 * abs(math.log2(pool / peak))
        return Tried("a", pool, reach >= 1, float(pool), reach)

    found = [tried(pool) for pool in doubled_sizes(8 * GIB, 64 * GIB)]
    for _ in range(MAX_ROUNDS + 1):
        more = refinements(found, lambda _, pool: float(pool))
        if not more:
            return found
        found.append(tried(more["a"]))
    raise AssertionError("the search has no end")


@given(st.integers(12 * GIB, 40 * GIB), st.floats(0.96, 1.2))
def test_search_tests_pools_near_peak_before_giving_up(peak, most):
    found = humped(peak, most)
    nearest = max(each.reach for each in found)
    assert nearest >= min(most - 0.1 * math.log2(FINE) - 0.01, 1.0), "to within what is fine"


def test_search_stops_far_from_target_or_at_largest_pool():
    assert len(humped(16 * GIB, 0.85)) == len(doubled_sizes(8 * GIB, 64 * GIB))
    assert len(humped(64 * GIB, 0.99)) == len(doubled_sizes(8 * GIB, 64 * GIB))


def test_larger_pool_missing_target_is_reported():
    meets = {8: False, 16: True, 32: False, 64: True}
    tried = [Tried("a", pool * GIB, met, 1.0, 1.0) for pool, met in meets.items()]
    ((less, more),) = falls([*reversed(tried), Tried("b", GIB, True, 1.0, 1.0)])
    assert (less.pool, more.pool) == (16 * GIB, 32 * GIB)
    assert falls(tried[:2]) == []
