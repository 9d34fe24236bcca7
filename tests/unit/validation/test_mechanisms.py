"""Mechanisms: each is held if experiments of two houses agree with its one rule."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pytest
from validation import LISTS, mechanisms
from validation.mechanisms import Experiment, Mechanism, house_of


def experiment(name: str, *errors: float) -> Experiment:
    return Experiment(name, name, errors)


def test_mechanism_is_held_by_two_houses() -> None:
    near, far = experiment("a", 0.1, 0.2, 0.9), experiment("b", 0.3, 0.4, 0.1)
    assert near.is_near and not far.is_near
    assert not Mechanism("m", [near, far], []).is_held
    assert Mechanism("m", [near, experiment("c", 0.25)], []).is_held
    same_house = Experiment("d", "a", [0.0])
    assert not Mechanism("m", [near, same_house], []).is_held, "one house twice"


@pytest.mark.parametrize(
    ("source", "house"),
    [
        ("louwrentius/fio-plot history, raw JSON (a page)", "louwrentius"),
        ("Percona-Lab-results/201607-tpcc (a page)", "Percona-Lab-results"),
        ("Tom's Hardware review (a page)", "Tom's Hardware review"),
    ],
)
def test_house_stands_before_its_details(source: str, house: str) -> None:
    assert house_of(source) == house


def test_experiment_without_our_figures_is_unknown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "mechanisms.toml"
    table.write_text('"one" = ["a", "b"]\n', encoding="utf-8")
    monkeypatch.setattr(mechanisms, "TABLE", table)
    (found,) = mechanisms.mechanisms({"a": "A", "b": "B"}, {"a": [0.1]})
    assert found.unknown == ["b"] and [each.house for each in found.shown] == ["A"]
    assert next(mechanisms.lines(iter([found]))) == ("one", "a 10 % (1)", "b", "no")


def test_mechanisms_name_experiments_of_the_list() -> None:
    with (LISTS / "round2-calibration.csv").open(newline="", encoding="utf-8") as file:
        listed = {row["experiment"] for row in csv.DictReader(file)}
    table = tomllib.loads(mechanisms.TABLE.read_text(encoding="utf-8"))
    assert {each for own in table.values() for each in own} <= listed
