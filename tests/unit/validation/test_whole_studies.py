"""Rows of databases.csv from whole studies."""

import csv

import pytest
from validation import PAGES, whole_studies

from tameshi.analysis.model_error import COLUMNS, TABLE, WHOLE_STUDY
from tameshi.study.file import plan, read_study


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_rows_of_whole_studies_match_the_calibration_list():
    known = {(row["id"], row["study"]): row for row in read(PAGES / "calibration.csv")}
    shown = [row for row in read(TABLE) if row["note"] == WHOLE_STUDY]
    made = [row for name in whole_studies.NAMES for row in whole_studies.rows(name, known)]
    assert shown == [{key: str(value) for key, value in row.items()} for row in made]


def test_row_states_its_cell_and_fitted_parameters():
    (row,) = [row for row in read(TABLE) if row["source"] == "S0-0414"]
    assert (row["profile"], row["workload"], row["storage"]) == (
        *("mysql-5.7", "tpcc tpcc-mysql", "flash"),
    )
    assert (row["clients"], row["pool_bytes"]) == ("60", str(5 << 20))
    assert "cpu.statement" in row["fitted"] and row["unit"] == "tpmC"


def test_rewrite_keeps_other_rows_without_duplicates(tmp_path):
    kept = tmp_path / TABLE.name
    kept.write_bytes(before := TABLE.read_bytes())
    count = whole_studies.write(PAGES, kept)
    assert kept.read_bytes() == before
    places = [(row["source"], row["metric"]) for row in read(kept)]
    assert len(set(places)) == len(places) and count > 0


def test_missing_table_stays_missing(tmp_path):
    assert whole_studies.write(PAGES, tmp_path / TABLE.name) == 0 and not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", whole_studies.NAMES)
def test_figures_of_several_cells_are_excluded(name):
    known = {(row["id"], row["study"]): row for row in read(PAGES / "calibration.csv")}
    listed = plan(read_study(whole_studies.STUDIES / f"{name}.toml"), "simulated", quick=False)
    rows = list(whole_studies.rows(name, known))
    assert {row["source"] for row in rows} <= {figure.id for figure in listed.study.published}
    assert all(set(row) == set(COLUMNS) for row in rows)
