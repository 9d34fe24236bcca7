"""Studies of published methods: plans in both modes, and deviations."""

import json
import re

import pytest
from command import results, tameshi

from tameshi.core.data import STUDIES
from tameshi.report.words.text import Text
from tameshi.study.file import plan, read_study
from tameshi.workflow import study_folder

PTS = sorted(path.stem for path in STUDIES.glob("pts-*.toml"))


@pytest.mark.parametrize("name", [*PTS, "threads-and-depth", "load-limit"])
@pytest.mark.parametrize("quick", [False, True])
def test_a_ready_study_plans_in_both_modes_and_both_worlds(name, quick):
    study = read_study(STUDIES / f"{name}.toml")
    for world in ("simulated", "measured"):
        planned = plan(study, world, quick=quick)
        assert planned.study.quick is quick
        assert (planned.study.method is not None) is name.startswith("pts-")


def test_every_test_of_the_pts_has_a_study():
    tests = ("iops", "throughput", "latency", "wsat", "hir", "xsr", "ecw", "div")
    assert {f"pts-{test}" for test in tests} == set(PTS)


def test_quick_method_is_not_compliant_with_reasons(tmp_path):
    out = tmp_path / "out"
    text = (STUDIES / "pts-latency.toml").read_text()
    text = text.replace('"480 GB"', '"1 GiB"').replace('"sata-ssd-480gb"', '"sas-15k-146gb"')
    text = re.sub(r"\n(scale = 128|written) .*", "", text)
    text = text.replace("200 %", "1 %")
    study = tmp_path / "small.toml"
    study.write_text(text)
    done = tameshi("run", study, "--quick", "--out", out)
    assert done.returncode == 0, done.stderr
    method = results(out)["method"]
    assert method["compliant"] is False
    assert {"shortened", "modelled"} <= {found["code"] for found in method["deviations"]}
    report = (out / "report.html").read_text()
    assert all(Text().reason(found) in report for found in method["deviations"])
    assert "not compliant" in report
    assert json.loads((out / "summary.json").read_text())["study"]["quick"] is True


PAUSES = """
title = "Pauses"
question = "What do pauses do?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[axis.wait]
varies = "within"
set = "phase.wait.until.time"
levels = ["100 ms", "300 ms"]
[workload.stream.s]
[phase.write]
workload = ["stream.s"]
until = { time = "100 ms" }
[phase.wait]
workload = []
until = { time = "100 ms" }
[phase.after]
workload = ["stream.s"]
until = { time = "200 ms" }
[rounds.pauses]
phases = ["write", "wait"]
over = ["wait"]
times = 3
[run]
interval = "50 ms"
"""
LEVELS = {"100 ms": 0.1, "300 ms": 0.3}


def test_report_plots_phases_interrupted_by_pauses(tmp_path):
    (tmp_path / "pauses.toml").write_text(PAUSES)
    out = tmp_path / "out"
    done = tameshi("run", tmp_path / "pauses.toml", "--out", out)
    assert done.returncode == 0, done.stderr
    shown = study_folder.report_inputs(results(out), study_folder.read_runs(out).runs, []).series
    courses = {(each["name"], each["levels"]): each for each in shown}
    assert set(courses) == {(name, (wait,)) for name in ("write", "after") for wait in LEVELS}
    for wait, pause_s in LEVELS.items():
        course = courses["write", (wait,)]
        [rates] = course["values"].values()
        at_rest = [t for t, rate in zip(course["t_s"], rates, strict=True) if rate == 0]
        assert at_rest == pytest.approx([0.1 + pause_s, 0.2 + 2 * pause_s])
        assert len(rates) == 3 * 2 + 2


CELLS = """
title = "t"
question = "q?"
[storage.disk]
device = "optane-p4800x-375g"
[workload.stream.s]
[axis.depth]
set = "workload.stream.s.queue_depth"
levels = [1, 2, 4]
[phase.p]
workload = ["stream.s"]
until = { time = "1 ms" }
[run]
repetitions = 2
interval = "1 ms"
"""


def test_report_has_latencies_of_each_cell_once(tmp_path):
    (tmp_path / "cells.toml").write_text(CELLS)
    out = tmp_path / "out"
    done = tameshi("run", tmp_path / "cells.toml", "--out", out)
    assert done.returncode == 0, done.stderr
    curves = study_folder.report_inputs(
        results(out), study_folder.read_runs(out).runs, []
    ).percentiles
    assert sorted(curve["levels"]["depth"] for curve in curves) == ["1", "2", "4"]
