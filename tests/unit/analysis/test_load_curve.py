"""Search for the highest rate under a limit, on queues with known answers."""

import math
import random

import pytest

from tameshi.analysis.stats.load_curve import Probe, Search, answer, bracket, knee, next_rates

SERVICE_NS = 100_000.0
MAXIMUM = 1e9 / SERVICE_NS
SHARES = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


def md1(rate: float) -> float:
    """Return the mean response time of an M/D/1 queue: service plus half an M/M/1 queue's wait."""
    load = rate * SERVICE_NS / 1e9
    return SERVICE_NS * (1 + load / (2 * (1 - load))) if load < 1 else math.inf


def load_at(limit_ns: float) -> float:
    """Return the rate at which an M/D/1 queue's mean response time equals the limit."""
    wait = 2 * (limit_ns / SERVICE_NS - 1)
    return wait / (1 + wait) * MAXIMUM


def run(search: Search, noise: float, seed: int = 1) -> list[Probe]:
    """Return all runs of a search on the queue, with relative errors of `noise` and matching
    intervals."""
    chance = random.Random(seed)
    probes: list[Probe] = []
    while rates := next_rates(search, MAXIMUM, probes):
        for rate in rates:
            value = md1(min(rate, 0.9999 * MAXIMUM)) * math.exp(noise * chance.gauss(0, 1))
            low, high = value * math.exp(-1.96 * noise), value * math.exp(1.96 * noise)
            probes.append(Probe(rate, value, low, high))
        assert len(probes) < 200
    return probes


@pytest.mark.parametrize("limit", [1.2, 1.5, 2.0, 4.0])
def test_bisection_converges_to_the_analytic_maximum(limit):
    search = Search(SHARES, limit * SERVICE_NS, 0.01, 20)
    result = answer(search, MAXIMUM, run(search, noise=1e-6))
    truth = load_at(limit * SERVICE_NS)
    assert result["low"] <= truth <= result["high"]
    assert result["high"] - result["low"] <= 0.01 * result["high"]
    assert result["value"] == pytest.approx(truth, rel=0.01)
    assert result["confidence"] == 0.95


def test_bracket_holds_the_truth_as_often_as_it_claims():
    search = Search(SHARES, 1.5 * SERVICE_NS, 0.01, 16)
    truth = load_at(1.5 * SERVICE_NS)
    held = 0
    for seed in range(400):
        low, high = bracket(search, MAXIMUM, run(search, noise=0.02, seed=seed))
        held += low <= truth <= high
    assert held >= 0.93 * 400


def test_noise_widens_the_bracket_without_moving_it():
    search = Search(SHARES, 1.5 * SERVICE_NS, 0.005, 16)
    low, high = bracket(search, MAXIMUM, run(search, noise=0.05))
    assert high - low > 0.01 * high
    assert low <= load_at(1.5 * SERVICE_NS) <= high


def test_search_asks_for_the_same_runs_after_an_interruption():
    search = Search(SHARES, 2 * SERVICE_NS, 0.01, 12)
    probes = run(search, noise=0.0)
    for made in range(len(SHARES), len(probes)):
        assert next_rates(search, MAXIMUM, probes[:made]) == [probes[made].rate]
    assert next_rates(search, MAXIMUM, probes) == []


def test_unreachable_limit_is_reported():
    never = Search(SHARES, 0.5 * SERVICE_NS, 0.01, 12)
    result = answer(never, MAXIMUM, run(never, noise=0.0))
    assert (result["value"], result["low"], result["confidence"]) == (None, None, None)


def test_search_without_limit_runs_the_curve_within_its_budget():
    probes = run(Search(SHARES, None, 0.01, 12), noise=0.0)
    assert len(probes) == len(SHARES)
    more = run(Search(SHARES, None, 0.01, 12, budget_runs=12), noise=0.0)
    assert len(more) == 12
    bend = [probe.rate for probe in more[len(SHARES) :]]
    assert sum(rate > 0.7 * MAXIMUM for rate in bend) >= 3, "where the latency rises most"


def test_knee_of_a_saturating_ramp_is_its_saturation():
    served = [(float(rate), min(float(rate), 600.0)) for rate in range(0, 1001, 50)]
    assert knee(served) == 600.0
    hockey = [(float(rate), 1.0 + max(rate - 700, 0) / 10) for rate in range(0, 1001, 50)]
    assert knee(hockey) == 700.0
    assert knee([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]) is None, "a straight line has none"
    assert knee([(0.0, 1.0), (1.0, 2.0)]) is None
