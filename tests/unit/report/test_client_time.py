"""Bottleneck of a simulated database in the report."""

from __future__ import annotations

from typing import Any

import pytest

from tameshi.analysis.stats.programs import CLIENT_TIMES, time_shares
from tameshi.report.sections.client_time import OF_STORAGE, describe, table
from tameshi.report.words.strings import LANGUAGES
from tameshi.report.words.text import Text

BUSY = [
    {"subject": "host", "resource": "cores", "share": 0.97},
    {"subject": "storage.data", "resource": "media", "share": 0.4},
    {"subject": "storage.data", "resource": "link", "share": 0.2},
]


def cell(levels: dict[str, str], **shares: float) -> dict[str, Any]:
    shown = [{"metric": f"server.time_{name}", "value": share} for name, share in shares.items()]
    shown.append({"metric": "server.hit_ratio", "value": 0.5})
    shown = [{**each, "window": "run"} for each in shown]
    return {
        "world": "simulated",
        "phase": "run",
        "levels": levels,
        "estimates": shown,
        "busy": BUSY,
    }


def test_greatest_share_is_named_next_to_all_shares() -> None:
    cells = [
        cell({"pool": "small"}, processor=0.2, page_reads=0.796, outage=0.004),
        cell({"pool": "large"}, processor=0.9, row_locks=0.1),
        cell({"pool": "none"}),
    ]
    result = table(Text(), cells)
    assert [column.label for column in result.columns[3:]] == [
        *("processors", "page reads", "row locks", "server outage")
    ]
    small, large = ([shown.value for shown in row.cells] for row in result.rows)
    assert small == ["page reads, 80 %", "media of data, 40 % busy", "20 %", "80 %", "–", "<1 %"]
    assert large[:3] == ["processors, 90 %", "processors of the host, 97 % busy", "90 %"]


@pytest.mark.parametrize("name", OF_STORAGE)
def test_waits_for_storage_name_the_storage(name: str) -> None:
    (row,) = table(Text(), [cell({}, **{name: 0.6, "processor": 0.4})]).rows
    assert row.cells[1].value == "media of data, 40 % busy"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_activity_has_words(lang: str) -> None:
    words = [describe(name, 0.5, Text(lang)) for name in CLIENT_TIMES]
    assert len(set(words)) == len(CLIENT_TIMES) and all("50 %" in each for each in words)
    assert describe("log", None, Text(lang)) in describe("log", 0.5, Text(lang)), (
        "an older asked.json"
    )


def test_table_is_empty_without_shares() -> None:
    assert table(Text(), [cell({})]).rows == ()
    alone = {**cell({}, log=1.0), "busy": []}
    assert table(Text(), [alone]).rows[0].cells[1].value == Text()("cell.none")


def test_shares_are_those_of_the_phase_not_its_windows() -> None:
    shown = cell({}, processor=0.36, page_reads=0.64)
    at_first = [{"metric": "server.time_page_reads", "value": 0.28}]
    at_first += [{"metric": "server.time_outage", "value": 0.72}]
    shown["estimates"] += [{**each, "window": "at first"} for each in at_first]
    assert time_shares(shown) == {"processor": 0.36, "page_reads": 0.64}
    (row,) = table(Text(), [shown]).rows
    assert [each.value for each in row.cells[2:]] == ["36 %", "64 %"]
