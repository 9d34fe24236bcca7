"""Simulated pair next to the emulated one: its study, and the rows that are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from failover_results import document

from tameshi.availability import READY
from tameshi.availability.simulated import compared, emulated_rows, study_text
from tameshi.core.spec_types import World
from tameshi.study.file import StudyFile, plan

ASKED = READY["mirrored-ha"]


def rows(tmp_path: Path) -> list[dict[str, Any]]:
    return list(emulated_rows(document(tmp_path / "set", ASKED)))


def test_each_drive_with_pair_and_single_has_a_row(tmp_path: Path) -> None:
    found = rows(tmp_path)
    assert [row["drive"] for row in found] == list(ASKED.drives)
    assert found[0]["away_ns"] == found[0]["single_away_ns"] == 200_000_000
    assert found[0]["fence_ns"] == 10_000_000


def test_study_of_the_simulated_pair_is_planned(tmp_path: Path) -> None:
    text = study_text(ASKED, rows(tmp_path), {"any": 2 << 30})
    planned = plan(StudyFile("pair", Path("pair.toml"), text), World.simulated.value, quick=False)
    assert len(planned.runs) == 2 * len(ASKED.drives)
    assert 'failover = { down = "10000000 ns" }' in text


def cell(configuration: str, phase: str, rate: float, outage_ns: int) -> dict[str, Any]:
    outage = {"first_error_ns": 10, "first_success_ns": 10 + outage_ns}
    return {
        "levels": {"drive": ASKED.drives[0], "configuration": configuration},
        "phase": phase,
        "estimates": [{"metric": "transaction.rate", "subject": "key_update", "value": rate}],
        "database": [{"kind": "outage", "outage": outage}] if phase == "failover" else [],
    }


def test_simulated_ratio_and_outages_join_the_row(tmp_path: Path) -> None:
    cells = [
        cell(name, phase, rate, outage)
        for name, rate, outage in (("single", 1000.0, 300), ("pair", 600.0, 900))
        for phase in ("update", "failover")
    ]
    first, other = rows(tmp_path)
    found = compared(first, {"cells": cells})
    assert found
    assert found["simulated_ratio"] == pytest.approx(0.6)
    assert (found["simulated_away_ns"], found["simulated_single_away_ns"]) == (900, 300)
    assert compared(other, {"cells": cells}) is None, "this drive was not simulated"
