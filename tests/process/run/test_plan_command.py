"""`tameshi plan`: titles as written, plans as JSON, exit status."""

import json

import pytest
from command import SMALL, tameshi

from tameshi.core.spec_types import Plan


@pytest.mark.parametrize("title", ["Reads of [/dev/sdb]", "Is [sda] faster than [sdb]?"])
def test_plan_shows_brackets_of_titles_and_levels(tmp_path, title):
    study = SMALL.replace('"Small"', json.dumps(title)).replace("[axis.read]", '[axis."[r]"]')
    (tmp_path / "s.toml").write_text(study)
    done = tameshi("plan", tmp_path / "s.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{title}\n")


def test_plan_of_refused_study_exits_with_status_of_run(tmp_path):
    study = SMALL.replace("[workload.stream.s]", '[workload.stream.s]\ncall = "stat"')
    (tmp_path / "s.toml").write_text(study)
    planned, run = tameshi("plan", tmp_path / "s.toml"), tameshi("run", tmp_path / "s.toml")
    assert "can't be run" in planned.stdout
    assert planned.returncode == run.returncode == 2


def test_json_holds_the_plan_of_each_world(tmp_path):
    (tmp_path / "s.toml").write_text(SMALL)
    worlds = ("--world", "simulated", "--world", "measured")
    done = tameshi("plan", tmp_path / "s.toml", *worlds, "--json")
    plans = json.loads(done.stdout)
    assert list(plans) == ["simulated", "measured"]
    for world, plan in plans.items():
        assert {run.world for run in Plan.model_validate(plan).runs} == {world}


@pytest.mark.parametrize(
    ("study", "expected"),
    [
        ("pts-iops", "at most 84,000 s (23.3 h) of virtual time and the time to move 7.50 GB"),
        ("pts-latency", "h) of virtual time and the time to move "),
    ],
)
def test_plan_of_study_to_steady_state_has_hours_and_bytes(study, expected):
    assert expected in tameshi("plan", study).stdout
