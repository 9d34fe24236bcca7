"""results.json as a function of the records: estimates, ratios, flags and their reasons."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from tameshi.analysis.results import results
from tameshi.analysis.series import Stretch, sampled
from tameshi.analysis.stats.ratios import PAIRED, WELCH
from tameshi.core.reasons import reason
from tameshi.core.spec_types import StreamSpec, World
from tameshi.report.words.reason_words import METHODS

SECOND = 10**9
STUDY = SimpleNamespace(
    unknown=None,
    name="s",
    title="S",
    question="?",
    answer=None,
    japanese=None,
    axes=[],
    windows=None,
    published=None,
    method=None,
    search=None,
    quick=False,
)


@dataclass(frozen=True)
class Run:
    """Sealed run as statistics read it: `rates` per phase are operations in each second."""

    folder: Path
    spec: Any
    outcome: dict[str, Any]
    rates: list[list[float]]
    tails: list[float]
    environment: dict[str, Any] = field(default_factory=dict)

    def series(self) -> pl.DataFrame:
        rows = []
        for phase, rates in enumerate(self.rates):
            for place, rate in enumerate(rates):
                end = (phase * 100 + place + 1) * SECOND
                for metric, value in (
                    ("read.count", rate),
                    ("read.bytes", 4096 * rate),
                    ("read.latency_sum", 8e9),
                ):
                    rows.append(("load", end, SECOND, "reader", metric, value))
        columns = ["source", "t_ns", "dt_ns", "subject", "metric", "value"]
        return pl.DataFrame(rows, schema=columns, orient="row")

    def events(self) -> list[dict[str, Any]]:
        return []

    def latencies(self) -> dict[str, Any]:
        return {
            f"{phase}/steady/reader/read": {
                "count": 30_000,
                "max": 9 * tail,
                "standard_deviation": tail / 2,
                "quantiles": [[0.5, tail / 3], [0.99, tail], [0.999, 2 * tail]],
            }
            for phase, tail in enumerate(self.tails)
        }


def run(
    repetition: int,
    rates: list[list[float]],
    world: World = World.measured,
    cell: dict[str, str] | None = None,
) -> Run:
    """Return a complete run with a phase per list of rates: `alone`, then `beside`."""
    names = ("alone", "with")[: len(rates)]
    streams = [SimpleNamespace(name="reader", storage="disk", stream=StreamSpec())]
    windows = [
        {
            "name": name,
            "phase": phase,
            "phase_begin_ns": phase * 100 * SECOND,
            "begin_ns": phase * 100 * SECOND,
            "end_ns": (phase * 100 + len(rates[phase])) * SECOND,
            "spans": [[phase * 100 * SECOND, (phase * 100 + len(rates[phase])) * SECOND]],
            "visits": [[phase * 100 * SECOND, (phase * 100 + len(rates[phase])) * SECOND]],
            "rounds": None,
        }
        for phase, name in enumerate(names)
    ]
    phases = [
        SimpleNamespace(name=name, levels={}, streams=streams, programs=None) for name in names
    ]
    storage = {"disk": SimpleNamespace(scale=None, model=None)}
    spec = SimpleNamespace(
        world=world,
        unknown=None,
        cell=cell or {},
        repetition=repetition,
        phases=phases,
        storage=storage,
        host=None,
        engines=None,
        database=None,
    )
    verdict = {"level": "valid", "reasons": []}
    outcome = {"status": "complete", "windows": windows, "verdict": verdict}
    folder = Path(f"{world.value}-{cell}-{repetition}")
    tails = [1e6 * 100 / rate[0] for rate in rates]
    return Run(folder, spec, outcome, rates, tails)


def steady(level: float, count: int = 30) -> list[float]:
    return [level * (1 + 0.01 * math.sin(2.3 * place)) for place in range(count)]


def found_in(runs: list[Run], axes: tuple[Any, ...] = ()) -> dict[str, Any]:
    data = results(SimpleNamespace(**{**vars(STUDY), "axes": axes}), runs)
    return json.loads(json.dumps(data, allow_nan=False))


def ratio(found: dict[str, Any], metric: str, **numerator: Any) -> dict[str, Any]:
    (entry,) = (
        r
        for r in found["ratios"]
        if r["metric"] == metric and numerator.items() <= r["numerator"].items()
    )
    return entry


def test_every_number_has_an_interval_or_a_reason() -> None:
    for runs in (1, 2, 3):
        result = found_in([run(n, [steady(100 + n), steady(50 + n)]) for n in range(runs)])
        numbers = [e for cell in result["cells"] for e in cell["estimates"]] + result["ratios"]
        assert len(numbers) > 10
        for entry in numbers:
            sampling = entry["sampling"]
            bare = sampling["method"] not in METHODS
            assert (sampling["low"] is None) == (sampling["high"] is None) == bare
            assert bare or sampling["low"] <= entry["value"] <= sampling["high"]
        assert all(e["model"] is None for cell in result["cells"] for e in cell["estimates"])


def test_estimates_keep_each_runs_own_value() -> None:
    (cell,) = found_in([run(n, [[100.0 * 4**n] * 20]) for n in range(2)])["cells"]
    iops = next(e for e in cell["estimates"] if e["metric"] == "read.iops")
    assert iops["by_repetition"] == {"0": 100.0, "1": 400.0}
    assert iops["value"] == pytest.approx(200.0)


def test_partial_run_counts_only_without_a_complete_one() -> None:
    complete, cut = run(0, [steady(100)]), run(1, [steady(400)])
    cut.outcome["status"] = "partial"
    (cell,) = found_in([complete, cut])["cells"]
    assert cell["runs"] == {"complete": 1, "partial": 1, "failed": 0}
    assert {tuple(e["by_repetition"]) for e in cell["estimates"]} == {("0",)}
    (cell,) = found_in([cut])["cells"]
    assert {tuple(e["by_repetition"]) for e in cell["estimates"]} == {("1",)}


def test_failed_repetition_leaves_the_numbers_of_the_others() -> None:
    failed = run(1, [steady(400)])
    failed.outcome["status"] = "failed"
    runs = [run(0, [[100.0] * 20]), failed, run(2, [[400.0] * 20])]
    (cell,) = found_in(runs)["cells"]
    iops = next(e for e in cell["estimates"] if e["metric"] == "read.iops")
    assert iops["by_repetition"] == {"0": 100.0, "2": 400.0}


def test_phases_of_a_stream_are_paired_by_repetition() -> None:
    noisy = (1.0, 1.3, 0.8)
    result = found_in([run(n, [steady(100 * f), steady(50 * f)]) for n, f in enumerate(noisy)])
    entry = ratio(result, "read.iops", phase="with")
    assert entry["phase"] == "with"
    assert entry["denominator"] == {"world": "measured", "phase": "alone", "levels": {}}
    assert entry["value"] == pytest.approx(0.5)
    assert entry["sampling"]["method"] == PAIRED
    assert entry["sampling"]["high"] - entry["sampling"]["low"] < 1e-6
    tail = ratio(result, "read.latency.p99", phase="with")["sampling"]
    assert tail["high"] / tail["low"] == pytest.approx(math.exp(0.002), abs=1e-4)


def test_levels_compare_with_the_first_and_worlds_unpaired() -> None:
    axis = SimpleNamespace(
        name="pool", varies=SimpleNamespace(value="across"), levels=["small", "large"]
    )
    runs = [
        run(n, [steady(rate * (1 + 0.02 * n))], world, {"pool": pool})
        for world, factor in ((World.measured, 1.0), (World.simulated, 0.5))
        for pool, rate in (("small", 100 * factor), ("large", 300 * factor))
        for n in range(3)
    ]
    result = found_in(runs, (axis,))
    within = [r for r in result["ratios"] if r["metric"] == "read.iops"]
    by_sides = {
        (r["numerator"]["world"], *r["numerator"]["levels"].values(), r["denominator"]["world"]): r
        for r in within
    }
    assert {key: pytest.approx(r["value"]) for key, r in by_sides.items()} == {
        ("measured", "large", "measured"): 3.0,
        ("simulated", "large", "simulated"): 3.0,
        ("simulated", "small", "measured"): 0.5,
        ("simulated", "large", "measured"): 0.5,
    }
    assert by_sides["simulated", "small", "measured"]["sampling"]["method"] == WELCH
    assert by_sides["measured", "large", "measured"]["sampling"]["method"] == PAIRED
    assert all("phase" not in r["numerator"] for r in within)


def test_drift_makes_a_warning_and_leaves_every_run_in() -> None:
    falling = [100.0 - place for place in range(30)]
    result = found_in([run(0, [steady(100)]), run(1, [falling])])
    (cell,) = result["cells"]
    assert cell["verdict"]["level"] == result["verdict"]["level"] == "warning"
    assert reason("drift_within", "reader", operation="read") in cell["verdict"]["reasons"]
    flag = next(f for f in cell["flags"] if f["metric"] == "read.iops")
    assert (flag["code"], flag["repetition"]) == ("drift_within", 1)
    assert flag["change"] == pytest.approx(-0.34, abs=0.02)
    assert cell["runs"]["complete"] == 2
    assert cell["estimates"][0]["sampling"]["runs"] == 2


def test_order_of_repetitions_matters_in_real_time() -> None:
    for world, level in ((World.measured, "warning"), (World.simulated, "valid")):
        runs = [run(n, [steady(100 * 1.04**n)], world) for n in range(6)]
        assert found_in(runs)["verdict"]["level"] == level


def test_outlier_is_named_and_stays_in() -> None:
    levels = (100, 101, 99, 100.5, 99.5, 150)
    (cell,) = found_in([run(n, [steady(v)]) for n, v in enumerate(levels)])["cells"]
    flags = [(f["code"], f["repetition"]) for f in cell["flags"] if f["metric"] == "read.iops"]
    assert flags == [("outlier", 5)]
    assert cell["estimates"][0]["sampling"]["runs"] == 6


def test_steady_runs_are_valid_and_have_no_flags() -> None:
    result = found_in([run(n, [steady(100 + n % 2)]) for n in range(6)])
    assert result["verdict"] == {"level": "valid", "reasons": []}
    assert result["cells"][0]["flags"] == []


def test_short_runs_give_a_reason_for_missing_intervals() -> None:
    (cell,) = found_in([run(0, [steady(100, 8)])])["cells"]
    reasons = {e["metric"]: e["sampling"]["method"] for e in cell["estimates"]}
    assert reasons["read.iops"] == "few_intervals"
    assert reasons["read.latency.p99"] == "one_percentile"


def test_server_counts_exclude_the_next_phase() -> None:
    """The third sample begins in a phase of scans and ends among another phase's statements."""
    times, counts = [500, 750, 1000], [10, 12, 900]
    looks = pl.DataFrame(
        {
            "t_ns": times,
            "dt_ns": [250] * 3,
            "subject": ["server"] * 3,
            "metric": ["server.statements"] * 3,
            "value": counts,
        }
    )
    scans = Stretch("scan", [(250, 900)], steady=True)
    result = sampled(looks, 1, "server", scans, wholly=True)
    assert (result.length_ns, result.counters) == (500, {"server.statements": [10, 12]})
    cut = sampled(looks, 1, "server", scans)
    assert cut.counters == {"server.statements": counts}, "its middle is in the phase"
