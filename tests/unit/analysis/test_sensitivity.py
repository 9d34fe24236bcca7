"""Sensitivity to many settings, and frontiers: known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tameshi.analysis.stats.sensitivity import frontier, levels, main_effects, thinned

ROWS = 2000


def drawn(columns: int, seed: int = 7) -> np.ndarray:
    return np.random.default_rng(seed).random((columns, ROWS))


def test_shares_of_a_product_are_those_of_its_factors() -> None:
    """The logarithm is linear: variances of 16, 1 and 0 twelfths."""
    first, second, idle = drawn(3)
    effects = main_effects([first, second, idle], np.exp(4 * first + second))
    assert effects is not None
    shares = [each.share for each in effects]
    assert shares[:2] == pytest.approx([16 / 17, 1 / 17], abs=0.03)
    assert shares[2] == pytest.approx(0, abs=0.01)
    assert all(each.low <= each.share <= each.high for each in effects)
    # Medians of the outer tenths are 0.9 apart.
    assert effects[0].ratio == pytest.approx(math.exp(3.6), rel=0.15)
    assert effects[1].ratio == pytest.approx(math.exp(0.9), rel=1)


def test_whole_grid_has_exact_shares() -> None:
    depth, size = (each.ravel() for each in np.meshgrid([1.0, 2, 4, 8], [1.0, 2, 3, 4, 5, 6]))
    effects = main_effects([depth, size], depth**2)
    assert effects is not None
    assert effects[0].share == pytest.approx(1) and effects[1].share == 0
    assert effects[0].ratio == pytest.approx(64)


def test_interaction_alone_is_no_own_share() -> None:
    first, second = (each.round() for each in drawn(2))
    effects = main_effects([first, second], np.exp(np.where(first == second, 1.0, 0.0)))
    assert effects is not None
    assert all(each.share < 0.02 for each in effects)


def test_too_few_or_constant_figures_have_no_effects() -> None:
    assert main_effects([np.arange(5)], np.arange(1, 6)) is None
    assert main_effects([np.arange(50)], np.ones(50)) is None
    assert main_effects([np.arange(50)], np.full(50, np.nan)) is None


def test_absent_values_are_left_out() -> None:
    (first,) = drawn(1)
    holes = np.where(np.arange(ROWS) % 5 == 0, np.nan, np.exp(first))
    whole, part = main_effects([first], np.exp(first)), main_effects([first], holes)
    assert whole and part and part[0].share == pytest.approx(whole[0].share, abs=0.01)


def test_levels_are_values_or_deciles() -> None:
    assert levels(np.array([4.0, 1.0, 4.0, 2.0])).tolist() == [2, 0, 2, 1]
    places = levels(np.arange(1000.0))
    assert np.bincount(places).tolist() == [100] * 10


def test_frontier_is_what_no_other_cell_beats() -> None:
    rate, latency = [1, 2, 3, 3, 2, np.nan], [1, 5, 4, 6, 2, 0]
    assert frontier(rate, latency, most=True) == [0, 4, 2]
    cost, slow = [5, 1, 3, 3, 4], [1, 9, 4, 3, 5]
    assert frontier(cost, slow, most=False) == [1, 3, 0]
    assert frontier([], [], most=True) == []


@pytest.mark.parametrize("most", [True, False])
def test_frontier_equals_the_definition(most: bool) -> None:
    across, up = np.random.default_rng(3).integers(1, 30, (2, 200)).astype(float)
    found = {(across[i], up[i]) for i in frontier(across, up, most=most)}
    sign = -1 if most else 1
    points = set(zip(sign * across, up, strict=True))
    best = {
        (sign * x, y)
        for x, y in points
        if not any((a <= x and b <= y) and (a, b) != (x, y) for a, b in points)
    }
    assert found == best


def test_thinning_keeps_a_cell_per_field() -> None:
    across, up = np.exp(drawn(2) * 3)
    kept = thinned(across, up, (10, 10))
    assert 90 <= len(kept) <= 100 and kept == sorted(set(kept))
    assert thinned([1.0], [1.0], (10, 10)) == [0]
    assert thinned([0.0, np.nan], [1.0, 1.0], (10, 10)) == []
