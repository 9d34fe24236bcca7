"""Validation page of simulated drives: generated from tables, with names of tests."""

import re
from pathlib import Path

from validation import drives_page

ROOT = Path(__file__).resolve().parents[3]
NAMED_TEST = re.compile(r"`([\w./-]+\.(?:rs|py))::(\w+)`")


def test_page_equals_its_tables():
    made = drives_page.page()
    assert (ROOT / "docs" / "validation" / "drives.md").read_text() == made, (
        "stale: python -m validation.drives_page"
    )
    assert "no reason is written down" not in made


def test_the_page_names_tests_that_exist():
    named = NAMED_TEST.findall((ROOT / "docs" / "validation" / "drives.md").read_text())
    assert len(named) > 15
    for path, name in named:
        assert re.search(rf"\b(?:fn|def) {name}\b", (ROOT / path).read_text()), f"{path}::{name}"


def test_rows_of_known_answers_name_existing_tests():
    rows = drives_page.read(ROOT / "docs" / "validation" / "known-answers.csv")
    assert len(rows) > 100
    for row in rows:
        module, _, name = row["test"].rpartition("::")
        path = ROOT / "crates" / "sim" / "tests" / "it" / f"{module.replace('::', '/')}.rs"
        assert f"fn {name}(" in path.read_text(), row["test"]
        off = abs(float(row["found"]) / float(row["expected"]) - 1)
        assert off <= float(row["tolerance"]), row


def test_large_deviations_are_listed_with_reason(tmp_path, monkeypatch):
    module = drives_page
    head = "id,unit,published,ours,deviation_percent,reason,study,cell,digest\n"
    (tmp_path / "calibration.csv").write_text(head + "S0-0006,IOPS,700,600,-14.3,,x,,\n")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    page = module.page()
    assert "| S0-0006 | -14.3 % | **no reason is written down** |" in page
    assert "Of 1 places where a study or a test gives one, 0 are within 5 %." in page
