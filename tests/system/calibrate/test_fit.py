"""Fits recover known parameters of simulated devices."""

import tomllib
from dataclasses import replace

import pytest
from known import CAPACITY, DEPTHS, GRID, SYNC, answered, cell, slowed, volume

from tameshi.calibrate.cells import Cell, Figures
from tameshi.calibrate.fit import beyond, error_of, fit_all
from tameshi.calibrate.models import candidates
from tameshi.calibrate.profile import profile_text
from tameshi.calibrate.volumes import AFTER_FLUSH, ALONE, VARIANTS
from tameshi.core import compiled
from tameshi.core.data import PROFILES
from tameshi.core.reasons import reason

IN_ROUNDS = "volume in rounds"
KNOWN = {
    "read.command_time": 11_000,
    "read.transfer_rate": 1.3e9,
    "write.command_time": 9_000,
    "write.transfer_rate": 2.6e9,
    "read.latency": 30_000,
    "write.latency": 20_000,
}


def fitted(cells, only="volume", capacity=CAPACITY, names=None):
    models = [
        model for model in candidates(cells, capacity, only) if names is None or model.name in names
    ]
    return fit_all(cells, models, lambda name, count: None)


@pytest.mark.parametrize("rounds", [True, False])
def test_fit_recovers_volume_parameters_and_rounds(rounds):
    cells = answered(volume(rounds=rounds), GRID)
    assert [each.distrust for each in cells] == [None] * len(cells)
    best, *others = fitted(cells, names=("volume", "volume in rounds"))
    assert best.model.name == ("volume in rounds" if rounds else "volume")
    assert best.score < others[0].score / 1.5
    found = {each.parameter.key: each for each in best.estimates}
    for key, known in KNOWN.items():
        assert found[key].value == pytest.approx(known, rel=0.15), key
        assert found[key].determined, key
    held_out = [each for each in cells if each.held_out]
    assert len(held_out) >= 5
    for each in held_out:
        assert abs(error_of(each, best.figures[each.name])) < 0.05, each.name


@pytest.mark.parametrize("longer", ["25 us", None])
def test_fit_recovers_or_omits_delay_after_flush(longer):
    synced = [cell(0, 4, 16, **SYNC), cell(0, 128, 1, **SYNC)]
    cells = answered(volume(rounds=True, after_flush=longer), GRID)
    cells += answered(volume(rounds=True, after_flush=longer), synced)
    slower = f"{IN_ROUNDS}, {AFTER_FLUSH}"
    best = fitted(cells, names=(IN_ROUNDS, slower))[0]
    assert best.model.name == (slower if longer else IN_ROUNDS)
    for each in cells:
        assert abs(error_of(each, best.figures[each.name])) < 0.05, each.name
    text = profile_text(best, "a test", "some cells", "nothing")
    device = compiled.device_profile("test", "test.toml", text)["device"]["volume"]
    if longer:
        assert best.values["after_flush"] == pytest.approx(25_000, rel=0.1)
        assert device["after_flush"]["source"].startswith("fitted")
    else:
        assert "after_flush" not in device


def _known_to(each: Cell, spread: float) -> Cell:
    """Return the cell with this relative interval of rates."""
    return replace(
        each, operations={kind: replace(f, spread=spread) for kind, f in each.operations.items()}
    )


@pytest.mark.parametrize("alone", [("10 us", "15 us"), None])
def test_fit_recovers_or_omits_delay_of_single_command(alone):
    larger = [cell(reads, 16, depth) for reads in (100, 0) for depth in (1, 2, 8, 32)]
    cells = answered(volume(rounds=True, alone=alone), [*GRID, *larger])
    cells = [_known_to(each, 0.02) for each in cells]
    slower = f"{IN_ROUNDS}, {ALONE}"
    best = fitted(cells, names=(IN_ROUNDS, slower))[0]
    assert best.model.name == (slower if alone else IN_ROUNDS)
    for each in cells:
        assert abs(error_of(each, best.figures[each.name])) < 0.05, each.name
    text = profile_text(best, "a test", "some cells", "nothing")
    device = compiled.device_profile("test", "test.toml", text)["device"]["volume"]
    if alone:
        assert best.values["read.alone"] == pytest.approx(10_000, rel=0.25)
        assert best.values["write.alone"] == pytest.approx(15_000, rel=0.25)
        assert device["write"]["alone"]["source"].startswith("fitted")
    else:
        assert "alone" not in device["read"] and "alone" not in device["write"]


def test_machine_time_between_requests_is_no_latency():
    known = answered(volume(rounds=True), GRID)
    assert all(each.between_ns < 0.02 * 1e9 * each.depth / each.rate for each in known)
    cells = [_latencies_times(each, 0.8) for each in known]
    for each in cells:
        assert each.between_ns == pytest.approx(0.2e9 * each.depth / each.rate, rel=0.1)
    best = fitted(cells, names=(IN_ROUNDS,))[0]
    for key in ("read.command_time", "read.transfer_rate", "read.latency"):
        assert best.values[key] == pytest.approx(KNOWN[key], rel=0.15), key


