"""Coverage of intervals, and detection of wrong ones."""

from __future__ import annotations

import math
import re
from statistics import fmean, stdev

import covering
import pytest
from covering import Case, observed

from tameshi.analysis.stats import intervals
from tameshi.analysis.stats.intervals import Interval

TRIALS = 1000
NOMINAL = (92.5, 97.5)
"""Of 1000 intervals that cover 95 %, fewer than one in a thousand times more miss by chance."""
CASES = {case.name: case for case in covering.cases()}
HEADING = "## Observed coverage"


def share(name: str, trials: int = TRIALS) -> float:
    return observed(CASES[name], trials)[0]


@pytest.mark.parametrize(
    "name",
    [
        "runs/normal, varying by 5 %/3 runs",
        "runs/normal, varying by 5 %/5 runs",
        "runs/normal, varying by 5 %/10 runs",
        "runs/by a factor (log-normal, 0.5)/2 runs",
        "runs/by a factor (log-normal, 0.5)/3 runs",
        "runs/by a factor (log-normal, 0.5)/10 runs",
        "within/rate, ρ = 0/25",
        "within/rate, ρ = 0.3/50",
        "within/rate, ρ = 0.6/100",
        "within/rate, ρ = 0.8/200",
        "within/mean latency, ρ = 0.6/100",
        "ratios/paired, repetitions share most/3 runs",
        "ratios/paired, repetitions share nothing/5 runs",
        "ratios/not paired, varying alike/5 runs",
        "ratios/not paired, one varying four times as much/5 runs",
        "ratios of single runs/rates, ρ = 0.6/100",
    ],
)
def test_intervals_cover_as_often_as_they_claim(name: str) -> None:
    assert NOMINAL[0] <= share(name) <= NOMINAL[1]


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("within/rate, ρ = 0.6/25", 90.0),
        ("within/rate, ρ = 0.6/50", 90.0),
        ("within/rate, ρ = 0.8/50", 90.0),
        ("within/rate, skewed, ρ = 0.6/50", 90.0),
        ("within/rate, a period of ten/100", 92.5),
        ("within/median, ρ = 0.6/100", 90.0),
        ("within/p99, ρ = 0.6/100", 90.0),
    ],
)
def test_intervals_within_a_run_survive_correlation(name: str, least: float) -> None:
    assert share(name, 500) >= least


def normal_instead_of_student(values: list[float], resolution: float = 0.0) -> Interval:
    half = 1.96 * stdev(values) / math.sqrt(len(values))
    return Interval(fmean(values) - half, fmean(values) + half, len(values), "wrong")


def blind_to_correlation(residuals: list[float]) -> tuple[float, float]:
    return stdev(residuals) * math.sqrt(len(residuals)), len(residuals) - 1.0


@pytest.mark.parametrize(
    ("name", "part", "wrong"),
    [
        ("runs/normal, varying by 5 %/3 runs", "of_runs", normal_instead_of_student),
        ("within/rate, ρ = 0.3/50", "error_of_sum", blind_to_correlation),
        ("within/rate, ρ = 0.6/100", "error_of_sum", blind_to_correlation),
    ],
)
def test_wrong_interval_is_detected(monkeypatch, name, part, wrong) -> None:
    monkeypatch.setattr(intervals, part, wrong)
    assert share(name) < NOMINAL[0]


def table_cells(text: str) -> dict[str, str]:
    """Yield `table/row/column` with the content of every Markdown table."""
    cells, head = {}, []
    for line in text.splitlines():
        parts = [part.strip() for part in line.strip("|").split("|")]
        if not line.startswith("|"):
            head = []
        elif not head:
            head = parts
        elif not set(line) <= set("|-"):
            rows = zip(head[1:], parts[1:], strict=True)
            cells |= {f"{head[0]}/{parts[0]}/{column}": value for column, value in rows}
    return cells


def test_page_has_every_case_and_no_other(root) -> None:
    page = root / "docs" / "validation" / "coverage.md"
    text = page.read_text(encoding="utf-8").partition(HEADING)[2]
    assert table_cells(text).keys() == CASES.keys()


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_page_states_the_observed_coverage(root) -> None:
    """The whole grid anew: within one in a hundred of what the page says."""
    page = root / "docs" / "validation" / "coverage.md"
    text = page.read_text(encoding="utf-8").partition(HEADING)[2]
    for name, shown in table_cells(text).items():
        numbers = [float(number) for number in re.findall(r"[\d.]+", shown)]
        result, given = observed(CASES[name], 5000)
        if given >= 1:
            assert abs(result - numbers[0]) < (1.5 if given > 99 else 4.0), name


def test_cases_are_the_same_on_every_call() -> None:
    case: Case = CASES["within/rate, ρ = 0.6/25"]
    assert observed(case, 20) == observed(case, 20)
