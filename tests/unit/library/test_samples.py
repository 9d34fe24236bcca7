"""Sampling designs: values within their ranges, well spread, and an axis of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command import SMALL

import tameshi as tm

RANGES = {
    "workload.stream.s.queue_depth": (1, 64, "log"),
    "storage.disk.size": ("8 MiB", "64 MiB"),
    "workload.stream.s.read": ("0 %", "100 %"),
}
DEPTH, SIZE, _ = RANGES


def plain() -> tm.Study:
    """Return the small study without axes of its own."""
    return tm.Study.from_text(SMALL, "small").with_({"axis": None, "run.repetitions": None})


@pytest.mark.parametrize("method", ["latin_hypercube", "sobol"])
def test_samples_are_within_ranges_and_repeat(method: str) -> None:
    frame = tm.samples(RANGES, 16, method=method)
    assert frame.columns == ["sample", *RANGES] and frame["sample"].to_list()[::15] == [
        "s01",
        "s16",
    ]
    assert frame[DEPTH].dtype.is_integer() and frame[DEPTH].is_between(1, 64).all()
    sizes = [int(size.removesuffix(" MiB")) for size in frame[SIZE]]
    assert min(sizes) >= 8 and max(sizes) <= 64 and len(set(sizes)) > 8
    assert frame.equals(tm.samples(RANGES, 16, method=method))
    assert not frame.equals(tm.samples(RANGES, 16, method=method, seed=2))


def test_latin_hypercube_has_a_sample_in_each_slice() -> None:
    values = tm.samples({"a": (0.0, 10.0), "b": (1.0, 1024.0, "log")}, 10)
    assert sorted(values["a"].cast(pl.Int64)) == list(range(10))
    assert sorted(values["b"].log(2).cast(pl.Int64)) == list(range(10))


def test_samples_become_an_axis_of_the_study() -> None:
    frame = tm.samples(RANGES, 4)
    runs = plain().with_samples(frame).plan().runs
    assert runs["sample"].to_list() == frame["sample"].to_list()


def test_estimates_join_the_settings_of_samples(tmp_path: Path) -> None:
    frame = tm.samples({DEPTH: (1, 16)}, 4, method="sobol")
    study = plain().with_({"workload.stream.s.read": "100 %"})
    results = study.with_samples(frame).run(out=tmp_path / "out")
    joined = results.estimates("read.iops").join(frame, on="sample")
    assert (
        joined.height == 4 and joined.select(pl.corr(DEPTH, "value", method="spearman")).item() > 0
    )


@pytest.mark.parametrize(
    ("ranges", "number", "options", "message"),
    [
        ({"a": (1, 2)}, 1, {}, "too few samples. Found: 1"),
        ({}, 4, {}, "at least one range"),
        ({"a": (1, 2)}, 12, {"method": "sobol"}, "power of two .* Found: 12. Accepted: 8 or 16"),
        ({"a": (1, 2)}, 4, {"method": "halton"}, "unknown design. Found: halton"),
        ({"a.b": (2, 1)}, 4, {}, "a.b: the low end of a range is below"),
        ({"a": ("1 GiB", "2 MiB")}, 4, {}, "the same unit"),
        ({"a": (0, 2, "log")}, 4, {}, "begins above zero"),
        ({"a": (1, 2, "cubic")}, 4, {}, "a low and a high end"),
        ({"a": ("small", "large")}, 4, {}, "this is no end of a range. Found: small"),
    ],
)
def test_unusable_design_is_refused_with_remedy(
    ranges: Any, number: int, options: Any, message: str
) -> None:
    with pytest.raises(tm.BadInput, match=message):
        tm.samples(ranges, number, **options)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1]}),
        pl.DataFrame({"sample": ["x"]}),
        pl.DataFrame({"sample": ["x", "x"], "a": [1, 2]}),
    ],
)
def test_frame_without_labelled_samples_is_refused(frame: pl.DataFrame) -> None:
    with pytest.raises(tm.BadInput, match="sample"):
        plain().with_samples(frame)
