"""Commit times of streams in the answer."""

from __future__ import annotations

from typing import Any

import first_look
import pytest

from tameshi.report.sections.answer import answers, overview
from tameshi.report.view.points import read_results
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_committing_stream_is_named_in_any_order(lang: str) -> None:
    def commits(subject: str, rate: float) -> list[dict[str, Any]]:
        load = first_look.load("commit", subject, rate, 1e9 / rate, 0)
        return [load[0] | {"metric": "commit.rate"}, *load[1:]]

    def said(*loads: list[dict[str, Any]]) -> list[str]:
        cell = first_look.cell("simulated", "p", {}, [each for load in loads for each in load])
        view = read_results(first_look.results() | {"axes": [], "cells": [cell]})
        (line,) = answers(view, Text(lang))
        rows = [row.head for row in overview(view, Text(lang)).rows]
        assert len(set(rows)) == len(rows), "the key figures tell them apart too"
        items = line.clauses[0].sentence.rstrip(".。").split(Text(lang)("list.separator") + "p · ")
        return [item.removeprefix("P · ") for item in items]

    wal, slow = commits("wal", 500.0), commits("slow", 20.0)
    both = said(wal, slow)
    assert both == said(slow, wal)[::-1]
    assert [item.split(": ")[0] for item in both] == ["wal", "slow"]
    assert "500" in both[0] and "20.0" in both[1]
    assert "wal" not in " ".join(said(wal)), "alone it needs no name"
    if lang == "en":
        assert said(wal)[0].startswith("A commit takes 2.00 ms")


@pytest.mark.parametrize(
    ("lang", "begin", "then"),
    [
        ("en", "The fastest of 5, p · s1: ", "; the slowest, p · s3: "),
        ("ja", "5件中、最も速いのはp · s1: ", "、最も遅いのはp · s3: "),
    ],
)
def test_many_committing_streams_show_the_extremes(lang: str, begin: str, then: str) -> None:
    def commits(times_ms: list[int], *, timed: bool = True) -> str:
        loads = [
            first_look.load("commit", f"s{i}", 1e3 / ms, ms * 1e6, 0)
            for i, ms in enumerate(times_ms)
        ]
        shown = [
            each | {"metric": each["metric"].replace("iops", "rate")}
            for load in loads
            for each in (load if timed else load[:1])
        ]
        cell = first_look.cell("simulated", "p", {}, shown)
        view = read_results(first_look.results() | {"axes": [], "cells": [cell]})
        (line,) = answers(view, Text(lang))
        return line.clauses[0].sentence

    five = [4, 1, 3, 9, 2]
    for words in (commits(five), commits(five, timed=False)):
        assert words.startswith(begin) and then in words
        assert " · s0" not in words and " · s2" not in words and " · s4" not in words
    four = commits(five[:4])
    assert all(f" · s{i}: " in four for i in range(4))
