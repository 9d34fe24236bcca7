"""Page of simulated databases: our figures next to known ones, good and bad."""

import csv
import math
import re
from dataclasses import replace

import pytest
from validation import PAGES
from validation.databases_page import PAGE, latest, page, predicted, write_page
from validation.fitted import FIGURE, KINDS, TWICE, Fitted, fitted
from validation.predictions import Prediction

from tameshi.analysis.model_error import Facts, Validated
from tameshi.core.data import PROFILES, PUBLISHED, STUDIES

IDS = {*TWICE, *TWICE.values()}
FACTS = Facts("mariadb-10.11", "tpcc", "volume", 4, 10**9, 10**8)
BAD = "Measured, tpcc, 16 MiB, warning: the machine was busy."


def row(source: str, metric: str, known: float, ours: float, note: str = "") -> Validated:
    return Validated(source, FACTS, metric, known, ours, "1/s", note)


ROWS = [
    row("S2-0023", "statement.rate", 10_915, 42_800, "short"),
    row("MariaDB: tpcc, 16 MiB", "statement.rate", 1000, 1300, BAD),
    row("MariaDB: tpcc, 64 MiB", "statement.rate", 2000, 2040),
    row("MariaDB: tpcc, 16 MiB", "server.hit_ratio", 0.95, 0.96),
]


def test_bad_errors_are_shown():
    shown = page(ROWS, [], [])
    assert "| S2-0023 |" in shown and "+292.1%" in shown
    assert "statement.rate: median error 15%, worst 30%; 1 of 2 within 5%, 1 beyond 25%" in shown
    assert "+1.00 points" in shown and BAD in shown


def test_invalid_measurement_is_bracketed_and_not_counted():
    worst = row("MariaDB: oltp, 8 MiB", "statement.rate", 1000, 9000)
    shown = page([*ROWS, replace(worst, invalid="not warm")], [], [])
    assert "statement.rate: median error 15%, worst 30%; 1 of 2 within 5%" in shown
    assert "| (+800.0%) |" in shown
    assert "MariaDB: oltp, 8 MiB, whose measurement is invalid: not warm." in shown


def test_cells_of_whole_studies_show_the_reason_of_their_error():
    known = {"id": "S2-0023", "published": "10915", "unit": "query/s", "ours": "42000"}
    shown = page([], [{**known, "deviation_percent": "+284.8", "reason": "not known"}], [])
    assert "10,915 query/s | 42,000 | +284.8 % |  | not known" in shown


def test_shared_reason_is_shown_once():
    known = {"published": "1", "unit": "s", "ours": "2", "deviation_percent": "+100.0"}
    why = ["shared", "own", "", "shared", ""]
    rows = [{**known, "id": f"S2-{i}", "reason": reason} for i, reason in enumerate(why)]
    shown = page([], rows, [])
    assert [line.split(" | ")[-1] for line in shown.splitlines() if line.startswith("| S2-")] == [
        *("(a) |", "own |", " |", "(a) |", " |")
    ]
    assert shown.count("shared") == 1 and "\n\n(a) shared\n" in shown


def test_predictions_have_bounds_and_no_score():
    blind = Prediction("S2-0033", "40000", "30000", "50000", "mysql-disk-or-flash", "a=b", "d")
    shown = page([], [], [blind])
    assert "| S2-0033 | query/s | 40000 | 30000 | 50000 | as first |  |  | a=b |" in shown
    assert "within the first prediction's interval throughout" in shown
    assert "Nothing has been measured" in shown


