"""Round 2's figures are each stated once, by drives and formulas with known answers."""

import csv
import tomllib

import pytest
from validation import LISTS
from validation.round2 import ROUND2, intervals, naive, naive_studies, profiles
from validation.round2.__main__ import figures_of, lists, needed, other, read_studies

from tameshi.study.file import plan

STUDIES = {study.name: study for study in read_studies()}


def test_every_figure_is_stated_once_or_has_a_reason():
    asked = []
    for name in ("round2-to-predict.csv", "round2-calibration.csv"):
        with (LISTS / name).open(newline="", encoding="utf-8") as file:
            asked += [row["id"] for row in csv.DictReader(file)]
    stated = [figure.id for study in STUDIES.values() for figure in figures_of(study)]
    groups = tomllib.loads((ROUND2 / "unstated.toml").read_text(encoding="utf-8")).values()
    unstated = [figure for group in groups for figure in group["figures"]]
    assert all(group["reason"] for group in groups)
    assert sorted([*stated, *unstated]) == sorted(asked)


@pytest.mark.parametrize("name", STUDIES)
def test_study_runs_only_the_cells_of_its_figures(name):
    study = STUDIES[name]
    whole = plan(study, "simulated", quick=False)
    some = plan(study, "simulated", quick=False, cells=list(needed(whole, figures_of(study))))
    assert not whole.refusals
    assert 0 < len(some.runs) <= len(whole.runs)
    cells = [run.cell for run in some.runs]
    axes = set(cells[0])
    for figure in whole.study.published:
        for levels in (figure.cell, {**figure.cell, **other(figure)}):
            own = {axis: str(getattr(of, "root", of)) for axis, of in levels.items()}
            own = {axis: level for axis, level in own.items() if axis in axes}
            assert any(own.items() <= cell.items() for cell in cells)


def test_sequential_and_steady_writes_give_the_spare():
    """1500 MB/s and 70 000 writes of 4 KiB: 5.2 bytes programmed per byte, so 10.6 % of spare."""
    drive = tomllib.loads(profiles.text("devices", "samsung-pm9a3-960g"))["device"]["flash"]
    assert drive["over_provisioning"]["value"] == "10.6 %"
    times = [float(time.split()[0]) for time in drive["nand"]["program_time"]["value"]]
    dies = 15 * drive["controller"]["dies_per_channel"]["value"]
    programmed = dies * 4 * 16384 / (sum(times) / 3 * 1e-6)
    assert programmed == pytest.approx(1500e6, rel=0.01)


def test_sheet_of_a_disk_sets_its_mechanics():
    disk = tomllib.loads(profiles.text("devices", "wd-re4-gp-2t"))["device"]["hdd"]
    assert disk["revolution"]["value"] == "11111111 ns"
    assert disk["write_cache"]["value"] == "64 MiB"


def test_mix_of_a_deep_queue_is_harmonic():
    array = naive.Array("intel-s4510-960g")
    assert array.load(0.5, 10_000) == pytest.approx(2 / (1 / 95000 + 1 / 36000))
    assert array.load(1.0, 1) == pytest.approx(1 / naive.READ_S["sata"])


def test_mirror_reads_twice_and_writes_once():
    mirror = naive.Array("samsung-pm9a3-960g", 2, 2)
    assert mirror.rates() == (2 * 580_000, 70_000)


def test_pool_as_large_as_the_data_reads_nothing():
    _, reads, _ = naive.database(naive.Array("intel-s4510-960g"), 100, 100, 56, 80)
    assert reads == 0


def test_gain_of_nothing_changes_is_zero():
    (figure,) = (f for f in figures_of(STUDIES["tpcc-mysql-pools"]) if f.id == "R01-388")
    cell = {"drive": "pm1725", "pool": "5"}
    nothing, sheet, _ = naive_studies.row(
        "tpcc-mysql-pools", figure, cell, {"drive": "sm863"}, 0.01
    )
    assert nothing == 0
    assert sheet == pytest.approx(100 * (201416 / 31128 - 1), rel=1e-3)


def test_interval_of_a_gain_is_of_the_ratio():
    found = intervals.gain(100)
    assert (1 + found["low"] / 100) * (1 + found["high"] / 100) == pytest.approx(4)


def test_interval_of_a_value_is_the_reports_or_its_class():
    figure = {
        "cell": {"depth": "1"},
        "phase": "run",
        "metric": "all.iops",
        "subject": None,
        "derived": None,
        "window": None,
        "predicted": 3.0,
    }
    reads = {"metric": "read.iops", "window": "run", "subject": "s", "value": 2000.0}
    cell = {"levels": {"depth": "1", "drive": "a"}, "phase": "run"}
    own = {**cell, "estimates": [{**reads, "model": {"low": 1000.0, "high": 4000.0}}]}
    assert (found := intervals.with_interval(figure, [own])) and found["low"] == 1.5
    assert found["high"] == 6.0
    other = intervals.with_interval(figure, [{**cell, "estimates": [reads]}])
    assert other["low"] * other["high"] == pytest.approx(9) and other["high"] > 6


def test_lists_have_values_for_calibration_only():
    known = lists()
    assert known["R01-001"].value == 7816
    assert known["R01-029"].value is None
