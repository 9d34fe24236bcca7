"""Sources of profile values; no value is set on a figure to be predicted blind."""

import csv
import re
import tomllib
from pathlib import Path
from typing import Any

from sourced import sourced

from tameshi.core.data import PROFILES, PUBLISHED

ROOT = Path(__file__).resolve().parents[3]
ID = re.compile(r"\bS\d-\d{4}\b")


def ids(name: str) -> set[str]:
    with (PUBLISHED / name).open(newline="", encoding="utf-8") as file:
        return {row["id"] for row in csv.DictReader(file)}


def profiles() -> dict[str, dict[str, Any]]:
    paths = sorted(PROFILES.glob("*/*.toml"))
    return {
        f"{p.parent.name}/{p.stem}": tomllib.loads(p.read_text(encoding="utf-8")) for p in paths
    }


def test_fitted_values_cite_calibration_and_no_prediction():
    calibration, to_predict = ids("calibration.csv"), ids("to-predict.csv")
    seen = 0
    for name, profile in profiles().items():
        for value in sourced(profile):
            fitted = ID.findall(value.get("fitted_on", ""))
            assert bool(fitted) == ("fitted_on" in value), (name, value)
            assert set(fitted) <= calibration, (name, value)
            assert not set(ID.findall(str(value))) & to_predict, (name, value)
            seen += len(fitted)
    assert seen > 50


def test_every_value_has_its_source():
    for name, profile in profiles().items():
        values = list(sourced(profile))
        assert all(len(value["source"]) > 5 for value in values), name
