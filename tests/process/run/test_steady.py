"""Phases that end at steady state, and repeated phases, from the study to results.json."""

import itertools
import json
import math

import pytest
from command import codes, outcomes, results, tameshi

from tameshi.core import compiled
from tameshi.core.reasons import reason

STEADY = """
title = "Steady"
question = "When?"
[storage.disk]
device = "sas-15k-146gb"
size = "64 MiB"
[workload.stream.s]
queue_depth = 4
[phase.p]
workload = ["stream.s"]
ramp = "100 ms"
until.steady = { round = "500 ms", range = "RANGE", slope = "RANGE", rounds = 3, max_rounds = 6 }
[run]
interval = "100 ms"
"""
ROUNDS = """
title = "Rounds"
question = "Which?"
[storage.disk]
device = "sas-15k-146gb"
size = "64 MiB"
[axis.read]
varies = "within"
set = "workload.stream.s.read"
levels = ["0 %", "100 %"]
[workload.stream.s]
queue_depth = 4
[phase.cell]
workload = ["stream.s"]
until = { time = "700 ms" }
[phase.rest]
over = []
workload = []
until = { time = "300 ms" }
[rounds.r]
phases = ["cell", "rest"]
steady = { range = "60 %", slope = "60 %", rounds = 2, max_rounds = 4, track = ["iops"] }
tracked = [{ phase = "cell", levels = { read = "0 %" } }]
[run]
interval = "100 ms"
"""


def counted(folder, begin_ns, end_ns):
    """Return reads by the record's series between two times."""
    import polars as pl

    (run,) = folder.glob("runs/*")
    rows = pl.read_parquet(run / "series.parquet").filter(
        pl.col("metric") == "read.count",
        pl.col("t_ns") - pl.col("dt_ns") >= begin_ns,
        pl.col("t_ns") <= end_ns,
    )
    return rows["value"].sum()


