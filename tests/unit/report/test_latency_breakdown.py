"""Latency breakdown in the report: tables, plots and sentences in both languages."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.stats.bottleneck import PARTS, RESOURCES
from tameshi.report.render.draw import draw
from tameshi.report.sections.latency_breakdown import describe, figures, percent, tables
from tameshi.report.study import markdown, render
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.words.strings import TEXT
from tameshi.report.words.text import Text


def limit(kind: str, **more: Any) -> dict[str, Any]:
    base = {"kind": kind, "part": "media", "part_share": 0.8, "outstanding": 1.0}
    return base | {"subject": "storage.disk", "resource": "media", "busy": 0.97} | more


def cell(depth: str, parts: dict[str, float], bottleneck: dict[str, Any]) -> dict[str, Any]:
    total = sum(parts.values())
    shown = {part: {"mean_ns": ns, "share": ns / total} for part, ns in parts.items()}
    return {
        "world": "simulated",
        "phase": "steady",
        "levels": {"depth": depth},
        "runs": {"complete": 1},
        "estimates": [],
        "breakdown": [
            {
                "subject": "load",
                "operations": 100,
                "latency_ns_mean": total,
                "outstanding": float(depth),
                "parts": shown,
            }
        ],
        "bottleneck": bottleneck,
    }


def results() -> dict[str, Any]:
    return {
        "study": {"name": "s", "title": "S", "question": "Why?"},
        "cells": [
            cell("1", {"host": 20e3, "media": 80e3}, limit("latency")),
            cell("16", {"queue": 700e3, "host": 20e3, "media": 80e3}, limit("saturated")),
        ],
    }


def test_each_cell_has_its_parts_and_its_bottleneck() -> None:
    (table,) = tables(read_results(results()), Text("en"))
    assert [column.label for column in table.columns] == [
        "Cell",
        "Mean latency",
        "Queueing",
        "Host",
        "Media",
        "Bottleneck",
    ]
    first, second = ([str(c) for c in row.cells] for row in table.rows)
    assert [row.head for row in table.rows] == ["depth 1", "depth 16"]
    assert first[:4] == ["100 µs", "–", "20.0 µs 20 %", "80.0 µs 80 %"]
    assert first[4] == "none: bound by the latency of media (80 %), 1 outstanding"
    assert second[4].startswith("media of disk, 97 % busy")


def test_bars_of_a_plot_are_whole_latencies() -> None:
    (figure,) = figures(read_results(results()))
    (panel,) = figure.panels
    assert [series.name for series in panel.series] == [
        ("part.queue",),
        ("part.host",),
        ("part.media",),
    ]
    for place in range(2):
        assert sum(series.y[place] for series in panel.series) == pytest.approx(1)
    for lang in ("en", "ja"):
        drawn = draw(figure, Text(lang))
        assert drawn["layout"]["barmode"] == "stack"
        assert all(trace["type"] == "bar" for trace in drawn["data"])
        low, high = drawn["layout"]["xaxis"]["range"]
        assert low == 0 and high >= 1, "the whole bar is seen, not its largest part alone"


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_section_appears_in_every_form_of_the_report(lang: str) -> None:
    inputs, heading = ReportInputs(results()), Text(lang)("section.why")
    assert f"## {heading}" in markdown(inputs, lang)
    page = render(inputs, lang)
    assert heading in page and 'id="why-steady"' in page and 'id="table-why-steady"' in page


def test_study_without_parts_has_no_section() -> None:
    bare = results()
    for each in bare["cells"]:
        each |= {"breakdown": [], "bottleneck": None}
    assert Text("en")("section.why") not in markdown(ReportInputs(bare))
    assert 'id="why"' not in render(ReportInputs(bare))


def test_every_part_resource_and_kind_has_its_words() -> None:
    for part in PARTS:
        assert {f"part.{part}", f"column.part.{part}", f"name.part.{part}"} <= TEXT.keys()
    assert {f"resource.{resource}" for resource in RESOURCES} <= TEXT.keys()
    for lang in ("en", "ja"):
        for kind in ("saturated", "waiting", "latency"):
            words = describe(limit(kind, outstanding=12.34), Text(lang))
            assert "{" not in words and words
        host = describe(limit("saturated", subject="host", resource="cores"), Text(lang))
        assert Text(lang)("resource.cores") in host and "disk" not in host


def test_waiting_requests_name_the_busiest_resource() -> None:
    for lang in ("en", "ja"):
        text = Text(lang)
        on_disk = describe(limit("waiting", busy=0.61), text)
        assert text("resource.media") in on_disk and "disk" in on_disk and "61 %" in on_disk
        on_host = describe(limit("waiting", subject="host", resource="threads", busy=0.8), text)
        assert text("resource.threads") in on_host and "80 %" in on_host and "disk" not in on_host
        nothing = describe(limit("waiting", subject=None, resource=None, busy=None), text)
        assert nothing and "%" in nothing and text("resource.media") not in nothing


def test_small_share_is_not_zero() -> None:
    assert (percent(0.0), percent(0.001), percent(0.996)) == ("0 %", "<1 %", "100 %")


def test_full_drive_is_described_by_its_queue_depth() -> None:
    full = limit("saturated", part="queue", resource="places", busy=1.0)
    assert describe(full, Text("en")) == (
        "drive queue depth of disk, full 100 % of the time (queueing is 80 % of the latency)"
    )
    assert "キュー深度" in describe(full, Text("ja"))
    turn = limit("saturated", part="queue", resource="flush_turn")
    assert describe(turn, Text("en")).startswith("flush serialisation of disk, 97 % busy")
