"""Scoreboard: the page equals its tables, and the README's headline is the page's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from validation import scoreboard
from validation.scoreboard import Scored

ROOT = Path(__file__).resolve().parents[3]


def figure(known: float, ours: float, unit: str = "IOPS", **rivals: float) -> Scored:
    return Scored("R", "e", "drive", "read IOPS", unit, "s", "c", known, ours, rivals)


def test_page_equals_its_tables() -> None:
    made = scoreboard.page([*scoreboard.round2(), *scoreboard.round1()])
    stale = "stale: python -m validation.scoreboard"
    assert scoreboard.PAGE.read_text(encoding="utf-8") == made, stale


def test_headline_of_the_readme_is_the_pages() -> None:
    told = re.search(
        r"(\d+) figures of drives,\s+median error (\d+ %)", (ROOT / "README.md").read_text()
    )
    page = scoreboard.PAGE.read_text(encoding="utf-8")
    found = re.search(r"^\| drive \| (\d+) \| (\d+ %) \|", page, re.MULTILINE)
    assert told and found and told.groups() == found.groups()


@pytest.mark.parametrize(
    ("known", "ours", "unit", "error"),
    [
        (100.0, 125.0, "IOPS", 0.25),
        (125.0, 100.0, "IOPS", 0.25),
        # A gain of 100 % for one of 60 %: 2.0 times for 1.6.
        (60.0, 100.0, "%", 0.25),
    ],
)
def test_error_is_a_factor_either_way(known: float, ours: float, unit: str, error: float) -> None:
    assert figure(known, ours, unit).error == pytest.approx(error)


def test_rival_is_scored_on_its_own_figures() -> None:
    some = [figure(100.0, 200.0, spreadsheet=110.0), figure(100.0, 100.0)]
    *_, spreadsheet = scoreboard.row_of("all", some)
    assert spreadsheet == "10 % (100 %)"
