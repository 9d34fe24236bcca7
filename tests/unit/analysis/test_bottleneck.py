"""Latency breakdown, and the rule for the bottleneck of a cell."""

from __future__ import annotations

import pytest

from tameshi.analysis.stats.bottleneck import PARTS, bottleneck, breakdown, busy
from tameshi.analysis.stats.estimates import WindowData

SECOND = 10**9


def window(**counters: list[float]) -> WindowData:
    """Return one second in two intervals; `__` in a name stands for a dot."""
    named = {name.replace("__", "."): values for name, values in counters.items()}
    return WindowData(SECOND, [SECOND // 2] * 2, named, {})


def told(**parts: float) -> dict[str, object]:
    counters = {f"time__{part}_ns_sum": [ns, ns] for part, ns in parts.items()}
    result = breakdown("s", [window(read__count=[50, 50], **counters)])
    assert result is not None
    return result


def used(**shares: float) -> list[dict[str, object]]:
    return [{"subject": "storage.d", "resource": r, "share": share} for r, share in shares.items()]


def test_means_and_shares_cover_all_operations_of_all_runs() -> None:
    one = window(read__count=[3, 1], time__media_ns_sum=[300, 100], time__queue_ns_sum=[0, 100])
    other = window(write__count=[2, 2], time__media_ns_sum=[200, 100])
    result = breakdown("s", [one, other])
    assert result is not None
    assert result["operations"] == 8
    assert result["latency_ns_mean"] == 100
    assert result["parts"] == {
        "queue": {"mean_ns": 12.5, "share": 0.125},
        "media": {"mean_ns": 87.5, "share": 0.875},
    }
    assert result["outstanding"] == pytest.approx(800 / (2 * SECOND))


def test_trims_count_as_operations() -> None:
    result = breakdown("s", [window(trim__count=[2, 2], time__controller_ns_sum=[100, 100])])
    assert result is not None
    assert (result["operations"], result["latency_ns_mean"]) == (4, 50)


def test_record_without_parts_has_no_breakdown_and_no_bottleneck() -> None:
    assert breakdown("s", [window(read__count=[5, 5])]) is None
    assert bottleneck([], used(media=0.99)) is None


def test_utilisation_is_a_share_of_all_servers() -> None:
    runs = [
        window(busy__media_ns=[30, 10], capacity__media_ns=[50, 50]),
        window(busy__media_ns=[50, 50], capacity__media_ns=[50, 50], capacity__link_ns=[50, 50]),
    ]
    assert busy("storage.d", runs) == [
        {"subject": "storage.d", "resource": "media", "share": 0.7},
        {"subject": "storage.d", "resource": "link", "share": 0.0},
    ]


def test_busiest_resource_is_the_bottleneck_from_90_percent() -> None:
    result = bottleneck([told(queue=90, media=10)], used(media=0.9, link=0.95))
    assert result is not None
    assert (result["kind"], result["resource"], result["part"]) == ("saturated", "link", "queue")
    below = bottleneck([told(queue=90, media=10)], used(media=0.89))
    assert below is not None
    assert (below["kind"], below["resource"], below["busy"]) == ("waiting", "media", 0.89)


def test_held_resource_limits_only_if_nothing_else_is_saturated() -> None:
    for shares, kind, resource in [
        ({"link": 0.82, "places": 1.0}, "saturated", "places"),
        ({"media": 0.92, "places": 1.0}, "saturated", "media"),
        ({"link": 0.3, "places": 0.8}, "waiting", "link"),
        ({"media": 0.5, "flush_turn": 0.97}, "saturated", "flush_turn"),
        ({"media": 0.95, "flush_turn": 1.0}, "saturated", "media"),
    ]:
        result = bottleneck([told(queue=90, media=10)], used(**shares))
        assert result is not None
        assert (result["kind"], result["resource"]) == (kind, resource)


def test_request_without_waiting_is_limited_by_latency() -> None:
    result = bottleneck([told(queue=4, media=96)], used(media=0.98))
    assert result is not None
    assert (result["kind"], result["part"], result["busy"]) == ("latency", "media", 0.98)
    result = bottleneck([told(queue=6, media=94)], used(media=0.98))
    assert result is not None
    assert result["kind"] == "saturated"


def test_saturated_lock_limits_before_spinning_processors() -> None:
    waits = told(queue=94, host=6)
    for shares, limit in (
        ({"cores": 1.0, "lock": 1.0}, "lock"),
        ({"cores": 1.0, "lock": 0.91}, "lock"),
        ({"cores": 1.0, "lock": 0.5}, "cores"),
        ({"media": 1.0, "cores": 0.95, "lock": 0.91}, "media"),
    ):
        result = bottleneck([waits], used(**shares))
        assert result is not None
        assert (result["kind"], result["resource"]) == ("saturated", limit)
        assert result["busy"] == shares[limit]


@pytest.mark.parametrize("part", PARTS)
def test_largest_part_limits_if_nothing_is_saturated(part: str) -> None:
    parts = dict.fromkeys(PARTS, 10.0) | {part: 40.0}
    result = bottleneck([told(**parts)], [])
    assert result is not None
    assert result["kind"] == ("waiting" if part == "queue" else "latency")
    assert (result["part"], result["part_share"], result["busy"]) == (part, 0.4, None)


def test_streams_count_by_their_time() -> None:
    small, large = told(queue=30, host=1), told(media=100)
    result = bottleneck([small, large], [])
    assert result is not None
    assert result["part"] == "media"
    assert result["part_share"] == pytest.approx(200 / 262)
