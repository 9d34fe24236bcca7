"""Completeness of the doctor's table, and its page."""

from __future__ import annotations

import string

import pytest
from page import BEGIN, END, PAGE, renewed

from tameshi.doctor.table import CHECKS, LANGUAGES, TEXT, WORLDS, Outcome

OUTCOMES = [
    pytest.param(outcome, id=f"{key}-{name}")
    for key, entry in CHECKS.items()
    for name, outcome in entry.outcomes.items()
]


def placeholders(template: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_outcome_has_both_languages_with_same_fields(outcome: Outcome) -> None:
    for words in (outcome.found, outcome.remedy):
        assert len(words) == len(LANGUAGES)
        assert bool(words[0]) == bool(words[1])
        assert placeholders(words[0]) == placeholders(words[1])
    assert all(outcome.found)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_only_problems_have_remedies(outcome: Outcome) -> None:
    assert bool(outcome.remedy[0]) == (outcome.state != "ok")
    assert not outcome.stops or outcome.state == "missing"


@pytest.mark.parametrize("key", [*CHECKS, *TEXT])
def test_every_key_has_both_languages(key: str) -> None:
    words = CHECKS[key].label if key in CHECKS else TEXT[key]
    assert len(words) == len(LANGUAGES) and all(words)
    assert placeholders(words[0]) == placeholders(words[1])


def test_check_stops_only_its_own_worlds() -> None:
    for entry in CHECKS.values():
        assert set(entry.worlds) <= set(WORLDS)
        for outcome in entry.outcomes.values():
            assert set(outcome.stops) <= set(entry.worlds)


def test_doctor_page_shows_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert BEGIN in page and END in page
    assert page == renewed(page), "renew it: PYTHONPATH=python python tests/support/page.py"
