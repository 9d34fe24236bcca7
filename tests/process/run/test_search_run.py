"""Search from the study to results.json: curve, limit, and resume."""

import pytest
from command import outcomes, results, tameshi

# One disk without a cache serves one command at a time, so latency rises with the load.
SEARCH = """
title = "Search"
question = "How much?"
[storage.disk]
device = "sas-15k-146gb"
size = "64 MiB"
[workload.stream.s]
queue_depth = 64
[phase.p]
workload = ["stream.s"]
ramp = "1 s"
until.time = "21 s"
[search]
stream = "s"
shares = ["20 %", "50 %", "80 %"]
within = "10 %"
runs_at_most = 6
SEARCHED
[run]
interval = "500 ms"
"""
LIMIT = 'limit = { metric = "read.latency.p99", below = "25 ms" }'


def points(found):
    """Return rate and p99 of each rate's cell, by rate."""
    return sorted(
        (float(cell["levels"]["rate"]), estimate["value"])
        for cell in found["cells"]
        if "rate" in cell["levels"]
        for estimate in cell["estimates"]
        if estimate["metric"] == "read.latency.p99"
    )


@pytest.mark.slow("a run of 21 s at each rate")
def test_search_brackets_the_limit_rate(study, tmp_path):
    out = tmp_path / "out"
    path = study(SEARCH.replace("SEARCHED", LIMIT))
    done = tameshi("run", path, "--out", out)
    assert done.returncode == 0, done.stderr
    found = results(out)
    (answer,) = found["searches"]
    placed = points(found)
    assert answer["runs"] == len(placed) > 3
    assert [ns for _, ns in placed] == pytest.approx(sorted(ns for _, ns in placed), rel=0.2)
    assert answer["low"] < answer["value"] < answer["high"] < answer["maximum"]
    by_rate = dict(placed)
    assert by_rate[answer["low"]] < 25e6 <= by_rate[answer["high"]]
    assert answer["confidence"] == 0.95
    (axis,) = [axis for axis in found["axes"] if axis["name"] == "rate"]
    assert [float(level) for level in axis["levels"]] == [rate for rate, _ in placed]
    before = sorted(o["digest"] for o in outcomes(out))
    again = tameshi("run", path, "--out", out)
    assert again.returncode == 0
    assert sorted(o["digest"] for o in outcomes(out)) == before, "nothing is run twice"
    assert results(out) == found
    report = (out / "report.html").read_text()
    assert "Sustainable load" in report
    assert axis["offered"] is True
    said = next(line for line in done.stdout.splitlines() if "Simulated: " in line)
    assert said.startswith("Sustainable load") and "latency p99 below 25.0 ms" in said


@pytest.mark.slow("a run of 21 s at each rate")
def test_search_time_budget_is_never_exceeded(study, tmp_path):
    out = tmp_path / "out"
    done = tameshi("run", study(SEARCH.replace("SEARCHED", 'budget = "130 s"')), "--out", out)
    assert done.returncode == 0, done.stderr
    rates = [rate for rate, _ in points(results(out))]
    assert len(rates) == 6, "of 21 seconds each"


@pytest.mark.slow("several runs in real time")
def test_a_search_is_measured_too(study, tmp_path):
    out = tmp_path / "out"
    text = SEARCH.replace("SEARCHED", LIMIT.replace("25 ms", "1 h")).replace("64 MiB", "1 MiB")
    text = text.replace('"1 s"', '"50 ms"').replace('"21 s"', '"300 ms"')
    text = text.replace('"500 ms"', '"50 ms"').replace('"50 %", "80 %"', '"2 %"')
    done = tameshi("run", study(text), "--world", "measured", f"--on=disk={tmp_path}", "--out", out)
    assert done.returncode == 0, done.stderr
    (answer,) = results(out)["searches"]
    assert answer["maximum"] > 0 and answer["runs"] >= 2
    assert answer["high"] is None, "nothing exceeds an hour"
