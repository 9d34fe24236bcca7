"""Question as a study."""

import tomllib
from pathlib import Path

import pytest
from questions import GB, question

from tameshi.ask import Catalog, prepared, storages_of
from tameshi.ask.pool_search import doubled_sizes
from tameshi.ask.question import Storage, Varied
from tameshi.ask.study_text import (
    answer_label,
    asked_study,
    drives,
    lasts_of,
    ramp_of,
    refuse_too_small,
    rounded_bytes,
    scale_of,
    sensitivity_study,
)
from tameshi.core import compiled
from tameshi.core.data import PROFILES
from tameshi.core.errors import BadInput
from tameshi.core.units import format_exact_bytes
from tameshi.study.file import plan

OUT = Path("nowhere")


def planned(asked, written):
    return plan(written.study, "simulated", quick=False)


def test_data_pool_log_and_drives_share_one_scale():
    asked = question()
    assert scale_of(asked) == 2, "more would leave too few warehouses for 20 clients"
    written = asked_study(asked, doubled_sizes(*asked.pools), OUT)
    runs = planned(asked, written).runs
    assert len(runs) == 8
    for run in runs:
        (program,) = run.phases[0].programs
        assert program.model_dump()["tpcc"]["warehouses"] == round(24 * GB / 2 / 100.8e6)
        pool = run.engines["mysql"].buffer_pool.root
        label = run.cell["buffer_pool"]
        assert compiled.size_bytes(pool) * 2 == compiled.size_bytes(label)
        assert run.engines["mysql"].redo_log.root == "1 GiB"
        (storage,) = run.storage.values()
        assert storage.scale in (2, None, 1)
    sizes = {next(iter(r.storage)): next(iter(r.storage.values())) for r in runs}
    assert sizes["card"].scale == 2
    assert compiled.size_bytes(sizes["card"].size) > 24 * GB / 2


def test_scaled_disk_keeps_seek_times():
    asked = question()
    ((name, text),) = asked_study(asked, [8 << 30], OUT).devices
    total = tomllib.loads((PROFILES / "devices" / "sas-15k-146gb.toml").read_text())
    small, large = tomllib.loads(text)["device"]["hdd"], total["device"]["hdd"]
    assert name == "sas-15k-146gb-1-in-2"
    capacities = [compiled.size_bytes(each["capacity"]["value"]) for each in (small, large)]
    assert capacities[0] * 2 == capacities[1]
    assert small["cylinders"]["value"] == large["cylinders"]["value"] // 2
    left = {key: value for key, value in small.items() if key not in ("capacity", "cylinders")}
    assert left == {key: large[key] for key in left}


def test_scaled_array_scales_its_cache():
    asked = question(storages=storages_of("--storage", "fc-24x15k", Catalog()))
    scale = scale_of(asked)
    assert scale > 1
    written = asked_study(asked, [8 << 30], OUT)
    assert [name for name, _ in written.devices] == [f"sas-15k-300gb-1-in-{scale}"]
    (run,) = planned(asked, written).runs
    (storage,) = run.storage.values()
    cache = storage.model.model_dump(exclude_none=True)["cache"]
    assert compiled.size_bytes(cache["cache"]["memory"]) == (1 << 30) // scale
    assert cache["of"]["raid10"]["members"] == 24


def test_every_workload_and_start_makes_valid_study():
    for workload in ("tpcc", "oltp", "key_update"):
        for start in ("warm", "cold"):
            asked = question(workload=workload, start=start)
            assert planned(asked, asked_study(asked, [8 << 30], OUT)).refusals == []


def test_ramp_covers_one_log_pass_and_cold_runs_shrink():
    warm = question(ramp_ns=None)
    slow = question(target_qps=1.0)
    quick = question(target_qps=1e6)
    assert 5e9 == ramp_of(quick, 16) < ramp_of(quick, 1) < ramp_of(slow, 4) == 60e9
    assert lasts_of(warm, 4) == ramp_of(warm, 4) + 30e9
    cold = question(start="cold")
    assert (ramp_of(cold, 4), lasts_of(cold, 4)) == (0, 7.5e9)


def test_uncertain_input_runs_at_both_bounds():
    asked = question()
    written = sensitivity_study(asked, "card", 8 << 30, OUT)
    plan = planned(asked, written)
    runs = plan.runs
    assert [run.cell["input"] for run in runs] == [
        "redo_log 1 GiB",
        "redo_log 4 GiB",
        "row_size × 0.8",
        "row_size × 1.25",
    ]
    assert [run.engines["mysql"].redo_log.root for run in runs[:2]] == ["512 MiB", "2 GiB"]
    houses = [run.phases[0].programs[0].model_dump()["tpcc"]["warehouses"] for run in runs[2:]]
    assert houses == [95, 149]
    assert plan.refusals == []