@pytest.mark.parametrize(("share", "attained"), [("60 %", True), ("0 %", False)])
def test_estimates_are_of_the_steady_window_alone(study, tmp_path, share, attained):
    out = tmp_path / "out"
    done = tameshi("run", study(STEADY.replace("RANGE", share)), "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    (steady,) = cell["steady"]
    last = 3 if attained else 6
    assert (steady["attained"], steady["first"], steady["last"]) == (attained, last - 2, last)
    assert [value["round"] for value in steady["values"]] == list(range(1, last + 1))
    assert {check["variable"] for check in steady["checks"]} == {"iops", "bandwidth", "latency"}
    (outcome,) = outcomes(out)
    (window,) = outcome["windows"]
    begin = int(100e6 + (last - 3) * 500e6)
    assert window["spans"] == [[begin, begin + int(1500e6)]]
    value = {e["metric"]: e["value"] for e in cell["estimates"]}
    assert value["read.iops"] == pytest.approx(counted(out, begin, begin + 1500e6) / 1.5)
    assert value["read.iops"] == pytest.approx(
        sum(v["iops"] for v in steady["values"][last - 3 :]) / 3, rel=1e-5
    )
    assert cell["verdict"]["level"] == ("valid" if attained else "warning")
    unsettled = reason("unsettled", "p", rounds=6)
    assert (unsettled in cell["verdict"]["reasons"]) is (not attained)
    assert value["read.latency.stddev"] > 0


OVERLOADED_FIRST = (
    STEADY.replace("RANGE", "70 %")
    .replace("queue_depth = 4", "queue_depth = 64")
    .replace(
        "[phase.p]",
        'arrivals = { ramp = { shape = "steps", points = ['
        '{ at = "0 s", rate = "2000 /s" }, { at = "600 ms", rate = "60 /s" }] } }\n[phase.p]',
    )
    .replace("max_rounds = 6", "max_rounds = 12")
)


def latencies(folder, begin_ns, end_ns):
    """Return every read between two times, from the histograms of its intervals: sorted (ns,
    count)."""
    (run,) = folder.glob("runs/*")
    counts = {}
    for interval in compiled.histogram_intervals((run / "histograms" / "load.hlog").read_text()):
        inside = begin_ns <= interval["begin_ns"] < end_ns
        if inside and interval["tag"].endswith("/read"):
            for value, count in interval["counts"]:
                counts[value] = counts.get(value, 0) + count
    return sorted(counts.items())


def tail(counts):
    """Return 99th percentile, largest and standard deviation, by their definitions."""
    total = sum(count for _, count in counts)
    passed = itertools.accumulate(count for _, count in counts)
    reached = zip(counts, passed, strict=True)
    p99 = next(value for (value, _), so_far in reached if so_far >= math.ceil(0.99 * total))
    mean = sum(value * count for value, count in counts) / total
    variance = sum(count * (value - mean) ** 2 for value, count in counts) / total
    return {"p99": p99, "max": counts[-1][0], "stddev": math.sqrt(variance)}


def test_tail_deviation_and_largest_use_steady_intervals_only(study, tmp_path):
    out = tmp_path / "out"
    done = tameshi("run", study(OVERLOADED_FIRST), "--out", out)
    assert done.returncode == 0, done.stderr
    (window,) = outcomes(out)[0]["windows"]
    assert window["rounds"]["attained"] and window["rounds"]["first"] > 1
    ((begin, end),) = window["spans"]
    inside, total = tail(latencies(out, begin, end)), tail(latencies(out, 0, end))
    (cell,) = results(out)["cells"]
    values = {e["metric"]: e["value"] for e in cell["estimates"]}
    for name, expected in inside.items():
        # A bucket's relative width is a thousandth.
        assert values[f"read.latency.{name}"] == pytest.approx(expected, rel=2e-3), name
        assert total[name] > 1.5 * expected, "the rest would show"


def test_repeated_phases_pool_their_last_rounds(study, tmp_path):
    out = tmp_path / "out"
    assert tameshi("run", study(ROUNDS), "--out", out).returncode == 0
    cells = [cell for cell in results(out)["cells"] if cell["phase"] == "cell"]
    assert [cell["steady"][0]["attained"] for cell in cells] == [True, True]
    assert [len(cell["steady"][0]["checks"]) for cell in cells] == [1, 0], "one is tracked"
    windows = {w["phase"]: w for w in outcomes(out)[0]["windows"]}
    reads = windows[1]
    assert len(reads["spans"]) == 2
    assert [end - begin for begin, end in reads["spans"]] == [700_000_000] * 2
    expected = sum(counted(out, *span) for span in reads["spans"]) / 1.4
    value = {e["metric"]: e["value"] for e in cells[1]["estimates"]}
    assert value["read.iops"] == pytest.approx(expected)
    assert "write.iops" not in value


def test_a_steady_study_is_measured_too(study, tmp_path):
    out = tmp_path / "out"
    text = STEADY.replace("RANGE", "100 %").replace("500 ms", "100 ms").replace("64 MiB", "1 MiB")
    done = tameshi("run", study(text), "--world", "measured", f"--on=disk={tmp_path}", "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    assert cell["steady"][0]["made"] >= 3
    events = next(out.glob("runs/*/events.jsonl")).read_text().splitlines()
    kinds = [json.loads(line)["kind"] for line in events]
    assert kinds.count("steady") == 1


NEW_FLASH = """
title = "New"
question = "Is it steady?"
[storage.disk]
device = "sata-ssd-480gb"
size = "4 GiB"
scale = 4
written = "WRITTEN"
[workload.stream.writes]
read = "0 %"
queue_depth = 32
[workload.stream.reads]
queue_depth = 32
[phase.precondition]
workload = ["stream.writes"]
until.steady = { round = "400 ms", range = "60 %", slope = "60 %", rounds = 2, max_rounds = 4 }
[phase.more]
workload = ["stream.writes"]
until = { time = "100 ms" }
[phase.reads]
workload = ["stream.reads"]
until.steady = { round = "400 ms", range = "60 %", slope = "60 %", rounds = 2, max_rounds = 4 }
[run]
interval = "50 ms"
"""


@pytest.mark.parametrize(("written", "expected"), [("once", True), ("steady", False)])
def test_new_flash_with_even_writes_is_not_steady(study, tmp_path, written, expected):
    out = tmp_path / "out"
    done = tameshi("run", study(NEW_FLASH.replace("WRITTEN", written)), "--out", out)
    assert done.returncode == 0, done.stderr
    cells = {cell["phase"]: cell for cell in results(out)["cells"]}
    assert cells["precondition"]["steady"][0]["attained"]
    early = {name: cell["verdict"]["level"] == "warning" for name, cell in cells.items()}
    assert early == {"precondition": expected, "more": expected, "reads": False}
    codes = [finding["code"] for cell in cells.values() for finding in cell["findings"]]
    assert codes == (["not_reclaiming"] * 2 if expected else [])


def test_barely_written_drive_is_not_steady(study, tmp_path):
    out = tmp_path / "out"
    text = STEADY.replace("RANGE", "100 %").replace("500 ms", "100 ms").replace("64 MiB", "1 MiB")
    text = text.replace("queue_depth = 4", 'queue_depth = 4\nread = "0 %"')
    done = tameshi("run", study(text), "--world", "measured", f"--on=disk={tmp_path}", "--out", out)
    assert done.returncode == 0, done.stderr
    (cell,) = results(out)["cells"]
    environment = json.loads(next(out.glob("runs/*/environment.json")).read_text())
    (device,) = (target["device"] for target in environment["targets"].values())
    early = [finding for finding in cell["findings"] if finding["code"] == "not_overwritten"]
    if not cell["steady"][0]["attained"] or not device:
        assert not early
    elif device["virtual"] or not device["rotational"]:
        assert early and early[0]["figures"]["share"] < 2
        assert "not_overwritten" in codes(cell["verdict"])