@pytest.mark.parametrize("pattern", ["random", "shuffled"])
def test_fit_recovers_disk_speed_and_seeks(pattern):
    profile = tomllib.loads((PROFILES / "devices" / "sas-15k-146gb.toml").read_text())["device"]
    grid = [
        (100, 4, 1),
        (100, 4, 2),
        (100, 4, 8),
        (100, 64, 1),
        (100, 1024, 1),
        (0, 4, 1),
        (0, 4, 8),
    ]
    grid = [cell(*each, pattern=pattern) for each in grid]
    grid += [cell(100, 1024, 2, pattern="sequential")]
    size = compiled.size_bytes(profile["hdd"]["capacity"]["value"])
    grid = [replace(each, size_bytes=size // 2) for each in grid]
    cells = answered(profile, grid, 4_000)
    slow = [name for name in (m.name for m in candidates(cells, size, None)) if "hdd" in name]
    best = fitted(cells, None, size, slow)[0]
    assert best.model.name == "hdd at 15000/min"
    found = {each.parameter.key: each.value for each in best.estimates}
    known = compiled.nanoseconds(profile["hdd"]["seek_average"]["value"])
    assert found["seek_average"] == pytest.approx(known, rel=0.1)


def test_fit_finds_limit_if_present():
    profile = tomllib.loads((PROFILES / "devices" / "cloud-volume-1tb.toml").read_text())
    grid = [cell(reads, 4, depth) for reads in (100, 0) for depth in (1, 4, 16, 64)]
    grid += [cell(reads, 256, depth) for reads in (100, 0) for depth in (1, 4, 16)]
    best = fitted(answered(profile["device"], grid))[0]
    assert best.model.name == "volume with limits"
    found = {each.parameter.key: each.value for each in best.estimates}
    assert found["limit.command_rate"] == pytest.approx(16_000, rel=0.05)
    assert found["limit.byte_rate"] == pytest.approx(1e9, rel=0.05)


VARIANTS_IN_CI = ("volume", "volume in rounds, slower alone")


@pytest.mark.parametrize(
    "name",
    [n if n in VARIANTS_IN_CI else pytest.param(n, marks=pytest.mark.soak) for n in VARIANTS],
)
def test_stuck_disk_gives_profile_with_large_error(name):
    lengths = (4, 16, 64)
    grid = [cell(reads, kib, depth) for reads in (100, 0) for kib in lengths for depth in DEPTHS]
    grid.append(cell(0, 4, 1, **SYNC))
    cells = [slowed(each, 20_000) for each in answered(volume(rounds=False), grid)]
    best = fitted(cells, names=(name,))[0]
    text = profile_text(best, "a test", "these cells", "nothing")
    read = compiled.device_profile("stuck", "stuck.toml", text)["device"]["volume"]
    assert read["read"]["latency"]["value"][4]["time"] == "200 ms"
    assert best.error > 0.3


def test_undetermined_values_are_stated():
    cells = answered(volume(rounds=True), [cell(100, 4, depth) for depth in (1, 2, 4, 16)])
    best = fitted(cells, names=("volume in rounds",))[0]
    told = {each.parameter.key: each.determined for each in best.estimates}
    assert told["read.latency"]
    assert "read.transfer_rate" not in told
    for undetermined in (
        reason("never_alone", "write"),
        reason("one_length", "read.transfer_rate"),
        reason("never_synced", "flush"),
        reason("untested_depth", "parallel", depth=16),
    ):
        assert undetermined in best.model.undetermined
    flash = next(m for m in candidates(cells, CAPACITY, "flash") if m.kind == "flash")
    assert "needs_overwriting" in [each["code"] for each in flash.undetermined]


def test_held_out_cells_move_no_parameter():
    cells = answered(volume(rounds=True), GRID, 3_000)
    wrong = [_doubled(each) if each.held_out else each for each in cells]
    names = ("volume in rounds",)
    assert fitted(cells, names=names)[0].values == fitted(wrong, names=names)[0].values


def test_overdetermined_model_is_last_resort():
    grid = [cell(reads, 4, depth) for reads in (100, 0) for depth in (1, 4, 16, 64)]
    cells = answered(volume(rounds=False), grid, 3_000)
    assert len([each for each in cells if not each.held_out]) == 6
    slower = f"{IN_ROUNDS}, {ALONE}"
    models = [m for m in candidates(cells, CAPACITY, "volume") if m.name in ("volume", slower)]
    assert [len(model.parameters) for model in models] == [4, 6]
    assert [model.name for model in beyond(cells, models)] == [slower]
    (best,) = fitted(cells, names=("volume", slower))
    assert best.model.name == "volume"
    for each in cells:
        assert abs(error_of(each, best.figures[each.name])) < 0.1, each.name
    (alone,) = fitted(cells, names=(slower,))
    assert alone.model.name == slower


def _latencies_times(each: Cell, times: float) -> Cell:
    operations = {
        kind: Figures(f.rate, f.mean_ns * times, [(s, v * times) for s, v in f.quantiles])
        for kind, f in each.operations.items()
    }
    return replace(each, operations=operations)


def _doubled(each: Cell) -> Cell:
    return slowed(each, 0.5)


def test_profile_has_source_of_each_value():
    cells = answered(volume(rounds=True), GRID, 3_000)
    best = fitted(cells, names=("volume in rounds",))[0]
    text = profile_text(best, "a test", "nine cells", "nothing")
    read = compiled.device_profile("test", "test.toml", text)["device"]["volume"]
    assert read["read"]["command_time"]["fitted_on"] == "nine cells"
    assert read["parallel"]["source"].startswith("not determined by the measurement")
    assert read["rounds"]["value"] is True
