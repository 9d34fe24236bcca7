"""Known figures correct predictions of the same host, storage and work, and no others."""

import math

import pytest
from validation.predictions import Prediction
from validation.round2.corrected import Evidence, correct
from validation.round2.places import Place, PlacedFigure, placed_figures
from validation.round2.residuals import START, Known, Residuals

from tameshi.study.file import StudyFile

RATE, GAIN, LATENCY = "R01-029", "R01-454", "R01-033"
"""Ids that the list states in IOPS, per cent and us."""


def place(pool: float = 1.0, host: str = "host") -> Place:
    return Place("database", host, "drive", "tpcc", "rate", (math.log2(pool), 5.0))


def known(off: float = math.log(1.4), host: str = "host") -> Residuals:
    """Known figures at eight pools, ours `off` above each."""
    figures = [
        PlacedFigure(f"known-{pool}", "study", 1, place(pool / 8, host), None)
        for pool in range(1, 9)
    ]
    return Residuals([Known(figure, off) for figure in figures], START["database"])


def prediction(figure: PlacedFigure, predicted: float, residuals: Residuals) -> Prediction:
    found = Evidence({figure.id: figure}, {"database": residuals})
    row = Prediction(figure.id, f"{predicted}", "1", "9999", "study", "", "")
    (made,) = correct([row], found)
    return made


def test_rate_is_divided_by_what_known_rates_are_off():
    made = prediction(PlacedFigure(RATE, "study", 1, place(0.6), None), 1400, known())
    assert float(made.predicted) == pytest.approx(1000, rel=0.05)
    assert 700 < float(made.low) < 1000 < float(made.high) < 1500


def test_latency_is_multiplied_where_rates_are_too_high():
    made = prediction(PlacedFigure(LATENCY, "study", -1, place(0.6), None), 100, known())
    assert float(made.predicted) == pytest.approx(140, rel=0.05)


def test_gain_of_two_pools_stays_where_both_are_off_alike():
    gain = PlacedFigure(GAIN, "study", 1, place(0.9), place(0.3))
    made = prediction(gain, 50, known())
    assert float(made.predicted) == pytest.approx(50, abs=3)
    assert 20 < float(made.low) < 50 < float(made.high) < 90


def test_figure_of_another_host_stays_as_simulated():
    made = prediction(PlacedFigure(RATE, "study", 1, place(0.6), None), 1400, known(host="other"))
    assert (made.predicted, made.low, made.high) == ("1400", "1", "9999")


def test_figure_far_from_known_loads_has_a_wider_interval():
    figures = [PlacedFigure(RATE, "study", 1, place(pool), None) for pool in (0.6, 60)]
    _, deviations = known().of(figures)
    assert deviations[1] > 1.2 * deviations[0]


def test_place_of_a_figure_is_that_of_its_run(tmp_path):
    text = """
title = "x"
question = "x"
[[published]]
id = "R01-029"
cell = { clients = "16", pool = "2" }
subject = "tpcc"
metric = "transaction.rate"
[axis.clients]
8 = { workload.tpcc.clients = 8 }
16 = { workload.tpcc.clients = 16 }
[axis.pool]
1 = { engine.mysql.buffer_pool = "500 MB" }
2 = { engine.mysql.buffer_pool = "1 GB" }
[storage.data]
device = "sata-ssd-480gb"
size = "20 GB"
[host]
profile = "2x-xeon-e5620-rhel5"
[engine.mysql]
version = "8.0"
[workload.tpcc]
warehouses = 20
clients = 8
[phase.run]
workload = ["tpcc"]
until = { time = "5 s" }
"""
    (found,) = placed_figures(StudyFile("a-study", tmp_path / "a-study.toml", text))
    assert found.place.surroundings == ("database", "a-study", "sata-ssd-480gb", "tpcc", "rate")
    assert found.place.load == (math.log2(1e9 / (20 * 88_200_000)), 4.0)
