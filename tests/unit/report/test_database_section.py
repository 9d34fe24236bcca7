"""First sentence and data checks of a report of databases."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tameshi.report.sections.answer import answers
from tameshi.report.sections.database import _check_lines, _ledger, _simulated
from tameshi.report.study import markdown, terminal_summary
from tameshi.report.view.inputs import ReportInputs
from tameshi.report.view.points import read_results
from tameshi.report.words.text import Text

RATES = {"disk": {"small": 10.0, "large": 40.0}, "flash": {"small": 80.0, "large": 80.0}}


def estimate(subject: str, metric: str, value: float) -> dict[str, Any]:
    sampling = {"low": None, "high": None, "runs": 1}
    return {"subject": subject, "metric": metric, "value": value, "sampling": sampling}


def matrix(sizes: tuple[str, ...]) -> dict[str, Any]:
    """Return storage by pool by size; twice the size halves the transactions."""
    axes = {"storage": ("disk", "flash"), "buffer_pool": ("small", "large"), "size": sizes}
    cells = []
    for storage, pool, size in product(*axes.values()):
        rate = RATES[storage][pool] / float(size)
        result = [
            estimate("tpcc", "transaction.rate", rate),
            estimate("tpcc.new_order", "transaction.rate", rate / 2),
            estimate("tpcc", "transaction.latency.p50", 1e9 / rate),
        ]
        levels = {"storage": storage, "buffer_pool": pool, "size": size}
        cells.append({"world": "measured", "phase": "run", "levels": levels, "estimates": result})
    named = [{"name": n, "varies": "across", "levels": list(lv)} for n, lv in axes.items()]
    return {"study": {"name": "s"}, "axes": named, "cells": cells}


def test_study_of_databases_starts_with_effects_of_axes() -> None:
    first = terminal_summary(ReportInputs(matrix(("1", "2", "4"))))[0]
    assert first == (
        "Effect of each change — Measured: Storage flash yields 4.00 × the transactions of disk "
        "(2.00 × to 8.00 ×, depending on the other axes); buffer pool large yields 2.00 × the "
        "transactions of small (1.00 × to 4.00 ×, depending on the "
        "other axes); size 4 yields 0.250 × "
        "the transactions of 1."
    )


def test_scans_are_reported_by_time() -> None:
    cells = [
        {
            "world": "measured",
            "phase": "scan",
            "levels": {"storage": storage},
            "estimates": [
                estimate("scan", "transaction.rate", 1 / 45),
                estimate("scan", "transaction.latency.mean", seconds * 1e9),
            ],
        }
        for storage, seconds in (("sata", 40.0), ("pcie", 30.0))
    ]
    axes = [{"name": "storage", "varies": "across", "levels": ["sata", "pcie"]}]
    first = terminal_summary(ReportInputs({"study": {"name": "s"}, "axes": axes, "cells": cells}))[
        0
    ]
    assert first == (
        "Effect of each change — Measured: Storage PCI Express takes 30.0 s, 0.750 × the 40.0 s "
        "of SATA."
    )


def modelled(results: dict[str, Any], factor: float = 2.0) -> dict[str, Any]:
    """Return the same from a model with a factor as its error."""
    for cell in results["cells"]:
        cell |= {"world": "simulated", "database": []}
        for result in cell["estimates"]:
            value = result["value"]
            bounds = {"low": value / factor, "high": value * factor}
            result["model"] = {**bounds, "validated_on": "x", "inside_range": False}
    return results


def test_every_figure_and_ratio_has_its_model_error() -> None:
    result = modelled(matrix(("1", "2")))
    words = terminal_summary(ReportInputs(result))
    # Errors of several cells vary, so a ratio has the same error factor.
    assert "(2.00 × to 8.00 ×, depending on the other axes; model 2.00–8.00)" in words[0]
    assert any("flash · small · TPC-C 80.0 (model 40.0–160.0)" in line for line in words)
    plain = markdown(ReportInputs(result))
    rates = r"80.0 (8.00 ×) \[40.0–160.0\]!", r"12.5 ms \[6.2–25.0\]!"
    assert all(shown in plain for shown in rates)
    measured = markdown(ReportInputs(matrix(("1", "2"))))
    assert "model " not in " ".join(terminal_summary(ReportInputs(matrix(("1",)))))
    assert Text()("note.modelled") in plain and Text()("note.modelled") not in measured


@pytest.mark.parametrize("sizes", [("1", "2", "4"), ("1",)])
def test_rates_are_transactions_of_whole_programs(
    sizes: tuple[str, ...],
) -> None:
    words = " ".join(terminal_summary(ReportInputs(matrix(sizes))))
    assert "80.0 transactions per second" in words or "10.0 transactions per second" in words
    assert "IOPS" not in words and "new order" not in words


def test_lone_program_is_called_by_its_name() -> None:
    cells = [
        {"world": "measured", "phase": "run", "levels": {"threads": n}, "estimates": [result]}
        for n, result in (
            ("2", estimate("oltp", "transaction.rate", 100.0)),
            ("8", estimate("oltp", "transaction.rate", 300.0)),
        )
    ]
    axes = [{"name": "threads", "varies": "within", "levels": ["2", "8"]}]
    view = read_results({"study": {"name": "s"}, "axes": axes, "cells": cells})
    lines = [clause.sentence for line in answers(view, Text()) for clause in line.clauses]
    assert lines[0] == "Threads 8 makes 300 transactions per second, 3.00 × the 100 of 2."
    assert lines[1].startswith("Oltp reaches 300 transactions per second")


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_ledger_omits_unchecked_counts(lang: str) -> None:
    simulated = {"acknowledged": 4000, "lost": 3, "ambiguous": 2}
    measured = simulated | {"twice": 0, "phantom": 1}
    text = Text(lang)
    assert _ledger(text, measured).count("0") > _ledger(text, simulated).count("0")
    assert "4,000" in _ledger(text, simulated) and "3" in _ledger(text, simulated)


@pytest.mark.parametrize(
    ("lang", "on"), [("en", ("not validated", "validated on own")), ("ja", ("未検証", "own"))]
)
def test_times_of_a_crash_have_their_model_error(lang: str, on: tuple[str, str]) -> None:
    for names, words in zip(("nothing", "own"), on, strict=True):
        away = {"low": 1.5e9, "high": 24e9, "validated_on": names, "inside_range": False}
        event = {"kind": "crash", "event": "killed", "how": "kill", "repetition": 0}
        event |= {"t_ns": 1e9, "away_ns": 6e9, "recovery_ns": 2e9, "model": {"away_ns": away}}
        (said,) = _check_lines(Text(lang), [event])
        assert "6.00 s" in said and "1.50–24.00 s" in said and said.endswith(words)


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("before the server answered", "answered again after 0.50 s")),
        ("ja", ("応答再開前", "後に応答再開")),
    ],
)
def test_end_before_the_server_answers_is_no_return(lang: str, words: tuple[str, str]) -> None:
    cut = {"kind": "crash", "event": "cut", "how": "power_cut", "repetition": 0, "log_bytes": 0}
    cut |= {"t_ns": 5e9, "away_ns": 0.5e9, "recovery_ns": 0.49e9, "pages": 0}
    (short,) = _check_lines(Text(lang), [cut | {"back": False}])
    (back,) = _check_lines(Text(lang), [cut | {"back": True}])
    assert words[0] in short and words[1] not in short and "5.00 s" in short and "0.50 s" in short
    assert words[1] in back and words[0] not in back


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_sentence_of_several_runs_appears_once_with_their_numbers(lang: str) -> None:
    complete = {"kind": "simulated", "mode": "fast", "simulated_ns": 9e9, "whole_ns": 9e9}
    part = complete | {"simulated_ns": 3e9, "like_last_ns": 1e9, "pace": 1.0}
    events = [complete | {"repetition": 0}, part | {"repetition": 1}, complete | {"repetition": 2}]
    words = list(_check_lines(Text(lang), events))
    assert len(words) == 2 and "1, 3" in words[0] and "2" in words[1]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_extrapolation_with_trend_states_its_pace(lang: str) -> None:
    text = Text(lang)
    event = {"mode": "fast", "simulated_ns": 708e9, "whole_ns": 5400e9, "like_last_ns": 192e9}
    slowing, level = (_simulated(text, event | {"pace": pace}) for pace in (0.9502, 1.0002))
    assert "95.0%" in slowing
    assert "%" not in level
    for shown in (slowing, level):
        assert all(time in shown for time in ("708 s", "5,400 s", "192 s"))