def test_size_below_server_minimum_is_refused_with_accepted():
    mb, mib = 10**6, 1 << 20
    for changes, words in (
        (
            {"pools": (16 * mb, 64 * mb), "scale": 16},
            "--buffer-pool: the server's minimum buffer pool is 5 MiB. Found: 16 MB, simulated at "
            "1/16 of it. Accepted: 80 MiB or more or --scale 3 or less.",
        ),
        ({"pools": (4 * mib, 64 * mb)}, "Found: 4 MiB. Accepted: 5 MiB or more."),
        ({"redo_bytes": mib, "scale": 2}, "--redo-log: the server's minimum redo log is 1 MiB"),
        ({"varied": (Varied("redo_log", mib, 4 * mib),), "scale": 4}, "--vary redo_log: "),
    ):
        with pytest.raises(BadInput) as caught:
            refuse_too_small(question(**changes))
        assert words in str(caught.value)
    refuse_too_small(question(pools=(80 * mib, 64 * mb * 16), scale=16))


def test_less_than_one_warehouse_is_refused_with_minimum():
    mb = 10**6
    for changes, words in (
        ({"database_bytes": 10 * mb}, "Found: 10 MB. Accepted: 100 MB or more."),
        (
            {"database_bytes": 300 * mb, "scale": 4},
            "Found: 300 MB, simulated at 1/4 of it. Accepted: 400 MB or more or --scale 3 or less.",
        ),
    ):
        with pytest.raises(BadInput) as caught:
            refuse_too_small(question(**changes))
        said = str(caught.value)
        assert said.startswith("--database-size: TPC-C has at least one warehouse")
        assert words in said
    refuse_too_small(question(database_bytes=100 * mb))
    refuse_too_small(question(database_bytes=10 * mb, workload="oltp"))


@pytest.mark.parametrize(
    ("size", "scale", "simulated"),
    [(100, 1, None), (150, 1, 100.8), (160, 1, 201.6), (24_000, 2, None), (600, 4, 403.2)],
)
def test_rounded_warehouses_are_reported_as_simulated(size, scale, simulated):
    asked = question(database_bytes=size * 10**6, scale=scale)
    assert rounded_bytes(asked) == (simulated and round(simulated * 1e6))
    assert rounded_bytes(question(database_bytes=size * 10**6, workload="oltp")) is None
    said = tomllib.loads(asked_study(asked, [8 << 30], OUT).study.text)["question"]
    gigabytes = f" GB of tpcc (simulated: {(simulated or 0) / 1e3:.3g} GB, whole warehouses)?"
    assert said.endswith(gigabytes if simulated else " GB of tpcc?")


@pytest.mark.parametrize("stack", [{"devize": "x"}, {"null": {}}, {"raid0": {"members": 2}}])
def test_catalog_storage_without_drive_is_refused_by_key(stack):
    with pytest.raises(BadInput) as caught:
        prepared(question(storages=(Storage("bad", stack),)), OUT)
    said = str(caught.value)
    assert f"storage.bad.{next(iter(stack))}" in said and "Accepted: " in said


def test_pool_labels_have_fitting_units():
    assert format_exact_bytes(8 * GB) == "8 GB"
    assert format_exact_bytes(11 * (1 << 30) + (256 << 20)) == "11.25 GiB"
    assert format_exact_bytes(48 << 20) == "48 MiB"


def test_drives_of_nested_stack_are_counted():
    cached = {"cache": {"of": {"raid5": {"members": 8, "device": "sas-15k-146gb"}}}}
    assert drives(cached) == [("sas-15k-146gb", 8)]
    assert drives({"replica": {"of": {"device": "null"}, "link": "x"}}) == [("null", 2)]
    assert drives(Storage("a", {"device": "null"}).stack) == [("null", 1)]


def test_distant_whole_warehouses_are_shown_for_larger_rows():
    few = question(database_bytes=300 * 10**6, scale=1)
    assert answer_label(few, "row_size", 0.8) == "× 0.8 (warehouses: 2)"
    assert answer_label(few, "row_size", 1.0) == "× 1"
    assert answer_label(few, "redo_log", 2 << 30) == "2 GiB"
    assert answer_label(question(), "row_size", 0.8) == "× 0.8"
    rows = question(database_bytes=300 * 10**6, scale=1, workload="oltp")
    assert answer_label(rows, "row_size", 0.8) == "× 0.8"
