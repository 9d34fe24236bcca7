"""Events of a phase and the service between, from the record to the report."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import first_look
import polars as pl
import pytest

from tameshi.analysis.results import Cell, _timeline
from tameshi.analysis.series import Frames
from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.timeline import failed_around, rebuild, service, stretches
from tameshi.record.events import read_events
from tameshi.report.sections.timeline import describe, tables
from tameshi.report.study import markdown, render
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text

SECOND = 1_000_000_000


def event(kind: str, t_ns: int, **more) -> dict:
    """Return an event as in events.jsonl."""
    return {"t_ns": t_ns, "source": "load", "kind": kind, **more}


def test_phase_is_cut_at_its_events_and_only_at_those():
    events = [
        event("fail", 2, storage="a"),
        event("phase_begin", 5, phase=1),
        event("fail", 7, storage="a", member=1),
        event("replace", 7, storage="a", member=1),
        event("rebuilt", 9, storage="a", member=1),
        event("fail", 10, storage="a"),
    ]
    result = stretches(events, 5, 10)
    assert [(first, last) for first, last, _ in result] == [(5, 7), (7, 9), (9, 10)]
    assert [[e["kind"] for e in happened] for *_, happened in result] == [
        [],
        ["fail", "replace"],
        ["rebuilt"],
    ]
    assert stretches(events, 3, 5) == []


def test_missed_event_stands_at_the_end_of_its_phase():
    events = [event("fail", 7, storage="a"), event("missed", 12, event="late", why="over")]
    assert stretches(events, 5, 10)[-1] == (
        10,
        10,
        [{"kind": "missed", "event": "late", "why": "over"}],
    )


def test_service_covers_the_whole_intervals_of_a_stretch():
    counters = {"read.count": [10.0, 30.0], "read.latency_sum": [1000.0, 3000.0]}
    data = WindowData(5 * SECOND, [SECOND, SECOND], counters | {"load.failed": [0.0, 4.0]}, {})
    assert service("mix", data) == {
        "subject": "mix",
        "seconds": 2.0,
        "operations": {"read": {"rate": 20.0, "latency_ns_mean": 100.0}},
        "failed": 4,
    }
    written = WindowData(5 * SECOND, [SECOND], {"rebuild.bytes": [7.0]}, {})
    assert rebuild("storage.a", written) == {"subject": "storage.a", "bandwidth": 7.0}
    assert rebuild("storage.a", data) is None
    assert service("mix", WindowData(SECOND, [], {}, {}))["seconds"] == 0


class Sealed:
    """Run of one second in intervals of 100 ms, with 16 failed commands around 250 ms."""

    def __init__(self, folder: Path, cuts: list[int]) -> None:
        self.folder = folder
        self.outcome = {"windows": [{"phase": 0, "visits": [[0, SECOND]]}]}
        self.spec = SimpleNamespace(repetition=0, storage={}, phases=[])
        lines = [json.dumps(event("power_cut", at, storage="d")) for at in cuts]
        (folder / "events.jsonl").write_text("\n".join(lines) + "\n")

    def series(self) -> pl.DataFrame:
        fails = {3: 16.0, 7: 5.0}
        rows = [
            ("load", place * SECOND // 10, SECOND // 10, "mix", metric, value)
            for place in range(1, 11)
            for metric, value in (("load.failed", fails.get(place, 0.0)), ("read.count", 10.0))
        ]
        columns = ["source", "t_ns", "dt_ns", "subject", "metric", "value"]
        return pl.DataFrame(rows, schema=columns, orient="row")

    def events(self) -> list:
        return read_events(self.folder)

    def latencies(self) -> dict:
        return {}


@pytest.mark.parametrize(
    ("cuts", "failed"),
    [
        ([250], [0, 21]),
        ([300], [16, 5]),
        ([200], [0, 21]),
        ([250, 290], [0, 16, 5]),
        ([250, 650], [0, 16, 5]),
        ([150, 250, 950], [0, 0, 21, 0]),
    ],
)
def test_failed_commands_of_an_events_interval_are_kept(tmp_path, cuts, failed):
    run: Any = Sealed(tmp_path, [at * SECOND // 1000 for at in cuts])
    phase: Any = SimpleNamespace(streams=[SimpleNamespace(name="mix")], programs=())
    cell = Cell("simulated", "p", {}, 0, phase, [run])
    shown = _timeline(cell, {tmp_path: Frames(run)}, [run])["timeline"]
    assert [part["streams"][0]["failed"] for part in shown] == failed
    last = shown[-1]["streams"][0]
    # Rates still cover whole intervals.
    assert last["seconds"] == (SECOND - cuts[-1] * 10**6) // 10**8 / 10


@pytest.mark.parametrize(
    ("events", "failed"),
    [
        ([("fail", 10), ("missed", 15)], [0, 400, 0]),
        ([("fail", 10), ("replace", 12), ("fail", 15)], [0, 400, 0, 0]),
        ([("fail", 5), ("replace", 15)], [0, 400, 0]),
        ([("fail", 5), ("power_cut", 15)], [0, 0, 400]),
        ([("rebuilt", 12), ("fail", 15), ("power_cut", 17)], [0, 0, 400, 0]),
        ([("fail", 5), ("rebuilt", 20)], [0, 0, 0]),
    ],
)
def test_failures_of_a_split_interval_count_for_the_fault(events, failed):
    parts = stretches([event(kind, at) for kind, at in events], 0, 30)
    assert failed_around(parts, [(0, 30)], [(10, 20, 400.0)]) == failed
    assert not any(failed_around(parts, [(11, 30)], [(10, 20, 400.0)])), "another phase's work"


def test_stretch_without_a_whole_interval_claims_no_failures():
    happens = stretch(0, [{"kind": "missed", "event": "f", "why": "too late"}], None)
    happens["streams"][0]["seconds"] = 0
    result = with_timeline()
    result["cells"][0]["timeline"] = [*told(), happens]
    (table,) = tables(read_results(result), Text("en"))
    assert [str(row.cells[-1]) for row in table.rows] == [*"0000", "77", "0", "–"]


def stretch(begin: int, happened: list[dict], rate: float | None, failed: int = 0) -> dict:
    """Return a stretch of a cell's timeline, a second long."""
    operations = {"read": {"rate": rate, "latency_ns_mean": 50_000.0}} if rate else {}
    stream = {"subject": "mix", "seconds": 1.0, "operations": operations, "failed": failed}
    times = {"from_ns": begin * SECOND, "to_ns": (begin + 1) * SECOND}
    return {"repetition": 0, **times, "happened": happened, "streams": [stream], "rebuilds": []}


