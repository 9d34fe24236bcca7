"""Prices of levels and settings: cost of each cell of a large study."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tameshi import guard
from tameshi.core.errors import BadInput
from tameshi.report.view.cell_table import LABEL, SettingColumn
from tameshi.workflow.prices import PRICES, costs, read_prices, write_prices

SETTINGS = [
    SettingColumn("buffer_pool", "bytes", np.array([2.0**30, 2.0**32])),
    SettingColumn("storage", LABEL, np.array([0.0, 1.0]), ("disk", "flash")),
]
LEVELS = {"storage": ["disk", "flash"], "sample": ["s1", "s2"]}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    guard.claim_folder(tmp_path / "study")
    return tmp_path / "study"


def test_cost_is_the_sum_of_levels_and_amounts(study: Path) -> None:
    write_prices(study, ["buffer_pool=5/GiB", "storage.flash=900", "storage.disk=100.5"])
    found = costs(read_prices(study), SETTINGS, LEVELS)
    assert found is not None and found.tolist() == [105.5, 920.0]


def test_study_without_prices_has_no_cost(study: Path) -> None:
    assert costs(read_prices(study), SETTINGS, LEVELS) is None


@pytest.mark.parametrize(
    "given", ["storage.flash", "=5", "x=-1", "x=five", "x=5/parsec", "x=nan", "x=inf"]
)
def test_text_that_is_no_price_is_refused(study: Path, given: str) -> None:
    with pytest.raises(BadInput, match="this is no price"):
        write_prices(study, [given])
    assert not (study / PRICES).exists()


@pytest.mark.parametrize("name", ["storage.tape", "pool", "storage"])
def test_price_of_an_unknown_thing_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="no such setting or level") as refused:
        costs({name: [1.0, 1.0]}, SETTINGS, LEVELS)
    assert refused.value.accepted == ["buffer_pool", "storage.LEVEL", "sample.LEVEL"]


def test_damaged_prices_have_a_remedy(study: Path) -> None:
    guard.write_file(study / PRICES, b"[1]")
    with pytest.raises(BadInput, match="--price NAME=AMOUNT"):
        read_prices(study)
