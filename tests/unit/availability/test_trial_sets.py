"""Sets of failover trials: combinations, the folder, resuming, and the summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from failover_results import result

from tameshi.availability import READY, SetFolder, Trial, TrialSet, conduct, summarise
from tameshi.core.errors import BadInput, RunFailed
from tameshi.pairs import EVENTS, WAYS

ASKED = TrialSet(ways=("mariadb-single", "mariadb-asynchronous"), repetitions=2)


def test_trials_are_every_combination_once_then_again() -> None:
    trials = ASKED.trials()
    assert [(t.way, t.repetition) for t in trials] == [
        ("mariadb-single", 1),
        ("mariadb-asynchronous", 1),
        ("mariadb-single", 2),
        ("mariadb-asynchronous", 2),
    ]
    assert len({trial.file for trial in trials}) == 4
    assert [ASKED.seed_of(trial) for trial in trials] == [1, 1, 2, 2]


def test_all_ways_leave_out_links_of_servers_alone() -> None:
    every = replace(ASKED, ways=tuple(WAYS), events=("kill", "link-cut"), repetitions=1)
    assert len(every.trials()) == 2 * len(WAYS) - 2
    alone = TrialSet(ways=("mariadb-single",), events=tuple(EVENTS))
    assert {trial.event for trial in alone.trials()} == {"kill", "power-cut"}
    with pytest.raises(BadInput, match="has no link"):
        replace(ASKED, events=("link-cut",)).trials()


def test_slow_link_needs_a_link_of_the_hosts() -> None:
    every = replace(ASKED, ways=tuple(WAYS), events=("slow-link",), repetitions=1)
    ways = [trial.way for trial in every.trials()]
    assert "mariadb-galera" in ways and "postgresql-on" in ways
    assert not any("mirror" in way or "single" in way for way in ways)
    with pytest.raises(BadInput, match="cannot be slowed"):
        replace(ASKED, ways=("mariadb-block-mirror",), events=("slow-link",)).trials()


@pytest.mark.parametrize("name", READY)
def test_ready_set_has_trials_and_its_own_name(name: str) -> None:
    assert READY[name].name == name
    assert len(READY[name].trials()) >= 12


def test_interrupted_set_resumes_with_what_is_missing(tmp_path: Path) -> None:
    folder = SetFolder(tmp_path / "set")
    folder.begin(ASKED)
    made: list[Trial] = []
    said: list[str] = []

    def make(trial: Trial) -> Mapping[str, Any]:
        if len(made) == 1:
            raise KeyboardInterrupt
        made.append(trial)
        return result()

    first = conduct(ASKED, folder, make, said.append)
    assert first.is_interrupted and first.made == 1
    assert summarise(ASKED, folder)["made"] == 1
    again: list[Trial] = []

    def remake(trial: Trial) -> Mapping[str, Any]:
        again.append(trial)
        return result()

    folder.begin(ASKED)
    second = conduct(ASKED, folder, remake, said.append)
    assert not second.is_interrupted
    assert made + again == ASKED.trials()
    assert "1 of 4 trials have ended before" in said
    assert any("left" in line for line in said)


def test_failed_trial_is_kept_with_its_reason_and_made_again(tmp_path: Path) -> None:
    folder = SetFolder(tmp_path / "set")
    folder.begin(ASKED)

    def fail(_: Trial) -> Mapping[str, Any]:
        raise RunFailed("the server ended")

    conduct(ASKED, folder, fail, lambda _: None)
    summary = summarise(ASKED, folder)
    assert len(summary["failures"]) == 4 and summary["made"] == 0
    assert "the server ended" in summary["failures"][0]["failure"]
    conduct(ASKED, folder, lambda _: result(), lambda _: None)
    assert summarise(ASKED, folder)["failures"] == []


def test_folder_with_other_settings_is_refused(tmp_path: Path) -> None:
    folder = SetFolder(tmp_path / "set")
    folder.begin(ASKED)
    folder.begin(replace(ASKED, repetitions=9, events=("kill", "power-cut")))
    with pytest.raises(BadInput, match=r"clients 4.*clients 8.*--fresh"):
        folder.begin(replace(ASKED, clients=8))


def test_standby_is_compared_with_a_server_alone(tmp_path: Path) -> None:
    folder = SetFolder(tmp_path / "set")
    folder.begin(ASKED)
    rates = {"mariadb-single": [2000.0, 2200.0], "mariadb-asynchronous": [1000.0, 1100.0]}

    def make(trial: Trial) -> Mapping[str, Any]:
        lost = 0 if trial.way == "mariadb-single" else trial.repetition
        return result(rates[trial.way][trial.repetition - 1], lost)

    conduct(ASKED, folder, make, lambda _: None)
    summary = summarise(ASKED, folder)
    (ratio,) = summary["ratios"]
    assert ratio["value"] == pytest.approx(0.5)
    assert (ratio["low"], ratio["high"]) == (1000 / 2200, 1100 / 2000)
    single, asynchronous = summary["cells"]
    assert asynchronous["lost"] == [1, 2] and single["acknowledged"] == 1000
    assert single["warm_up"]["first"]["hit_ratio"]["value"] == 0.5
    assert single["outage_ns"]["value"] == 10**8 and single["recovered_ns"] is None
