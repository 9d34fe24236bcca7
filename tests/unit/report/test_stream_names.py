"""Streams named by what they do."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.report.view.key_figures import plain_figures
from tameshi.report.view.points import read_results, series_names
from tameshi.report.view.streams import named_streams
from tameshi.report.words.text import Text

ALONE = {
    "pattern": "random",
    "read_share": 1.0,
    "block_bytes": 4096,
    "commits": False,
    "alone": True,
}


def results(streams: dict[str, Any], phase: str = "p") -> dict[str, Any]:
    def cell(stream: str) -> dict[str, Any]:
        sampling = {"low": 90.0, "high": 110.0, "runs": 1, "method": "t_within"}
        rate = {"metric": "read.iops", "subject": stream, "value": 100.0, "sampling": sampling}
        return {"world": "measured", "phase": phase, "levels": {}, "estimates": [rate]}

    return {"axes": [], "cells": [cell(stream) for stream in streams], "streams": streams}


def named(facts: dict[str, Any], lang: str = "en") -> str:
    return named_streams(read_results(results({"small": facts})), Text(lang))["small"]


@pytest.mark.parametrize(
    ("changed", "english", "japanese"),
    [
        ({}, "4 KiB random read", "4 KiB ランダム読み出し"),
        ({"read_share": 0.0, "pattern": "sequential"}, "4 KiB sequential write", None),
        ({"read_share": 0.65}, "4 KiB random, 65 % reads", "4 KiB ランダム（読み出し65 %）"),
        ({"read_share": None}, "4 KiB random", "4 KiB ランダム"),
        ({"pattern": None, "read_share": None}, "4 KiB", "4 KiB"),
        ({"block_bytes": None, "pattern": "strided"}, "strided read", "等間隔の読み出し"),
        (
            {"commits": True, "read_share": 0.0},
            "4 KiB random write with sync",
            "4 KiB ランダム書き込み＋同期",
        ),
        ({"block_bytes": 1 << 20, "commits": True}, "1 MiB random read with sync", None),
        ({"alone": False}, "small (4 KiB random read)", "small（4 KiB ランダム読み出し）"),
    ],
)
def test_stream_is_named_by_what_it_does(changed, english, japanese) -> None:
    assert named({**ALONE, **changed}) == english
    if japanese:
        assert named({**ALONE, **changed}, "ja") == japanese


def test_streams_that_do_the_same_keep_their_names() -> None:
    view = read_results(results({"a": ALONE, "b": ALONE}))
    names = named_streams(view, Text())
    assert names == {"a": "a (4 KiB random read)", "b": "b (4 KiB random read)"}


def test_name_of_a_phase_stays_next_to_the_description() -> None:
    view = read_results(results({"fill": ALONE}, phase="fill"))
    assert named_streams(view, Text()) == {"fill": "fill (4 KiB random read)"}


def test_name_of_an_axis_is_not_replaced() -> None:
    axis = {"name": "fill", "varies": "within", "levels": ["1", "2"]}
    view = read_results(results({"fill": ALONE}) | {"axes": [axis]})
    assert named_streams(view, Text()) == {}
    (figure,) = plain_figures(view, "p")
    assert figure.name == ("read",)


def test_lone_series_has_its_stream_in_place_of_the_operation() -> None:
    view = read_results(results({"small": ALONE}))
    assert list(series_names(view.points, None).values()) == [("small",)]
    old = read_results(results({"small": ALONE}) | {"streams": {}})
    assert list(series_names(old.points, None).values()) == [("read",)]


def test_own_words_of_a_study_go_before_descriptions() -> None:
    view = read_results(results({"small": {**ALONE, "alone": False}}))
    names = named_streams(view, Text("ja", {"small": "照会"}))
    assert names["small"] == "照会（4 KiB ランダム読み出し）"
