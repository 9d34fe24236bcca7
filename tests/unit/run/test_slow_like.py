"""Slow motion as of a host: the load that is compared, the factor, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tameshi.core.errors import BadInput
from tameshi.core.spec_types import Plan
from tameshi.servers import slow_clock
from tameshi.study.bindings import Bindings
from tameshi.study.file import StudyFile, plan, read_study
from tameshi.workflow.slow_like import NAME, Likeness, Load, calibrated, load_of

HOST = "2x-xeon-e5-2680v3-centos72"
HOSTS = [HOST, "free"]
STUDY = """
title = "A server"
question = "How fast?"
[storage.disk]
device = "sas-15k-146gb"
ENGINES
[axis.clients]
set = "workload.key_update.clients"
levels = [2, 24]
[workload.key_update]
tables = 1
rows = 1000
row_size = "300 B"
clients = 1
[phase]
run = { workload = ["key_update"], until.time = "1 s" }
[run]
seed = 1
"""
STREAM = """
title = "A drive"
question = "How fast?"
[storage.disk]
device = "sas-15k-146gb"
[workload.stream.s]
[phase]
run = { workload = ["stream.s"], until.time = "1 s" }
"""
SEVERAL = """[engine.mysql]
[engine.mariadb]
[axis.product]
mysql = { use.engine = "mysql" }
mariadb = { use.engine = "mariadb" }
"""
LOAD = Load("mysql", "5.7", 24)


@pytest.fixture(autouse=True)
def with_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_clock, "require_library", lambda: Path("/lib"))


def written(tmp_path: Path, text: str) -> StudyFile:
    (tmp_path / "s.toml").write_text(text)
    return read_study(tmp_path / "s.toml")


def planned(tmp_path: Path, engines: str = '[engine.mysql]\nversion = "5.7"') -> Plan:
    study = written(tmp_path, STUDY.replace("ENGINES", engines))
    return plan(study, "emulated", quick=False)


def test_load_has_the_server_and_the_most_clients(tmp_path: Path) -> None:
    assert load_of(planned(tmp_path), HOSTS, HOST, Bindings()) == LOAD


@pytest.mark.parametrize("world", ["simulated", "emulated"])
def test_calibrating_study_has_the_load_in_both_worlds(tmp_path: Path, world: str) -> None:
    (run,) = plan(LOAD.study(HOST, written(tmp_path, STREAM)), world, quick=False).runs
    (phase,) = run.phases
    program: Any = (phase.programs or [])[0].model_dump(mode="json")
    assert program["oltp"]["mix"] == "point_select" and program["oltp"]["clients"] == 24
    engine = (run.engines or {})["mysql"]
    assert engine.version == "5.7" and run.start.value == "warm"


def test_calibrating_study_may_name_a_host_next_to_the_study(tmp_path: Path) -> None:
    (tmp_path / "profiles" / "hosts").mkdir(parents=True)
    profile = '[host]\nsockets = { value = 1, source = "mine" }\n'
    (tmp_path / "profiles" / "hosts" / "mine.toml").write_text(profile)
    with pytest.raises(BadInput, match="cores_per_socket"):
        plan(LOAD.study("mine", written(tmp_path, STREAM)), "simulated", quick=False)


@pytest.mark.parametrize(
    ("here", "there", "factor"),
    [(10_000, 34_567.4, 3.457), (10_000, 20_000, 2), (20_000, 10_000, 1), (10_000, 10_001, 1)],
)
def test_factor_is_the_ratio_of_the_rates(here: float, there: float, factor: float) -> None:
    likeness = Likeness(HOST, LOAD, "MariaDB 10.11.6", here, there)
    # The identity of a run has the number as JSON.
    assert repr(likeness.factor) == repr(factor)


def test_both_rates_are_told_with_the_factor() -> None:
    likeness = Likeness(HOST, LOAD, "MariaDB 10.11.6", 12_000, 30_000)
    assert likeness.why == (
        "slow motion 2.5: point selects in memory of 24 clients: 12,000 statements/s here "
        f"(MariaDB 10.11.6), 30,000 simulated on `{HOST}` (mysql 5.7)"
    )
    faster = Likeness(HOST, LOAD, "MariaDB 10.11.6", 30_000, 12_000, is_disturbed=True)
    assert "this machine is faster, and slow motion cannot be below 1" in faster.why
    assert "other programs ran here meanwhile" in faster.why


@pytest.mark.parametrize(
    ("engines", "host", "bound", "message"),
    [
        ("[engine.mysql]", "unheard-of", {}, "there is no such host profile"),
        (SEVERAL, HOST, {}, "the study has several database servers"),
        ("[engine.sqlite]", HOST, {}, "the study's database has no server"),
        ("[engine.mysql]", HOST, {"mysql": "sqlite"}, "the study's database has no server"),
    ],
)
def test_load_without_one_server_or_host_is_refused(
    tmp_path: Path, engines: str, host: str, bound: dict[str, str], message: str
) -> None:
    with pytest.raises(BadInput, match=f"--slow-like: {message}"):
        load_of(planned(tmp_path, engines), HOSTS, host, Bindings(server=bound))


def test_study_of_streams_is_refused(tmp_path: Path) -> None:
    streams = plan(written(tmp_path, STREAM), "emulated", quick=False)
    with pytest.raises(BadInput, match="the study has no database server"):
        load_of(streams, HOSTS, HOST, Bindings())


def test_server_without_a_model_is_refused_before_anything_runs(tmp_path: Path) -> None:
    load = Load("postgresql", None, 2)
    with pytest.raises(BadInput, match="the simulated world has no model of this server"):
        study, console = written(tmp_path, STREAM), Console()
        calibrated(load, study, Bindings(), HOST, tmp_path / NAME, console)
    assert not (tmp_path / NAME).exists()
