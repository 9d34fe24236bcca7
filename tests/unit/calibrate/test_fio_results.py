"""Cells from results of fio 2 and 3; refusal of invalid ones."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fio_json import drive, job, latencies, results
from hypothesis import given, settings
from hypothesis import strategies as st

from tameshi.calibrate.command import trusted as without_doubtful
from tameshi.calibrate.fio_cells import read_fio
from tameshi.calibrate.models import candidates
from tameshi.core.errors import BadInput
from tameshi.core.reasons import reason
from tameshi.report.words.text import Text

FILE = Path("fio.json")


def changed(document: dict[str, Any], place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    """Return the document with another value at a place; `...` removes the value."""
    document = copy.deepcopy(document)
    table: Any = document
    for key in place[:-1]:
        table = table[key]
    if value is ...:
        del table[place[-1]]
    else:
        table[place[-1]] = value
    return document


def refusal(document: dict[str, Any]) -> BadInput:
    with pytest.raises(BadInput) as refused:
        read_fio(FILE, document)
    return refused.value


def test_fio_2_microseconds_equal_fio_3_nanoseconds():
    old, new = read_fio(FILE, drive(version=2)), read_fio(FILE, drive(version=3))
    assert len(new.cells) == 6
    assert [cell.operations for cell in old.cells] == [cell.operations for cell in new.cells]
    read = new.cells[0].operations["read"]
    assert read.mean_ns == pytest.approx(80_000)
    assert read.quantiles[0] == (0.0, pytest.approx(64_000))
    assert read.quantile(0.99) == pytest.approx(160_000)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("iops", "12k"),
        ("iops", None),
        ("iops", True),
        ("iops", -5),
        ("iops", 0),
        ("iops", float("nan")),
        ("iops", float("inf")),
        ("lat_ns", {"mean": -1.0, "min": 0, "max": 0}),
        ("iops", ...),
        ("iops", 10**400),
        ("lat_ns", []),
        ("total_ios", "many"),
        ("iops_stddev", {}),
    ],
)
def test_impossible_value_is_refused_by_file_job_and_key(key, value):
    document = drive()
    document["jobs"][1]["read"] |= {"iops_samples": 20, "iops_stddev": 1.0}
    refused = refusal(changed(document, ("jobs", 1, "read", key), value))
    assert refused.where == "fio.json: job randread-4k-4"
    assert refused.key.startswith(f"read.{key}")
    assert refused.found and refused.accepted


def test_job_without_latencies_is_refused_with_names_of_both_fios():
    document = drive()
    for name in ("lat_ns", "clat_ns"):
        del document["jobs"][0]["read"][name]
    refused = refusal(document)
    assert "the latencies that a fit needs are missing" in refused.message
    assert refused.accepted == ["lat_ns or clat_ns of fio 3", "lat or clat of fio 2"]


@pytest.mark.parametrize(("rests_us", "kind"), [(5.0, None), (80.0, "flash"), (5_500.0, "hdd")])
@pytest.mark.parametrize("options", [{}, {"norandommap": "1"}])
def test_candidate_models_follow_from_latency_at_rest(rests_us, kind, options):
    jobs = [job("randread", depth, depth / rests_us * 1e6, **options) for depth in (1, 2, 4)]
    cells = read_fio(FILE, results(*jobs)).cells
    tried = {model.kind for model in candidates(cells, 1 << 40, None)}
    assert tried == {"volume"} | ({kind} if kind else set())


def test_job_without_recorded_latencies_is_left_out():
    document = drive()
    for name in ("lat_ns", "clat_ns"):
        document["jobs"][0]["read"][name] = {"min": 0, "max": 0, "mean": 0.0}
    found = read_fio(FILE, document)
    assert found.left_out == [reason("no_latencies", "randread-4k-1")]
    assert len(found.cells) == 5


@pytest.mark.parametrize(
    "option", [{"a b": "c"}, {"include /etc/passwd": ""}, {"bs": "4k\n[other]"}, {"bs": ["4k"]}]
)
def test_option_with_line_break_is_refused(option):
    refused = refusal(changed(drive(), ("jobs", 0, "job options"), option))
    assert refused.key == f"job options.{next(iter(option))}"


def test_jg_mix_of_100_is_pure_reads():
    mixed, plain = (
        read_fio(FILE, results(*(job(rw, depth, 1000.0 * depth, **mix) for depth in (1, 4, 64))))
        for rw, mix in (("randrw", {"rwmixread": "100", "rwmixwrite": "0"}), ("randread", {}))
    )
    assert mixed.left_out == [] and len(mixed.cells) == 3
    for one, other in zip(mixed.cells, plain.cells, strict=True):
        assert one.operations == other.operations and list(one.operations) == ["read"]
        assert one.spec.read == other.spec.read and one.depth == other.depth


def test_failed_job_is_left_out_with_error():
    found = read_fio(FILE, changed(drive(), ("jobs", 0, "error"), 5))
    failed = reason("fio_failed", "randread-4k-1", number=5, words="Input/output error")
    assert found.left_out == [failed]
    assert found.cells[0].name == "randread-4k-4"


@pytest.mark.parametrize(
    ("times", "trusted"),
    [
        (1.0, True),
        (1.05, True),
        (0.6, True),
        (1.2, False),
        (8.0, False),
        (0.4, False),
        (1e-3, False),
    ],
)
def test_figures_against_littles_law_are_left_out(times, trusted):
    document = drive()
    document["jobs"][0]["read"]["iops"] *= times
    found = without_doubtful(read_fio(FILE, document))
    assert (len(found.cells) == 6) == trusted
    if trusted:
        assert not found.left_out
        return
    broken = reason("littles_law", "randread-4k-1", outstanding=f"{times:.3g}", depth=1)
    assert found.left_out == [broken]


@pytest.mark.parametrize("counted_as", ["fsync", "fdatasync"])
def test_syncs_follow_counts_and_littles_law(counted_as):
    every, us = 8, 400.0
    rate = 1e6 / (20 + us / every)
    document = results(job("randwrite", 1, rate, fdatasync=str(every)))
    write = document["jobs"][0]["write"]
    write |= {"lat_ns": latencies(20), "clat_ns": latencies(20)}
    count = write["total_ios"] // every
    operations = count if counted_as == "fsync" else 0
    synced = {"total_ios": operations, "lat_ns": latencies(us) | {"N": count}}
    (cell,) = read_fio(FILE, changed(document, ("jobs", 0, "sync"), synced)).cells
    assert cell.operations["sync"].rate == pytest.approx(rate / every, rel=1e-3)
    assert cell.outstanding == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("expected", [None, {"total_ios": 0, "lat_ns": {"N": 0, "mean": 0.0}}])
@pytest.mark.parametrize(
    ("asked", "used"),
    [({"fsync": "1"}, False), ({"fdatasync": "8"}, False), ({"sync": "dsync"}, True)],
)
def test_job_without_counted_syncs_is_left_out(asked, used, expected):
    durable = job("randwrite", 1, 2e3, **asked) | ({"sync": expected} if expected else {})
    found = read_fio(FILE, results(job("randread", 1, 1e4), durable))
    assert len(found.cells) == 1 + used
    if not used:
        assert found.left_out == [reason("no_syncs", "randwrite-4k-1")]


@pytest.mark.parametrize(
    ("first", "second", "disks", "expected"),
    [
        ({"filename": "/dev/a:/dev/b"}, {}, ["a", "b"], "job randread-4k-1: filename: this job"),
        ({"filename": "/dev/a"}, {"filename": "/dev/b"}, ["a", "b"], "fio.json: filename: these"),
        ({"filename": "/dev/a"}, {"filename": "/dev/b"}, ["a"], "these jobs used several"),
        ({"filename": "/dev/a"}, {"directory": "/mnt"}, ["a"], "/dev/a (job randread-4k-1), /mnt"),
        ({"directory": "/a"}, {"directory": "/b"}, ["a", "b"], "these jobs used several"),
        ({"directory": "/a:/b"}, {"directory": "/a"}, [], "this job used several devices"),
        ({"directory": "/a"}, {"directory": "/b"}, ["a"], ""),
        ({"filename": "/dev/a"}, {"filename": "/dev/a"}, ["a", "md0"], ""),
        ({"filename": r"/dev/a\:1"}, {"filename": r"/dev/a\:1"}, [], ""),
        ({"filename": "x:y"}, {"directory": "."}, ["a", "b"], ""),
    ],
)
def test_jobs_of_several_devices_are_refused_and_named(first, second, disks, expected):
    jobs = [job("randread", 1, 1e4, **first), job("randread", 4, 4e4, **second)]
    document = results(*jobs) | {"disk_util": [{"name": name} for name in disks]}
    if expected:
        assert expected in str(refusal(document))
        return
    assert len(read_fio(FILE, document).cells) == 2


def test_device_in_global_options_applies_to_all_jobs():
    document = results(job("randread", 1, 1e4, filename="/dev/b"), job("randread", 4, 4e4))
    document["global options"] = {"filename": "/dev/a"}
    assert "/dev/b (job randread-4k-1), /dev/a (job randread-4k-4)" in str(refusal(document))


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place in a document."""
    if above:
        yield above
    inner = (
        value if isinstance(value, dict) else dict(enumerate(value if type(value) is list else ()))
    )
    for key, each in inner.items():
        yield from places(each, (*above, key))


