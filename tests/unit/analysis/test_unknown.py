"""Unknown settings: values at other levels reach figures and ratios, and widen their bounds."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tameshi.analysis import unknown
from tameshi.analysis.cell_ratios import ratios_between
from tameshi.analysis.unknown import Tried


def cell(drive: str, value: float, level: str = "valid") -> dict[str, Any]:
    sampling = {"low": None, "high": None, "runs": 1, "method": None, "degrees": None}
    rate = {"subject": "s", "metric": "read.iops", "window": "p", "value": value}
    estimate = {**rate, "sampling": sampling, "by_repetition": {"0": value}, "model": None}
    verdict = {"level": level, "reasons": []}
    place = {"world": "simulated", "phase": "p", "levels": {"drive": drive}}
    return {**place, "estimates": [estimate], "verdict": verdict}


AXES = [{"name": "drive", "varies": "across", "levels": ["slow", "fast"]}]


def test_tried_values_reach_estimates_and_ratios() -> None:
    cells = [cell("slow", 100.0), cell("fast", 200.0)]
    unknown.add(cells, [cell("slow", 50.0), cell("fast", 150.0)], ("log", "small"))
    assert unknown.read(cells[0]["estimates"][0]) == (Tried("log", "small", 50.0),)
    (ratio,) = ratios_between(AXES, cells)
    assert ratio["value"] == 2.0
    assert unknown.read(ratio) == (Tried("log", "small", 3.0),)


def test_invalid_cell_of_a_tried_level_is_left_out() -> None:
    cells = [cell("slow", 100.0)]
    unknown.add(cells, [cell("slow", 50.0, "invalid")], ("log", "small"))
    assert unknown.read(cells[0]["estimates"][0]) == ()


def test_ratio_needs_both_sides_at_a_level() -> None:
    top = [Tried("log", "small", 6.0), Tried("log", "large", 8.0)]
    assert unknown.of_ratio(top, [Tried("log", "small", 2.0)]) == (Tried("log", "small", 3.0),)


@pytest.mark.parametrize(
    ("model", "tried", "expected"),
    [
        (None, [], None),
        ((50.0, 200.0), [], (50.0, 200.0)),
        (None, [Tried("log", "small", 50.0)], (50.0, 100.0)),
        # Levels of one setting exclude each other.
        (None, [Tried("log", "small", 50.0), Tried("log", "tiny", 80.0)], (50.0, 100.0)),
        # Independent errors of the same size add up to the root of two of them.
        ((50.0, 200.0), [Tried("log", "small", 50.0)], (100 * 0.5 ** math.sqrt(2), 200.0)),
        (
            None,
            [Tried("log", "small", 50.0), Tried("clients", "16", 50.0)],
            (100 * 0.5 ** math.sqrt(2), 100.0),
        ),
    ],
)
def test_bounds_join_the_model_and_the_settings(
    model: tuple[float, float] | None,
    tried: list[Tried],
    expected: tuple[float, float] | None,
) -> None:
    found = unknown.widened(100.0, model, tried)
    assert found == (expected and pytest.approx(expected))
