"""Settings behind axes: names, numbers and words."""

from __future__ import annotations

import pytest

from tameshi.study.settings import LABEL, quantity, settings_of


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, ("number", 3.0)),
        (0.5, ("number", 0.5)),
        ("64", ("number", 64.0)),
        ("4 KiB", ("bytes", 4096.0)),
        ("1.5GB", ("bytes", 1.5e9)),
        ("100 ms", ("latency", 1e8)),
        ("25 %", ("share", 0.25)),
        ("1_000 /s", ("rate", 1000.0)),
        (True, None),
        ("O_DIRECT", None),
        ("16 clients", None),
    ],
)
def test_quantity_has_kind_and_base_unit(value: object, expected: object) -> None:
    assert quantity(value) == expected


def test_axis_of_one_setting_has_its_numbers() -> None:
    text = '[axis.depth]\nset = "workload.stream.s.queue_depth"\nlevels = [1, 8]\n'
    (depth,) = settings_of(text, {"depth": ["1", "8"]})
    assert (depth.name, depth.kind, depth.values) == ("depth", "number", {"1": 1.0, "8": 8.0})


def test_labelled_levels_of_one_quantity_have_its_numbers() -> None:
    text = """
[axis.pool]
small = { engine.mysql.buffer_pool = "256 MiB" }
large = { engine.mysql.buffer_pool = "4 GiB" }
"""
    (pool,) = settings_of(text, {"pool": ["small", "large"]})
    assert (pool.name, pool.kind) == ("pool", "bytes")
    assert pool.values == {"small": 2.0**28, "large": 2.0**32}


def test_labelled_levels_of_words_keep_their_labels() -> None:
    text = """
[axis.storage]
disk = { use.storage = "disk_array" }
flash = { use.storage = "flash_pair" }
[axis.mixed]
a = { x = 1 }
b = { y = 1, z = 2 }
"""
    axes = {"storage": ["disk", "flash"], "mixed": ["a", "b"]}
    for setting in settings_of(text, axes):
        assert setting.kind == LABEL and list(setting.words) == axes[setting.axis]
        assert list(setting.values.values()) == [0.0, 1.0]


def test_samples_have_a_setting_per_place() -> None:
    text = """
[axis.sample]
s1 = { engine.mysql = { buffer_pool = "1 GiB", redo_log = "64 MiB" }, workload.tpcc.clients = 4 }
s2 = { engine.mysql = { buffer_pool = "2 GiB", redo_log = "64 MiB" }, workload.tpcc.clients = 9 }
"""
    found = settings_of(text, {"sample": ["s1", "s2"]})
    assert [(each.name, each.kind) for each in found] == [
        ("buffer_pool", "bytes"),
        ("clients", "number"),
    ]
    assert found[1].values == {"s1": 4.0, "s2": 9.0}


def test_places_with_the_same_end_have_longer_names() -> None:
    text = """
[axis.sample]
s1 = { workload.stream.a.queue_depth = 1, workload.stream.b.queue_depth = 2 }
s2 = { workload.stream.a.queue_depth = 3, workload.stream.b.queue_depth = 4 }
"""
    names = [each.name for each in settings_of(text, {"sample": ["s1", "s2"]})]
    assert names == ["a.queue_depth", "b.queue_depth"]


def test_axis_with_one_level_is_no_setting() -> None:
    assert settings_of("", {"depth": ["1"]}) == []
