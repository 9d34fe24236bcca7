"""Upper bound of open-loop intervals: the offered load."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tameshi.analysis.stats.estimates import Estimate, WindowData
from tameshi.analysis.stats.intervals import Interval
from tameshi.analysis.stats.offered_load import Loaded, bounded, is_offered, kept, offered

SECOND = 10**9


def window(count: float, seconds: float = 10.0) -> WindowData:
    length = int(seconds * SECOND)
    # The record counts arrivals that no client began at the end, those of the ramp included.
    counters = {"transaction.count": [count], "load.started": [count], "load.unserved": [9e9]}
    return WindowData(length, [length], counters, {})


def rate(value: float, subject: str = "tpcc", metric: str = "transaction.rate") -> Estimate:
    bounds = Interval(value * 0.8, value * 1.25, 2, "m", 3.0)
    return Estimate(metric, subject, value, "1/s", bounds)


def test_overloaded_server_is_bounded_by_arrivals() -> None:
    given_rates = [rate(98.0), rate(400.0, "server", "server.read_rate")]
    result, other = bounded(given_rates, offered("tpcc", "100 /s", [window(980)]))
    assert (result.at_most, result.sampling.high) == pytest.approx((100.0, 100.0))
    assert result.sampling.degrees is None and result.sampling.low == 0.8 * 98
    assert other == given_rates[1]


def test_axis_is_offered_load_if_nothing_else_differs() -> None:
    def cell(load: str, drive: str, arrivals: object, rest: object) -> Loaded:
        levels = {"load": load, "drive": drive}
        return Loaded(("simulated", "p"), levels, [arrivals], rest)

    alone = [cell(load, drive, float(load), drive) for load in "123" for drive in "ab"]
    assert is_offered("load", alone)
    assert not is_offered("drive", alone), "as much arrives at each drive"
    assert not is_offered("rate", alone), "no cell has such an axis"
    assert not is_offered("load", [cell(load, "a", float(load), load) for load in "12"])
    closed_and_open = [cell("1", "a", "closed", 0), cell("2", "a", 2.0, 0)]
    assert not is_offered("load", closed_and_open), "a closed loop does what it can"


@given(st.floats(0.2, 1.0), st.floats(1.0, 1e4))
def test_program_intervals_do_not_exceed_arrivals(share: float, arrives: float) -> None:
    entry = offered("tpcc", f"{arrives:.12f} /s", [window(10 * share * arrives)])
    (result,) = bounded([rate(share * arrives)], entry)
    assert result.sampling.high is not None
    assert result.value <= result.sampling.high * (1 + 1e-9)
    assert result.sampling.high <= arrives * (1 + 1e-9)


def test_transaction_type_may_be_rarer_by_chance() -> None:
    kinds = [rate(98.0), rate(4.0, "tpcc.delivery"), rate(4.0, "tpcc.delivery", "statement.rate")]
    _, kind, statements = bounded(kinds, offered("tpcc", "98 /s", [window(980)]))
    slack = 1 + 3 / math.sqrt(4.0 * 10)
    assert kind.at_most == pytest.approx(4.0 * slack) == statements.at_most


def test_backlog_allows_more_than_the_arrivals() -> None:
    (result,) = bounded([rate(150.0)], offered("tpcc", "100 /s", [window(1500)]))
    assert result.at_most == 150.0 and result.sampling == rate(150.0).sampling
    (result,) = bounded([rate(101.0)], offered("tpcc", "100 /s", [window(1010)]))
    assert result.sampling.high == 101.0, "a little more is chance"


def test_closed_loops_and_idle_programs_stay_unchanged() -> None:
    assert list(bounded([rate(9.0)], None)) == [rate(9.0)]
    assert offered("tpcc", "100 /s", [window(0)]) is None and offered("tpcc", "100 /s", []) is None


def test_uncut_interval_stays_symmetric() -> None:
    complete = Interval(1.0, 2.0, 2, "m", 3.0)
    assert kept(complete, low=0.5, high=2.0) == complete
    none = Interval(None, None, 1, "no interval: one run")
    assert kept(none, high=1.0) == none
