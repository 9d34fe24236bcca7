"""Studies of the comparison with a real MariaDB, and its rows."""

from pathlib import Path

import pytest
from bench.beside_mariadb import (
    DISK,
    HOST,
    KEPT,
    PUBLISHED,
    SIZES,
    host_text,
    kind,
    renewed,
    row,
    short_text,
    study_text,
    table_rows,
)

from tameshi.analysis.database_facts import Facts, facts_of
from tameshi.analysis.published import listed
from tameshi.core import compiled
from tameshi.core.data import PROFILES
from tameshi.study.file import StudyFile, plan

EXTRA = {
    "devices": [(DISK, "disk", (PROFILES / "devices" / "cloud-volume-1tb.toml").read_text())],
    "hosts": [(HOST, "host", host_text())],
}


@pytest.mark.parametrize("size", SIZES)
def test_study_runs_in_both_worlds_with_the_machines_host_and_disk(size):
    study = StudyFile("s", Path("nowhere/s.toml"), study_text(SIZES[size]), EXTRA)
    planned = plan(study, "simulated", quick=False)
    assert planned.refusals == []
    runs = planned.runs
    cells = {tuple(run.cell.values()) for run in runs}
    assert len(cells) == 2 * len(SIZES[size].pools)
    for run in runs:
        facts = facts_of(run, run.phases[0])
        assert (facts.profile, facts.storage, facts.clients) == ("mariadb-10.11", "volume", 4)
        assert facts.pool_bytes == compiled.size_bytes(run.cell["buffer_pool"])
    assert plan(study, "measured", quick=False).runs


def test_published_cells_are_calibration_figures_and_run_simulated():
    study = StudyFile("s", Path("nowhere/s.toml"), short_text())
    planned = plan(study, "simulated", quick=False)
    runs = planned.runs
    assert [run.cell["figure"] for run in runs] == list(PUBLISHED)
    assert all(listed()[name].value for name in PUBLISHED)
    assert planned.refusals == []


def test_measured_rows_survive_a_new_simulation():
    rows = [
        {"source": "S2-0025", "metric": "statement.rate", "reference": "46353", "ours": "1"},
        {"source": "MariaDB: oltp, 16 MiB", "metric": "m", "reference": "7", "ours": "2"},
    ]
    cell = {"estimates": [{"metric": "m", "value": 3.5}, {"metric": "m", "value": 9.0}]}
    assert list(renewed(rows, {"MariaDB: oltp, 16 MiB": cell})) == [{**rows[1], "ours": "3.5"}]


def test_profiles_of_the_measured_machine_are_next_to_the_table():
    extra = {
        plural: [(name, one, path.read_text(encoding="utf-8"))]
        for plural, one, name, path in zip(
            ("devices", "hosts"), ("disk", "host"), (DISK, HOST), KEPT, strict=True
        )
    }
    study = StudyFile("s", Path("nowhere/s.toml"), study_text(SIZES["full"]), extra)
    cells = {", ".join(run.cell.values()) for run in plan(study, "simulated", quick=False).runs}
    measured = {row["source"] for row in table_rows() if kind(row["source"]) == "measured"}
    assert measured == {f"MariaDB: {cell}" for cell in cells}


def test_row_names_its_subject():
    facts = Facts("mariadb-10.11", "tpcc", "volume", 4, 10**9, 10**8)
    made = row("MariaDB: tpcc, 16 MiB", facts, "statement.rate", (10.0, 12.5), "1/s", "")
    assert (made["reference"], made["ours"], made["pool_bytes"]) == ("10", "12.5", 10**8)
    assert (kind(made["source"]), kind("S2-0025")) == ("measured", "published")
