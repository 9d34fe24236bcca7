"""Every candidate of a fit is a valid profile."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known import CAPACITY, DEPTHS, SYNC, answered, cell, slowed, volume

from tameshi.calibrate.cells import Cell
from tameshi.calibrate.fit import Estimated, Fitted
from tameshi.calibrate.models import candidates
from tameshi.calibrate.parameters import Model
from tameshi.calibrate.profile import profile_text
from tameshi.core import compiled


@cache
def _cells() -> list[Cell]:
    grid = [cell(reads, kib, depth) for reads in (100, 0) for kib in (4, 128) for depth in DEPTHS]
    return answered(volume(rounds=False), [*grid, cell(0, 4, 1, **SYNC)], 1_000)


def _written(model: Model, places: list[float]) -> str:
    """Return the profile with each parameter between its bounds: 0 is lowest, 1 highest."""
    estimates = [
        Estimated(p, p.low * (p.high / p.low) ** place, 0.1)
        for p, place in zip(model.parameters, places, strict=False)
    ]
    return profile_text(Fitted(model, estimates, 0.0, 0.0, {}, 0), "a test", "no cells", "nothing")


@pytest.mark.parametrize("kind", ["volume", "flash", "hdd"])
@settings(max_examples=200)
@given(
    times=st.floats(-4.0, 5.0).map(lambda power: 10.0**power),
    places=st.lists(st.floats(0.0, 1.0), min_size=10, max_size=10),
)
def test_every_candidate_of_fit_is_valid_profile(kind, times, places):
    models = candidates([slowed(each, times) for each in _cells()], CAPACITY, kind)
    assert models
    for model in models:
        assert len(model.parameters) <= len(places)
        compiled.device_profile("candidate", "candidate.toml", _written(model, places))