WHOLE = results(drive()["jobs"][0], drive()["jobs"][4])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(place=st.sampled_from(list(places(WHOLE))), value=JSON | st.just(...))
def test_any_json_is_read_or_refused(place, value):
    document = changed(WHOLE, place, value)
    assert value is ... or json.dumps(document)
    if not {"fio version", "jobs"} <= document.keys():
        return
    try:
        found = read_fio(FILE, document)
    except BadInput as refused:
        assert refused.message
    else:
        assert all(cell.rate > 0 for cell in found.cells)


@pytest.mark.parametrize(
    ("place", "change", "key"),
    [
        ("lat_ns", {"min": 900_000, "max": 5}, "lat_ns.min"),
        ("lat_ns", {"mean": 1e6}, "lat_ns.mean"),
        ("lat_ns", {"mean": 10.0}, "lat_ns.mean"),
        ("percentile", {"99.000000": 70_000}, "percentile.99.000000"),
        ("percentile", {"99.900000": 400_000}, "percentile.99.900000"),
        ("percentile", {"50.000000": 100}, "percentile.50.000000"),
    ],
)
def test_contradictory_latencies_are_refused_by_key(place, change, key):
    document = copy.deepcopy(drive())
    latency_table = document["jobs"][0]["read"]["lat_ns"]
    (latency_table["percentile"] if place == "percentile" else latency_table).update(change)
    refused = refusal(document)
    assert refused.where == "fio.json: job randread-4k-1"
    assert refused.key.endswith(key)
    assert refused.found and refused.accepted