def told() -> list[dict]:
    """Return a timeline: a member fails and is rebuilt, everything fails, power is cut."""
    member = {"storage": "array", "member": 1}
    rebuilt = {"kind": "rebuilt", **member, "bytes": 4 << 30, "for_ns": 20 * SECOND}
    cut = {"kind": "power_cut", "storage": "array", "outstanding": 8, "lost_writes": 3}
    return [
        stretch(0, [], 2000.0),
        stretch(1, [{"kind": "fail", "event": "dies", **member}], 1000.0),
        stretch(2, [{"kind": "replace", **member}, rebuilt | {"scale": 64}], 900.0),
        stretch(3, [rebuilt, cut | {"lost_bytes": 12288}], 2000.0),
        stretch(4, [{"kind": "fail", "storage": "array", "member": None}], None, failed=77),
        stretch(5, [{"kind": "missed", "event": "late", "why": "too late"}], None),
    ]


def with_timeline() -> dict:
    """Return the first look's results with a cell that has events."""
    results = first_look.inputs().results
    first, *others = results["cells"]
    return {**results, "cells": [{**first, "timeline": told()}, *others]}


def test_stretch_shows_its_events_and_the_service_after_them():
    (table,) = tables(read_results(with_timeline()), Text("en"))
    first, dies, replaced, cut, all_dead, _ = table.rows
    assert [c.label for c in table.columns[-3:]] == [
        "Operations per second",
        "Mean latency",
        "Failed commands",
    ]
    assert (str(first.cells[0]), str(first.cells[1])) == ("–", "2.00 k")
    assert str(dies.cells[0]) == "member 1 of array fails"
    assert "64 times as long" in str(replaced.cells[0])
    assert "3 acknowledged writes lost (12.0 KiB)" in str(cut.cells[0])
    assert "64 times" not in str(cut.cells[0])
    assert [str(cell) for cell in all_dead.cells] == ["all of array fails", "0", "–", "77"]