def test_latest_prediction_stands_next_to_the_first(tmp_path):
    head = "id,predicted,low,high,study,cell,digest\n"
    rows = {
        "predictions.csv": (("S2-0033", 40), ("S2-0035", 40), ("S2-0037", 40), ("S2-0039", 40)),
        "predictions-2026-11-22.csv": (("S2-0033", 90), ("S2-0035", 90)),
        "predictions-2026-11-23.csv": (("S2-0033", 20), ("S2-0033", 50), ("S2-0037", 29)),
    }
    for name, shown in rows.items():
        lines = (f"{id},{value},30,50,mysql-disk-or-flash,a=b,d\n" for id, value in shown)
        (tmp_path / name).write_text(head + "".join(lines))
    shown = page([], [], predicted(tmp_path), latest(tmp_path))
    assert "for 2 of 4: S2-0035 above, S2-0037 below." in shown
    for line in (
        "| S2-0033 | query/s | 40 | 30 | 50 | 50 | 2026-11-23 |  | a=b |",
        "| S2-0035 | query/s | 40 | 30 | 50 | 90 | 2026-11-22 | above | a=b |",
        "| S2-0037 | query/s | 40 | 30 | 50 | 29 | 2026-11-23 | below | a=b |",
        "| S2-0039 | query/s | 40 | 30 | 50 | as first |  |  | a=b |",
    ):
        assert line in shown


def test_figure_with_fitted_parameters_names_them():
    known = {"published": "1", "unit": "s", "ours": "2", "deviation_percent": "+1.0", "reason": ""}
    rows = [{**known, "id": name} for name in ("S2-0023", "S2-0025")]
    parameters = [
        Fitted("mysql-5.5", "engine.innodb.pool.look", "0.82 us", "S2-0023, beside S2-0001"),
        Fitted("a-study", "redo_log", "56 MiB", "S2-0023"),
    ]
    shown = page([], rows, [], {}, parameters)
    assert "1 of 2 figures set parameters" in shown
    assert "| S2-0023 | 1 s | 2 | +1.0 % | `pool.look`, `redo_log` |  |" in shown
    assert "| S2-0025 | 1 s | 2 | +1.0 % |  |  |" in shown
    assert "| a-study | `redo_log` | 56 MiB | S2-0023 |" in shown


def test_figure_listed_twice_fits_parameters_under_both_ids():
    with (PUBLISHED / "calibration.csv").open(newline="", encoding="utf-8") as file:
        known = {row["id"]: float(row["value"]) for row in csv.DictReader(file) if row["id"] in IDS}
    for one, twin in TWICE.items():
        assert known[one] == pytest.approx(known[twin], rel=1e-5), one
        for each in fitted():
            assert (one in each.figures) == (twin in each.figures), each


def test_table_has_every_fitted_value_of_engines_hosts_and_studies():
    result = fitted()
    for kind in KINDS:
        for path in (PROFILES / kind).glob("*.toml"):
            lines = path.read_text().count("fitted_on =")
            assert len([each for each in result if each.place == path.stem]) == lines, path
    assert all(each.figures for each in result)
    for path in STUDIES.glob("*.toml"):
        comments = " ".join(re.findall(r"(?m)^# ?(.*)$", path.read_text()))
        words = re.findall(r"fitted on ((?:S\d-\d{4}(?:,? and |, )?)+)", comments)
        assert len(words) == comments.count("fitted on"), f"{path}: say on which figures"
        shown = [each.figures for each in result if each.place == path.stem]
        assert sorted(shown) == sorted(tuple(FIGURE.findall(each)) for each in words), path


def test_every_row_has_as_many_cells_as_its_head():
    shown = page(ROWS, [], [])
    for table in re.findall(r"(?:^\|.*\n)+", shown, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_page_of_this_project_matches_its_lists(tmp_path):
    for path in [PAGES / "calibration.csv", *PAGES.glob("predictions*.csv")]:
        if path.exists():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    write_page(tmp_path)
    made = (tmp_path / PAGE).read_text()
    why = "stale: run `tameshi predictions` or `python -m bench.beside_mariadb --write`"
    assert (PAGES / PAGE).read_text() == made, why


def test_error_of_a_share_is_that_of_its_odds():
    result = row("a", "server.hit_ratio", 0.5, 0.75).off
    assert math.isclose(result, math.log(3))
