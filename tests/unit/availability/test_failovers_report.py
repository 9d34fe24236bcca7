"""Report of a set of failovers: the answer first, tables, failures, both languages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from failover_results import ASKED, document

from tameshi.availability import READY
from tameshi.availability.summary import of_trials
from tameshi.report.failovers import (
    failovers_answer,
    failovers_markdown,
    failovers_page,
    tables,
)
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text


def test_answer_begins_with_losses_and_the_outage(tmp_path: Path) -> None:
    first, ratios = failovers_answer(document(tmp_path / "set", ASKED))
    assert first == (
        "None of 3,000 acknowledged commits that a way promises to keep was lost (failovers: 9), "
        "and the service was back 200 ms after the event."
    )
    assert "mariadb-semi-synchronous 0.749 × (0.749–0.750)" in ratios


def test_broken_promise_is_the_first_sentence(tmp_path: Path) -> None:
    found = document(tmp_path / "set", ASKED, losing="mariadb-semi-synchronous")
    first, *_ = failovers_answer(found)
    assert first.startswith("mariadb-semi-synchronous broke its promise by kill: 7 acknowledged")
    page = failovers_page(found)
    assert 'class="icon invalid"' in page


def test_losses_without_a_promise_are_said(tmp_path: Path) -> None:
    found = document(tmp_path / "set", ASKED, losing="mariadb-asynchronous")
    *_, last = failovers_answer(found)
    assert last == (
        "mariadb-asynchronous, which promises nothing, lost acknowledged commits: at most 7 in a "
        "trial (by kill)."
    )


def test_slow_link_has_rates_and_neither_outage_nor_steps(tmp_path: Path) -> None:
    asked = replace(ASKED, ways=("mariadb-semi-synchronous",), events=("slow-link",))
    cells = document(tmp_path / "set", asked)["cells"]
    quiet = {"away_ns": None, "outage_ns": None, "steps_ns": {}, "warm_up": {}}
    rates = {"rate_alone": of_trials([90.0]), "rate_after": of_trials([1000.0])}
    found = {**document(tmp_path / "set", asked), "cells": [{**cells[0], **quiet, **rates}]}
    first, second, *_ = failovers_answer(found)
    assert first.startswith("None of 1,500 acknowledged commits") and "back" not in first
    assert "With its link slowed, mariadb-semi-synchronous made 90.0" in second
    assert 'id="table-takeover"' not in failovers_page(found)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ["", *READY])
def test_page_has_every_table_in_both_languages(tmp_path: Path, lang: str, name: str) -> None:
    found = {**document(tmp_path / "set", ASKED), "name": name}
    page = failovers_page(found, lang)
    for table in ("services", "events", "warm_up", "takeover"):
        assert f'id="table-{table}"' in page
    assert "http" not in page.replace("http-equiv", "")
    assert failovers_answer(found, lang)[0] in page.replace("&#39;", "'")


def test_partial_set_says_what_is_missing(tmp_path: Path) -> None:
    found = document(tmp_path / "set", ASKED)
    partial = {**found, "planned": 30, "failures": [failure()]}
    *_, last = failovers_answer(partial)
    assert last == "9 of 30 trials have ended; the same command continues."
    assert "the server ended" in failovers_page(partial)
    nothing = document(tmp_path / "none", replace(ASKED, ways=()))
    assert failovers_answer({**nothing, "planned": 5}) == ["None of 5 trials has ended yet."]


def failure() -> dict[str, object]:
    return {
        "way": "mariadb-single",
        "event": "kill",
        "drive": "hdd",
        "repetition": 1,
        "failure": "the server ended",
    }


def test_markdown_has_the_same_tables(tmp_path: Path) -> None:
    words = failovers_markdown(document(tmp_path / "set", ASKED))
    assert words.startswith("None of 3,000 acknowledged commits")
    assert words.count("| --- |") >= 4 and "mariadb-single" in words


def test_table_of_steps_has_a_column_per_step(tmp_path: Path) -> None:
    *_, steps = tables(document(tmp_path / "set", ASKED), Text("en"))
    assert [column.label for column in steps.columns] == [
        *("Way", "fence", "catch up", "promotion", "all"),
    ]