def test_unreplicated_writes_are_lost_with_the_near_side():
    near = {"kind": "fail", "storage": "array", "member": 0}
    words = describe(near | {"lost_writes": 3, "lost_bytes": 12288}, Text("en"))
    assert words.startswith(
        "member 0 of array fails; 3 acknowledged writes (12.0 KiB) not yet replicated are lost"
    )
    assert describe(near, Text("en")) == "member 0 of array fails"


def test_simulated_database_service_has_its_model_error():
    result = with_timeline()
    model = {"low": 500.0, "high": 2000.0, "validated_on": "x", "inside_range": True}
    rate = {"subject": "mix", "metric": "read.rate", "value": 1000.0, "model": model}
    result["cells"][0] = {**result["cells"][0], "estimates": [rate]}
    (table,) = tables(read_results(result), Text("en"))
    assert [str(row.cells[1]) for row in table.rows[:2]] == [
        *("2.00 k [1.00–4.00]", "1.00 k [0.50–2.00]")
    ]


@pytest.mark.parametrize(
    ("event", "en", "ja"),
    [
        ({"kind": "fail", "survived": True}, "rebuild begins", "リビルド開始"),
        ({"kind": "fail", "survived": False}, "the drive with it", "ドライブも故障"),
        (
            {"kind": "rebuilt", "bytes": 4 << 30, "for_ns": SECOND},
            "4.00 GiB left by garbage collection",
            "リビルド完了",
        ),
        (
            {"kind": "rebuilt", "bytes": 4 << 30, "for_ns": SECOND, "scale": 64},
            "64 times as long",
            "64倍",
        ),
    ],
)
def test_failed_channel_and_its_rebuild_are_described(event, en, ja):
    place = {"storage": "card", "member": 0, "channel": 12}
    for lang, words in (("en", en), ("ja", ja)):
        shown = describe(event | place, Text(lang))
        assert words in shown and "12" in shown and "card" in shown


def test_resync_shows_its_bytes_at_any_scale():
    event = {"kind": "rebuilt", "storage": "pair", "member": 1, "resync": True, "scale": 64}
    event |= {"bytes": 3 << 20, "for_ns": SECOND}
    for lang, words in (("en", "in flight"), ("ja", "再同期完了")):
        shown = describe(event, Text(lang))
        assert words in shown and "3.00 MiB" in shown and "pair" in shown and "64" not in shown


@pytest.mark.parametrize(
    ("event", "en", "ja"),
    [
        ({"kind": "crash", "back": True, "away_ns": SECOND}, "answers again", "後に応答"),
        ({"kind": "crash", "back": False, "away_ns": SECOND}, "before it answers", "応答再開前"),
        ({"kind": "restart", "back": True, "away_ns": SECOND}, "answers again", "正常停止"),
        ({"kind": "restart", "back": False, "away_ns": SECOND}, "and crashes after", "異常終了"),
        ({"kind": "pool_loaded", "pages": 1234, "for_ns": SECOND, "whole": True}, "1,234", "1,234"),
        (
            {"kind": "pool_loaded", "pages": 7, "for_ns": SECOND, "whole": False},
            "the rest skipped",
            "打ち切り",
        ),
    ],
)
def test_restart_and_pool_load_are_described(event, en, ja):
    for lang, words in (("en", en), ("ja", ja)):
        shown = describe({"event": "upgrade"} | event, Text(lang))
        assert words in shown and "upgrade" in shown


@pytest.mark.parametrize(("lang", "said"), [("en", "rebuild of member"), ("ja", "リビルド完了")])
def test_section_appears_in_every_form_of_the_report(lang, said):
    marks = [{"t_s": 0.5, "kind": kind} for kind in ("fail", "replace", "rebuilt", "power_cut")]
    entry = {"world": "simulated", "name": "steady", "unit_key": "iops", "t_s": [1.0, 2.0]}
    series = [{**entry, "values": {"mix read": [1.0, 2.0]}, "marks": marks}]
    inputs = replace(first_look.inputs(), results=with_timeline(), series=series)
    page = render(inputs, lang)
    for shown in (page, markdown(inputs, lang)):
        assert Text(lang)("section.timeline") in shown and said in shown
    assert Text(lang)("mark.power_cut") in page
    assert Text(lang)("section.timeline") not in markdown(first_look.inputs(), lang)
