"""Prices of levels and settings, for the cost of the cells of a large study."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tameshi.core.errors import BadInput
from tameshi.record import store
from tameshi.report.view.cell_table import LABEL, SettingColumn
from tameshi.study.settings import UNITS

PRICES = "prices.json"
OPTION = "--price"
ACCEPTED = ("AXIS.LEVEL=AMOUNT", "SETTING=AMOUNT", "SETTING=AMOUNT/UNIT")


def write_prices(folder: Path, given: Sequence[str]) -> None:
    """Store prices in a study folder in place of earlier ones; raise `BadInput`."""
    store.write_json(folder / PRICES, dict(_parsed(each) for each in given))


def refusal_of_prices(folder: str) -> BadInput:
    """Return the refusal of prices for a study whose report has no plot of cost."""
    message = "prices are for studies whose records are in Parquet"
    hint = "Run the study with --records parquet."
    return BadInput(message, where=OPTION, found=folder, hint=hint)


def read_prices(folder: Path) -> dict[str, list[float]]:
    """Return the prices of a study folder: amount, and the number of base units that it buys."""
    try:
        return {
            str(k): list(map(float, v))
            for k, v in json.loads((folder / PRICES).read_bytes()).items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        hint = "Give the prices again: `tameshi report FOLDER --price NAME=AMOUNT`."
        raise BadInput("this file is damaged", where=str(folder / PRICES), hint=hint) from None


def _parsed(given: str) -> tuple[str, list[float]]:
    name, _, text = given.rpartition("=")
    amount, _, unit = text.partition("/")
    try:
        price = float(amount)
        _, worth = UNITS[unit.strip()]
    except (ValueError, KeyError):
        raise BadInput("this is no price", where=OPTION, found=given, accepted=ACCEPTED) from None
    if not name or not (0 <= price < float("inf")):
        raise BadInput("this is no price", where=OPTION, found=given, accepted=ACCEPTED)
    return name, [price, worth]


def costs(
    prices: Mapping[str, Sequence[float]],
    settings: Sequence[SettingColumn],
    levels: Mapping[str, Sequence[str | None]],
) -> Any | None:
    """Return the cost of each cell: the sum over all prices; None without prices.

    `levels`: the level of each cell by axis. Raises `BadInput` for a name that is neither.
    """
    if not prices:
        return None
    rows = len(next(iter(levels.values()), ()))
    total = np.zeros(rows)
    numbers = {each.name: each for each in settings if each.kind != LABEL}
    for name, (amount, worth) in prices.items():
        axis, _, level = name.partition(".")
        if name in numbers:
            total += amount * np.asarray(numbers[name].values, float) / worth
        elif level in levels.get(axis, ()):
            total += amount * np.array([own == level for own in levels[axis]], float)
        else:
            accepted = [*numbers, *(f"{each}.LEVEL" for each in levels)]
            message = "this study has no such setting or level"
            hint = "Give other prices: they replace these."
            raise BadInput(message, where=OPTION, found=name, accepted=accepted, hint=hint)
    return total
