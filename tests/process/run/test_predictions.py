"""Predictions are written once; those of later models go elsewhere."""

import csv
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import typer
from click.testing import Result
from command import SMALL, tameshi
from typer.testing import CliRunner
from validation import __main__ as command
from validation.__main__ import app
from validation.predictions import Calibration, Prediction, read, record, write_calibrations

from tameshi.core.errors import BadInput

PUBLISHED = """
[[published]]
id = "S4-0028"
cell = { read = "100 %", depth = 4 }
metric = "read.iops"
[[published]]
id = "S0-0006"
cell = { read = "100 %" }
metric = "read.iops"
derived = "most"
"""


def predict(*words: str | Path) -> Result:
    """`python -m validation` within this process."""
    return CliRunner().invoke(app, list(map(str, words)))


def row(number: str, value: str) -> Prediction:
    return Prediction(number, value, "", "", "study", "a=b", "digest")


def test_a_study_with_published_figures_is_predicted(study, tmp_path):
    study(SMALL + PUBLISHED)
    options = [
        "--folder",
        tmp_path / "validation",
        "--studies",
        tmp_path,
        "--out",
        tmp_path / "out",
    ]
    for result in ("small: 1 new, 0 changed, 1 in all", "small: 0 new, 0 changed, 1 in all"):
        done = predict(*options)
        assert done.exit_code == 0, done.stderr
        assert result in done.stdout
    calibrated = (tmp_path / "validation" / "calibration.csv").read_bytes()
    assert predict(*options, "--only", "small").exit_code == 0
    assert (tmp_path / "validation" / "calibration.csv").read_bytes() == calibrated
    unknown = predict(*options, "--only", "smal")
    assert isinstance(unknown.exception, BadInput)
    assert "--only" in str(unknown.exception) and "small" in str(unknown.exception)
    (made,) = read(tmp_path / "validation" / "predictions.csv")
    assert (made.id, made.study, made.cell) == ("S4-0028", "small", "read=100 %;depth=4")
    assert float(made.low) <= float(made.predicted) <= float(made.high)
    assert len(made.digest.split("+")) == 2, "one digest for each repetition"
    with (tmp_path / "validation" / "calibration.csv").open() as file:
        (known,) = csv.DictReader(file)
    assert (known["id"], known["published"], known["reason"]) == ("S0-0006", "700", "")
    off = 100 * (float(known["ours"]) / 700 - 1)
    assert abs(float(known["deviation_percent"]) - off) < 0.1


def test_stopped_study_predicts_nothing(study, tmp_path, monkeypatch):
    study(SMALL + PUBLISHED)
    total = command.conduct

    def stopped(*given, **options):
        return replace(total(*given, **options), complete=False, interrupted=True)

    monkeypatch.setattr(command, "conduct", stopped)
    with pytest.raises(typer.Exit) as ended:
        command.predictions_command(tmp_path / "validation", tmp_path, tmp_path / "out")
    assert ended.value.exit_code == 130
    assert not (tmp_path / "validation").exists()


def test_calibration_figures_keep_those_of_other_studies(tmp_path):
    def known(number: str, study: str, ours: str) -> Calibration:
        return Calibration(number, "IOPS", "100", ours, "+0.0", "", study, "", "")

    path = tmp_path / "calibration.csv"
    made = {"a": [known("S2", "a", "1")], "b": [known("S1", "b", "1"), known("S3", "b", "1")]}
    assert write_calibrations(path, made, whole=True) == 3
    assert write_calibrations(path, {"b": [known("S1", "b", "2")]}, whole=False) == 2
    with path.open() as file:
        rows = [(row["id"], row["study"], row["ours"]) for row in csv.DictReader(file)]
    assert rows == [("S1", "b", "2"), ("S2", "a", "1")]


def test_first_prediction_stays_and_change_has_dated_file(tmp_path):
    assert record(tmp_path, [row("A", "1"), row("B", "2")], date(2026, 1, 1)) == (2, 0)
    first = (tmp_path / "predictions.csv").read_bytes()
    assert record(tmp_path, [row("A", "1"), row("B", "3")], date(2026, 2, 1)) == (0, 1)
    assert (tmp_path / "predictions.csv").read_bytes() == first
    assert read(tmp_path / "predictions-2026-02-01.csv") == [row("B", "3")]
    assert record(tmp_path, [row("B", "3")], date(2026, 3, 1)) == (0, 0)
    with (tmp_path / "predictions.csv").open() as file:
        assert next(csv.reader(file)) == [
            "id",
            "predicted",
            "low",
            "high",
            "study",
            "cell",
            "digest",
        ]


def test_published_percentile_is_estimated(study, tmp_path):
    entry = '[[published]]\nid = "X"\ncell = { depth = 4 }\nmetric = "read.latency.p95"\n'
    assert tameshi("run", study(SMALL + entry), "--out", tmp_path / "out").returncode == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    reads = [
        {each["metric"]: each["value"] for each in cell["estimates"]}
        for cell in results["cells"]
        if cell["levels"]["read"] == "100 %"
    ]
    for of in reads:
        assert of["read.latency.p50"] <= of["read.latency.p95"] <= of["read.latency.p99"]
