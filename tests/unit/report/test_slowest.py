"""Slowest operations in the report, in every form and both languages."""

from dataclasses import replace

import first_look
import pytest

from tameshi.report.sections.slowest import MOST, tables
from tameshi.report.study import markdown, render
from tameshi.report.words.text import Text


def slow(stream: str, latency_ns: int, **more) -> dict:
    """Return one of them."""
    place = {"world": "measured", "phase": "steady", "levels": {"depth": "4"}}
    what = {"operation": "write", "t_ns": 4_210_000_000, "offset": 1_048_576, "bytes": 4096}
    return {**place, **what, "stream": stream, "latency_ns": latency_ns, **more}


def test_stream_has_its_slowest_operations_of_all_runs_in_order():
    many = [slow("log", 1000 * number) for number in range(1, 30)]
    (table,) = tables([*many, slow("data", 5_000_000, operation="sync")], Text("en"))
    logs = [row for row in table.rows if row.group == "log"]
    assert len(logs) == MOST
    assert [row.cells[0].value for row in logs[:2]] == ["29.0 µs", "28.0 µs"]
    assert [str(cell) for cell in logs[0].cells[2:]] == ["4.210 s", "1,048,576", "4,096"]
    (sync,) = [row for row in table.rows if row.group == "data"]
    assert sync.cells[0].value == "5.00 ms" and sync.cells[3].value == sync.cells[4].value == "–"


def test_each_world_has_its_own_table():
    both = [slow("log", 1000), slow("log", 2000, world="simulated")]
    assert [table.id for table in tables(both, Text("en"))] == [
        "slowest-measured",
        "slowest-simulated",
    ]


@pytest.mark.parametrize(("lang", "said"), [("en", "write"), ("ja", "書き込み")])
def test_section_appears_in_every_form_of_the_report(lang, said):
    inputs = replace(first_look.inputs(), slowest=[slow("log", 312_000_000)])
    for shown in (render(inputs, lang), markdown(inputs, lang)):
        text = Text(lang)
        assert text("section.slowest") in shown and "312 ms" in shown and said in shown
    without = replace(inputs, slowest=())
    assert Text(lang)("section.slowest") not in markdown(without, lang)
