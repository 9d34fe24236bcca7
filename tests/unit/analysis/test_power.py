"""Power and performance per watt, from the energy in the record."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tameshi.analysis.findings import capacity_of
from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.power import held, power, usable_bytes

SECOND = 10**9


def drawn(joules: float, seconds: int = 2) -> WindowData:
    return WindowData(
        seconds * SECOND,
        [SECOND] * seconds,
        {"power.energy_nj": [joules * 1e9 / seconds] * seconds},
        {},
    )


def served(reads: float, writes: float) -> WindowData:
    counters = {
        "read.count": [reads],
        "read.bytes": [reads * 4096],
        "write.count": [writes],
        "write.bytes": [writes * 4096],
        "sync.count": [1e9],
    }
    return WindowData(SECOND, [SECOND], counters, {})


def test_watts_and_performance_per_watt_follow_from_energy() -> None:
    result = power("storage.d", [drawn(30.0), drawn(50.0)], [[served(1000, 600)], [served(0, 400)]])
    assert result == {
        "subject": "storage.d",
        "watts": 20.0,
        "iops_per_watt": 25.0,
        "bandwidth_per_watt": 25.0 * 4096,
    }


def test_idle_drive_has_power_and_no_performance() -> None:
    result = power("storage.d", [drawn(10.0)], [])
    assert result is not None
    assert (result["watts"], result["iops_per_watt"], result["bandwidth_per_watt"]) == (
        5,
        None,
        None,
    )


def test_warmest_drive_and_throttled_share_are_reported() -> None:
    shown = drawn(10.0)
    heat = {
        "thermal.millidegrees": [40_000, 60_000],
        "thermal.throttled_ns": [0, SECOND],
        "thermal.drives": [2, 2],
    }
    warm = WindowData(shown.length_ns, shown.lengths_ns, {**shown.counters, **heat}, {})
    result = power("storage.d", [warm], [])
    assert result is not None
    assert (result["celsius_mean"], result["celsius_max"], result["throttled"]) == (50, 60, 0.25)


def test_storage_without_power_model_has_no_power() -> None:
    silent = WindowData(SECOND, [SECOND], {"busy.media_ns": [5]}, {})
    assert power("storage.d", [silent], [[served(10, 10)]]) is None


def test_stack_capacity_excludes_redundancy_and_spare() -> None:
    simulated = {"scale": 128, "written": "steady"}
    flash = {"capacity": {"value": "1200 GB"}, "simulated": simulated}
    drive = {"device": {"profile": "p", "device": {"flash": flash}}}
    spared = {"over_provisioned": {"of": drive, "visible": "80 %"}}
    for stack, gigabytes in [
        (drive, 1200),
        (spared, 960),
        ({"raid0": {"members": 12, "of": drive}}, 14400),
        ({"raid1": {"members": 3, "of": drive}}, 1200),
        ({"raid10": {"members": 24, "of": drive}}, 14400),
        ({"raid5": {"members": 5, "of": spared}}, 3840),
        ({"replica": {"of": drive}}, 1200),
        ({"cache": {"of": {"raid10": {"members": 4, "of": drive}}}}, 2400),
        ({"partition": {"of": drive, "function": {"functions": 4}}}, 300),
    ]:
        assert usable_bytes(stack) == gigabytes * 10**9, stack


def test_partly_used_storage_reports_its_used_bytes() -> None:
    disk = {"device": {"device": {"hdd": {"capacity": {"value": "300 GB"}}}}}
    complete = {"capacity_bytes": 300 * 10**9}
    assert held(disk, [(disk, SimpleNamespace(size="98 GB", scale=None))]) == {
        **complete,
        "used_bytes": 98 * 10**9,
    }
    # A simulated drive's size is scaled.
    assert held(disk, [(disk, SimpleNamespace(size="150 GB", scale=2))]) == complete
    assert held(disk, [(disk, SimpleNamespace())]) == complete


class Model:
    """Device tree of a storage, as in a run's request."""

    def __init__(self, tree: dict[str, Any]) -> None:
        self.tree = tree
        function = tree.get("partition", {}).get("function")
        self.partition = function and SimpleNamespace(function=SimpleNamespace(**function))

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self.tree


@pytest.mark.parametrize(
    ("sizes", "drive", "told"),
    [
        ([None] * 4, "card", {}),
        (["12500 MB"] * 4, "card", {}),
        ([None] * 2, "card", {"used_bytes": 400 * 10**9}),
        (["1 GB", None, "2 GB", None], "card", {"used_bytes": (64 + 200 + 128 + 200) * 10**9}),
        (["1 GB", None], None, {"capacity_bytes": 200 * 10**9, "used_bytes": 64 * 10**9}),
    ],
)
def test_shared_drive_reports_the_use_of_all_its_functions(sizes, drive, told) -> None:
    flash = {"capacity": {"value": "800 GB"}, "simulated": {"scale": 64}}
    function = {"functions": 4, "drive": drive}
    tree = {"of": {"device": {"device": {"flash": flash}}}, "function": function}
    alone = {"device": {"device": {"hdd": {"capacity": {"value": "300 GB"}}}}}
    storages = {
        f"f{place}": SimpleNamespace(size=size, scale=64, model=Model({"partition": tree}))
        for place, size in enumerate(sizes)
    }
    beside = SimpleNamespace(size="1 GB", scale=None, model=Model(alone))
    run: Any = SimpleNamespace(spec=SimpleNamespace(storage={**storages, "card": beside}))
    assert capacity_of(run, "f0") == {"capacity_bytes": 800 * 10**9, **told}
    assert capacity_of(run, "card") == {"capacity_bytes": 300 * 10**9, "used_bytes": 10**9}
    assert capacity_of(run, "none") == {}
