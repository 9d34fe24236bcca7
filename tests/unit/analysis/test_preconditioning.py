"""Preconditioning: an even write rate of a new drive is no steady state."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.preconditioning import is_fresh_flash, share_covered, share_used

DISK = {"device": {"profile": "d", "device": {"hdd": {}}}}


def flash(written: str | None) -> dict[str, Any]:
    """Return a flash drive in a device tree."""
    drive = {"simulated": {"written": written}} if written else {}
    return {"device": {"profile": "p", "device": {"flash": drive}}}


@pytest.mark.parametrize(
    ("model", "fresh"),
    [
        (flash("never"), True),
        (flash(None), True),
        (flash("once"), True),
        (flash("steady"), False),
        ({"raid1": {"members": 2, "of": flash("once")}}, True),
        ({"stripe": {"of": [flash("never"), flash("steady")]}}, False),
        ({"tier": {"fast": flash("never"), "slow": DISK}}, False),
        (DISK, False),
    ],
)
def test_flash_without_prior_reclaiming_is_fresh(model: dict[str, Any], fresh: bool) -> None:
    assert is_fresh_flash(model) is fresh


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, 0.75),
        ({"flash.erased_bytes": [100.0, 0.0]}, 1.0),
        ({"flash.moved_bytes": [0.0, 4096.0]}, None),
        ({"flash.cycles_mean_permille": [500.0, 501.0]}, None),
        ({"flash.physical_bytes": []}, None),
    ],
)
def test_used_share_ends_with_the_first_reclaiming(
    changed: dict[str, list[float]], told: float | None
) -> None:
    states = {
        "flash.physical_bytes": [400.0, 400.0],
        "flash.erased_bytes": [300.0, 100.0],
        "flash.moved_bytes": [0.0, 0.0],
        "flash.cycles_mean_permille": [500.0, 500.0],
    }
    assert share_used(WindowData(2, [1, 1], {**states, **changed}, {})) == told


def test_real_drive_needs_two_overwrites() -> None:
    assert share_covered(50.0, 100) == pytest.approx(0.5)
    assert share_covered(199.0, 100) == pytest.approx(1.99)
    assert share_covered(200.0, 100) is None
