"""Live view: description of streams, on a terminal and without."""

from io import StringIO

import pytest
from rich.console import Console

from tameshi.run import display
from tameshi.run.display import LiveDisplay, PlainDisplay, described, for_console


def stream(name: str, **changes) -> dict:
    slow = {"t_ns": 4_210_000_000, "operation": "write", "offset": 1 << 20, "bytes": 4096}
    return {
        "name": name,
        "operations_per_second": 12_345,
        "bytes_per_second": 50_565_120,
        "p50_ns": 80_500,
        "p99_ns": 1_234_567,
        "p999_ns": 20_000_000,
        "slowest": {**slow, "latency_ns": 312_000_000},
        **changes,
    }


def progress(*streams: dict) -> dict:
    return {"elapsed_ns": 5_000_000_000, "bytes_written": 0, "streams": list(streams)}


@pytest.fixture
def console() -> Console:
    return Console(file=StringIO(), width=160, force_terminal=False)


def text(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_stream_line_has_rates_percentiles_and_slowest():
    assert described(stream("log")) == (
        "log: 12,345 IOPS, 50.6 MB/s, p50 80.5 µs, p99 1.23 ms, p99.9 20.0 ms, "
        "slowest 312 ms write at offset 1,048,576, 4.21 s"
    )


def test_plain_output_has_periodic_line_per_stream(console, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    plain = for_console(console)
    assert isinstance(plain, PlainDisplay)
    plain.begin(2, 1, 20_000_000_000)
    idle = stream("idle", operations_per_second=0, slowest=None)
    for _ in range(3):
        plain.run("measured #1", "run", progress(stream("log"), idle))
    assert text(console).splitlines() == ["2 runs to make (1 finished before)"]
    now[0] += 10
    later = {**progress(stream("log"), idle), "elapsed_ns": 15_000_000_000}
    plain.run("measured #1", "run", later)
    plain.ended("measured #1", "complete", None, 10_000_000_000)
    assert text(console).splitlines()[1:] == [
        "measured #1: 15.0 s, about 5 s left",
        f"  {described(stream('log'))}",
        "measured #1: complete",
    ]


def test_slowest_operation_is_over_all_phases(console, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    slow = {**stream("fill")["slowest"], "latency_ns": 2_000_000_000, "stream": "fill"}
    result = {**progress(stream("log")), "slowest": slow}
    plain = PlainDisplay(console)
    now[0] += 10
    plain.run("measured #1", "run", result)
    expected = "2.00 s write at offset 1,048,576, 4.21 s, stream fill"
    assert text(console).splitlines()[-1] == f"  slowest of the run so far: {expected}"
    live = LiveDisplay(Console(file=StringIO(), width=200, force_terminal=True, color_system=None))
    live.run("measured #1", "run", result)
    assert list(live.table().columns[-1].cells)[-1] == expected
    live.ended("measured #1", "complete", None, 0)
    assert live.table().row_count == 0
    live.close()


def test_terminal_shows_streams_in_a_table():
    console = Console(file=StringIO(), width=160, force_terminal=True, color_system=None)
    live = for_console(console)
    assert isinstance(live, LiveDisplay)
    live.begin(1, 0, 10_000_000_000)
    live.run("measured #1", "prepare", {"bytes_written": 2_500_000_000})
    assert "laying out, 2.50 GB written" in live.progress.tasks[0].description
    many = [stream(f"s{number}") for number in range(20)]
    live.run("measured #1", "run", progress(*many))
    assert live.progress.tasks[0].completed == 0.5
    table = live.table()
    assert table.row_count == display.MOST_ROWS + 1
    with console.capture() as captured:
        console.print(table)
    assert "12,345" in captured.get() and "312 ms write at offset 1,048,576" in captured.get()
    live.ended("measured #1", "complete", None, 10_000_000_000)
    assert live.table().row_count == 0
    live.close()


def filling(**changes) -> dict:
    doing = {"name": "fill", "total_bytes": 960_000_000_000, "total_ns": None}
    begun = {"phase_begin_ns": 10_000_000_000, "phase_bytes": 240_000_000_000}
    elapsed = {"elapsed_ns": 610_000_000_000, "bytes_written": 0, "streams": []}
    return {**elapsed, **begun, "doing": {**doing, **changes}}


def test_phase_by_amount_shows_progress_and_remaining_time():
    result = "610.0 s, fill, 240 GB of 960 GB, 30 min of it left"
    assert display.doing("run", filling()) == result
    sooner = display.doing("run", filling(total_ns=700_000_000_000))
    assert sooner.endswith(", 100 s of it left"), "its time is over before its amount"
    begun = {**filling(), "phase_bytes": 0}
    assert display.doing("run", begun) == "610.0 s, fill, 0 kB of 960 GB"


def test_phase_without_bound_shows_no_time_left():
    job = filling(total_bytes=1 << 62)
    assert display.doing("run", job) == "610.0 s, fill"


def test_remaining_time_is_steady_from_first_progress(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    remaining = display.Remaining(6_000_000_000)
    now[0] += 60  # laying out its target
    seen = []
    for tenth in range(1, 60):
        now[0] += 0.1
        remaining.progress("measured #1", tenth * 100_000_000)
        if (left := remaining.seconds()) is not None:
            seen.append(round(left + tenth / 10, 6))
    assert len(seen) > 20 and set(seen) == {6.0}


def test_remaining_time_of_several_runs_holds_preparation(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    remaining = display.Remaining(2_000_000_000)
    now[0] += 20
    remaining.progress("measured #1", 500_000_000)
    remaining.ended("measured #1", 1_000_000_000)
    assert remaining.text() == "about 20 s left"


def test_phase_by_time_shows_duration_steady_only_name():
    by_time = filling(total_bytes=None, total_ns=18_600_000_000_000)
    assert display.doing("run", by_time) == "610.0 s, fill, 5.0 h of it left"
    assert display.doing("run", filling(total_bytes=None)) == "610.0 s, fill"


def test_phase_is_in_plain_lines_too(console, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(display.time, "monotonic", lambda: now[0])
    plain = for_console(console)
    now[0] += 10
    plain.run("simulated #1", "run", filling())
    assert "fill, 240 GB of 960 GB, 30 min of it left" in text(console)


def test_single_run_is_singular_in_text(console):
    plain = for_console(console)
    plain.begin(1, 0, 1_000_000_000)
    assert text(console).splitlines() == ["1 run to make"]
