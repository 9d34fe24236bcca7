"""Each calibration figure is within 5 %, or is excepted with a reason."""

import csv
import re
import tomllib
from pathlib import Path

from validation import LISTS

from tameshi.core.data import PUBLISHED, STUDIES

ROOT = Path(__file__).resolve().parents[3]


def rows(path: str) -> list[dict[str, str]]:
    with (ROOT / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def exceptions() -> set[str]:
    groups = tomllib.loads((LISTS / "exceptions.toml").read_text())["group"].values()
    figures = [figure for group in groups for figure in group["figures"]]
    assert all(len(group["because"]) > 40 for group in groups)
    assert len(figures) == len(set(figures))
    return set(figures)


def test_every_calibration_figure_is_tested_or_excepted():
    known = {row["id"] for row in rows(PUBLISHED / "calibration.csv")}
    asked = {row["id"] for row in rows(PUBLISHED / "to-predict.csv")}
    tests = (ROOT / f"crates/sim/tests/it/{name}.rs" for name in ("calibration", "profiles"))
    held = set(re.findall(r"\bS\d-\d{4}\b", "".join(path.read_text() for path in tests)))
    studies = [tomllib.loads(path.read_text()) for path in STUDIES.glob("*.toml")]
    listed = [figure["id"] for study in studies for figure in study.get("published", [])]
    assert set(listed) <= known | asked
    assert known - held - set(listed) - exceptions() == set()
    assert held | exceptions() <= known


def test_every_figure_to_be_predicted_is_in_a_study():
    studies = [tomllib.loads(path.read_text()) for path in STUDIES.glob("*.toml")]
    listed = {figure["id"] for study in studies for figure in study.get("published", [])}
    asked = {row["id"] for row in rows(PUBLISHED / "to-predict.csv")}
    assert asked - listed == set()
    written = {row["id"] for row in rows("docs/validation/predictions.csv")}
    assert asked - written == set()
