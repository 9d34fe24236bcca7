"""Outcomes that an interval allows, and false positives."""

from __future__ import annotations

import math
import random

import made
import pytest

from tameshi.analysis.stats.intervals import Interval, around, quantile
from tameshi.compare import Options, compare, exit_status
from tameshi.compare.judge import chance, chosen, judged, with_firmness

BETTER = {
    "read.iops": "higher",
    "read.bandwidth": "higher",
    "read.latency.mean": "lower",
    "read.latency.p99": "lower",
    "read.latency.p999": "lower",
    "write.iops": "higher",
    "write.latency.mean": "lower",
    "sync.rate": "higher",
    "sync.latency.p99": "lower",
    "commit.rate": "higher",
    "commit.latency.p99": "lower",
    "load.other": "neither",
}


def interval(low: float | None, high: float | None) -> Interval:
    return Interval(low, high, 4, "by hand", 3.0)


@pytest.mark.parametrize(
    ("low", "high", "better", "outcome"),
    [
        (0.97, 1.03, "higher", ("same", "within")),
        (1.01, 1.04, "higher", ("same", "small")),
        (0.96, 0.99, "lower", ("same", "small")),
        (1.01, 1.20, "higher", ("better", "excludes_one")),
        (1.01, 1.20, "lower", ("worse", "excludes_one")),
        (0.80, 0.99, "higher", ("worse", "excludes_one")),
        (0.80, 0.99, "lower", ("better", "excludes_one")),
        (0.90, 1.03, "higher", ("undecided", "wide")),
        (0.99, 1.051, "higher", ("undecided", "wide")),
        (0.951, 1.0, "lower", ("undecided", "wide")),
        (None, None, "higher", ("undecided", "no_interval")),
    ],
)
def test_interval_decides_the_outcome(low, high, better, outcome) -> None:
    assert judged(1.0, interval(low, high), better, 0.05) == outcome


def test_exchanged_sides_reverse_the_outcome() -> None:
    turned = {"better": "worse", "worse": "better"}
    for low, high in [(1.01, 1.2), (0.953, 1.04), (0.9, 1.2), (0.7, 0.8)]:
        there, _ = judged(1.0, interval(low, high), "higher", 0.05)
        back, _ = judged(1.0, interval(1 / high, 1 / low), "higher", 0.05)
        assert back == turned.get(there, there)


def test_chance_is_5_percent_at_an_interval_ending_at_one() -> None:
    for degrees in (2.0, 5.0, 50.0):
        touching = around(1.2, math.log(1.2) / quantile(degrees), degrees, 0.0, 3, "t")
        assert touching.low == pytest.approx(1.0)
        assert chance(1.2, touching) == pytest.approx(0.05)
    assert chance(0.8, Interval(0.64, 1.0, 3, "MOVER")) == pytest.approx(0.05)
    assert chance(1.0, interval(0.9, 1.1)) == pytest.approx(1.0)
    assert chance(1.2, interval(None, None)) is None


def test_primary_metrics_are_the_natural_rate_mean_and_p99() -> None:
    def named(*metrics: str, size: int = 4096) -> list[str]:
        estimates = [
            {"subject": "s", "metric": m, "value": size * 9.0 if "band" in m else 9.0}
            for m in metrics
        ]
        return [e["metric"] for e in chosen(estimates, BETTER, every=False)]

    reads = [metric for metric in BETTER if metric.startswith("read")]
    assert named(*reads) == ["read.iops", "read.latency.mean", "read.latency.p99"]
    assert named(*reads, size=2**20)[0] == "read.bandwidth"
    rest = [metric for metric in BETTER if not metric.startswith("read")]
    assert named(*rest) == ["commit.rate", "commit.latency.p99"]
    estimates = [{"subject": "s", "metric": m, "value": 1.0} for m in BETTER]
    assert len(chosen(estimates, BETTER, every=True)) == len(BETTER) - 1


def test_chance_alone_is_rarely_a_difference() -> None:
    """Without a difference, about 1 interval in 20 excludes 1, and Holm leaves almost none."""
    draw = random.Random(7)

    def drawn() -> list[float]:
        return [1000 * draw.lognormvariate(0, 0.3) for _ in range(4)]

    judgements = [
        j
        for _ in range(400)
        for j in compare(made.side(drawn()), made.side(drawn())).judgements[:1]
    ]
    differ = [j for j in judgements if j.outcome in ("better", "worse")]
    assert 0.02 < len(differ) / len(judgements) < 0.08
    assert sum(j.firm for j in with_firmness(judgements)) <= 1


def test_true_difference_survives_correction() -> None:
    slower = [0.8 * rate for rate in made.RATES]
    comparison = compare(made.side(), made.side(slower))
    assert [(j.metric, j.outcome, j.firm) for j in comparison.judgements] == [
        ("read.iops", "worse", True),
        ("read.latency.mean", "worse", True),
        ("read.latency.p99", "worse", True),
    ]
    assert comparison.judgements[0].ratio == pytest.approx(0.8)
    assert exit_status(comparison, "worse") == 1
    assert exit_status(comparison, "never") == 0
    assert exit_status(compare(made.side(slower), made.side()), "worse") == 0


def test_single_run_of_a_real_machine_is_never_certain() -> None:
    a, b = made.side((1000.0,)), made.side((500.0,))
    for result, low, high in ((a, 990.0, 1010.0), (b, 495.0, 505.0)):
        for estimate in result.results["cells"][0]["estimates"]:
            factor = estimate["value"] / (1000.0 if result is a else 500.0)
            estimate["sampling"] |= {"low": low * factor, "high": high * factor, "degrees": 6.0}
    comparison = compare(a, b)
    assert {(j.outcome, j.lone, j.firm) for j in comparison.judgements} == {("worse", True, False)}
    assert comparison.as_json()["chance"]["lone"] == 3
    assert exit_status(comparison, "worse") == 0


def test_invalid_cell_is_not_judged_and_opens_no_gate() -> None:
    comparison = compare(made.side(), made.side(level="invalid"))
    assert {(j.outcome, j.why) for j in comparison.judgements} == {("not_judged", "invalid")}
    assert exit_status(comparison, "worse") == 3
    assert exit_status(comparison, "never") == 0


def test_equal_digests_are_the_same_despite_intervals() -> None:
    wild = (100.0, 900.0, 300.0, 5000.0)
    kept = made.simulated(), made.SIMULATED_ENVIRONMENT
    comparison = compare(
        made.side(wild, *kept, digest="d"), made.side(wild, *kept, digest="d"), Options(every=True)
    )
    assert {(j.outcome, j.why, j.chance) for j in comparison.judgements} == {
        ("same", "identical", None)
    }
    assert len(comparison.judgements) == 5


def test_shared_seeds_of_one_model_cancel_sampling() -> None:
    """A core that is 1 % slower: certain by pairs, invisible without them."""
    wild = (100.0, 900.0, 300.0, 5000.0)
    slower = [0.9 * rate for rate in wild]
    environment = made.SIMULATED_ENVIRONMENT
    paired = compare(
        made.side(wild, made.simulated(), environment),
        made.side(slower, made.simulated(), environment | {"core": "d" * 64}),
    )
    assert {j.outcome for j in paired.judgements} == {"worse"}
    alone = compare(
        made.side(wild, made.simulated(), environment),
        made.side(slower, made.simulated(seed=9), environment),
    )
    assert {j.outcome for j in alone.judgements} == {"undecided"}