def test_percentiles_may_exceed_range_by_bin_width():
    document = copy.deepcopy(drive())
    latency_table = document["jobs"][0]["read"]["lat_ns"]
    latency_table["percentile"]["99.900000"] = round(latency_table["max"] * (1 + 1 / 64))
    shares = read_fio(FILE, document).cells[0].operations["read"].quantiles
    assert [value for _, value in shares] == sorted(value for _, value in shares)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"iodepth": "0"}, "iodepth: below the minimum (found 0; accepted: 1 or more)"),
        ({"rw": "randfoo"}, "rw: unknown kind of load (found randfoo; accepted: read, "),
    ],
)
def test_unsupported_job_is_left_out_with_found_and_accepted(asked, expected):
    document = copy.deepcopy(drive())
    document["jobs"][0]["job options"] |= asked
    (excluded,) = read_fio(FILE, document).left_out
    assert Text().reason(excluded).startswith(expected)
    assert Text("ja").reason(excluded) != Text().reason(excluded)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ioengine", "windowsaio"),
        ("ioengine", "rbd"),
        ("numa_mem_policy", "local"),
        ("prioclass", "1"),
        ("exec_prerun", "sync"),
        ("write_iolog", "x"),
        ("minimal", "1"),
    ],
)
def test_option_without_bearing_is_ignored_and_named(key, value):
    plain = read_fio(FILE, drive())
    found = read_fio(FILE, drive(**{key: value}))
    assert (found.cells, found.left_out) == (plain.cells, plain.left_out)
    assert (plain.ignored, found.ignored) == ([], [f"{key}={value}"])


def test_engine_without_device_is_left_out():
    document = copy.deepcopy(drive())
    document["jobs"][0]["job options"]["ioengine"] = "cpuio"
    (excluded,) = read_fio(FILE, document).left_out
    assert Text().reason(excluded).startswith("ioengine: this engine is not supported")
