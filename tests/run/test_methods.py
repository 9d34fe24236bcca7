"""Studies that follow a published method: they plan in both modes, and say where they deviate."""

import json

import pytest
from command import results, tameshi

from tameshi.paths import STUDIES
from tameshi.study import plan, read_study

PTS = sorted(path.stem for path in STUDIES.glob("pts-*.toml"))


@pytest.mark.parametrize("name", [*PTS, "threads-and-depth", "load-limit"])
@pytest.mark.parametrize("quick", [False, True])
def test_a_ready_study_plans_in_both_modes_and_both_worlds(name, quick):
    study = read_study(STUDIES / f"{name}.toml")
    for world in ("simulated", "measured"):
        planned = plan(study, world, quick=quick)
        assert planned.study.quick is quick
        assert (planned.study.method is not None) is name.startswith("pts-")


def test_there_is_a_study_for_each_test_of_the_pts():
    tests = ("iops", "throughput", "latency", "wsat", "hir", "xsr", "ecw", "div")
    assert {f"pts-{test}" for test in tests} == set(PTS)


def test_the_quick_part_of_a_method_is_never_compliant_and_the_report_lists_why(tmp_path):
    out = tmp_path / "out"
    text = (STUDIES / "pts-latency.toml").read_text()
    text = text.replace('"480 GB"', '"1 GiB"').replace('"sata-ssd-480gb"', '"sas-15k-146gb"')
    text = text.replace("200 %", "1 %")
    study = tmp_path / "small.toml"
    study.write_text(text)
    done = tameshi("run", study, "--quick", "--out", out)
    assert done.returncode == 0, done.stderr
    method = results(out)["method"]
    assert method["compliant"] is False
    assert "shortened: only the quick part of the study was run" in method["deviations"]
    assert "simulated: a model of a drive and not a drive" in method["deviations"]
    report = (out / "report.html").read_text()
    assert all(sentence in report for sentence in method["deviations"])
    assert "not compliant" in report
    assert json.loads((out / "summary.json").read_text())["study"]["quick"] is True
