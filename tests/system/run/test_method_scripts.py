"""Common errors of SNIA test scripts, and their absence from Tameshi's studies."""

import pytest
from command import results, tameshi

from tameshi.core import compiled
from tameshi.core.data import STUDIES
from tameshi.core.spec_types import RunSpec
from tameshi.study.file import plan, read_study

MINUTE = 60_000_000_000


def planned(name: str) -> RunSpec:
    (run, *_) = plan(read_study(STUDIES / f"{name}.toml"), "measured", quick=False).runs
    return run


def test_idle_recovery_pauses_only_in_waits():
    run = planned("pts-hir")
    idle = {phase.name for phase in run.phases if not phase.streams}
    assert idle == {"wait"}
    assert {phase.name for phase in run.phases} - idle == {"fill", "precondition", "write", "after"}


@pytest.mark.parametrize("name", ["pts-div", "pts-ecw"])
def test_threads_are_jobs_and_depth_is_per_job(name):
    cells = [phase for phase in planned(name).phases if phase.name == "cell"]
    assert len(cells) == 36
    for cell in cells:
        (stream,) = cell.streams
        assert str(stream.stream.jobs) == cell.levels["threads"]
        assert str(stream.stream.queue_depth) == cell.levels["depth"]


@pytest.mark.parametrize("name", ["pts-iops", "pts-throughput", "pts-latency", "pts-div"])
def test_rounds_repeat_until_steady_with_one_minute_cells(name):
    run = planned(name)
    rounds = [rounds for rounds in run.rounds or [] if rounds.steady]
    assert rounds
    for each in rounds:
        assert each.times is None and each.steady.max_rounds == 25
        assert each.steady.rounds == 5 and each.tracked
        inside = run.phases[each.first : each.first + each.phases]
        measured = [phase for phase in inside if phase.name == "cell"]
        assert measured
        assert {compiled.nanoseconds(phase.until.time) for phase in measured} == {MINUTE}


def test_rates_of_a_mixed_load_add_up(tmp_path):
    study = tmp_path / "mixed.toml"
    study.write_text(
        'title = "Mixed"\nquestion = "How many?"\n[storage.disk]\ndevice = "null"\n'
        'size = "1 GiB"\n[workload.stream.mixed]\nread = "65 %"\nthink_time = "1 ms"\n'
        '[phase.run]\nworkload = ["stream.mixed"]\nuntil.time = "10 s"\n'
    )
    done = tameshi("run", study, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    (cell,) = results(tmp_path / "out")["cells"]
    rates = {e["metric"]: e["value"] for e in cell["estimates"] if e["metric"].endswith(".iops")}
    assert rates["read.iops"] + rates["write.iops"] == pytest.approx(1000, rel=0.001)
    assert rates["read.iops"] == pytest.approx(650, rel=0.05)
