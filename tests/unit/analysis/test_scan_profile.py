"""Profiles of scans: the simulated server's, and estimates from either."""

import pytest

from tameshi.analysis.stats import programs
from tameshi.analysis.stats.estimates import WindowData

SECOND = 10**9


def window(seconds: float, **counters: list[float]) -> WindowData:
    named = {name.replace("__", "."): values for name, values in counters.items()}
    return WindowData(round(seconds * SECOND), [], named, {})


def scans(count: int, each: float) -> WindowData:
    counted = {"transaction__count": [count], "transaction__latency_sum": [count * each * SECOND]}
    return window(90, **counted)


def test_simulated_scan_profile_covers_the_time_of_scans():
    host = window(90, process__cpu_user_ns=[45.0, 36.0], process__cpu_system_ns=[9.0, 9.0])
    server = window(90, server__read_bytes=[512 * 900.0, 512 * 900.0])
    result = programs.scan_profile(scans(2, 40), server, host)
    assert result is not None
    (stage,) = result["stages"]
    # Finished scans took eight ninths of the window.
    assert (result["statements"], stage["ns"]) == (2, 80 * SECOND)
    assert (stage["cpu_user_ns"], stage["cpu_system_ns"]) == pytest.approx((72, 16))
    assert stage["blocks_in"] == pytest.approx(1600)
    assert "major_faults" not in stage


def test_profile_needs_a_finished_scan_and_a_simulated_host():
    host = window(90, process__cpu_user_ns=[1.0], process__cpu_system_ns=[1.0])
    assert programs.scan_profile(scans(0, 0), window(90), host) is None
    assert programs.scan_profile(scans(2, 40), window(90), window(90)) is None


def test_mean_statement_covers_the_stages_of_each_repetition():
    def profile(statements: int, *user: float) -> dict[str, object]:
        stages = [{"cpu_user_ns": ns, "cpu_system_ns": 0.0, "blocks_in": 8.0} for ns in user]
        return {"statements": statements, "stages": stages}

    result = programs.of_profiles("scan", {0: profile(2, 6.0, 2.0), 1: profile(4, 24.0)})
    shown = {each.metric: each for each in result}
    assert shown["statement.cpu_user"].by_repetition == {0: 4.0, 1: 6.0}
    assert shown["statement.cpu_user"].unit == "ns"
    assert shown["statement.blocks_in"].by_repetition == {0: 8.0, 1: 2.0}
    assert programs.of_profiles("scan", {}) == []
