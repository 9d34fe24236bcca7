"""Fitted models take nothing from their template that describes another drive."""

from __future__ import annotations

from dataclasses import replace

import pytest
from known import answered, cell, volume

from tameshi.calibrate.cells import Cell
from tameshi.calibrate.models import flash, hard_disk
from tameshi.calibrate.parameters import KNOWN_CAPACITY, UNKNOWN_CAPACITY, Model
from tameshi.calibrate.volumes import volumes
from tameshi.core import compiled


@pytest.mark.parametrize("template", ["nvme-tlc-3.84tb", "nvme-tlc-1tb-consumer"])
def test_fitted_drive_drops_lanes_and_heat_of_template(template: str) -> None:
    model = flash([Cell("c", {}, 1 << 30, {})], 1 << 40, template)
    built = model.build({each.key: each.start for each in model.parameters})
    assert "pcie" not in built["link"]
    assert "thermal" not in built["power"]
    assert built["power"]["program_nj"][0] > 0


def capacity(model: Model) -> tuple[int, str]:
    built = model.build({each.key: each.start for each in model.parameters})
    return compiled.size_bytes(built["capacity"][0]), model.sources["capacity"]


def models(used: int, known: int | None) -> list[Model]:
    cells = [replace(each, size_bytes=used) for each in answered(volume(rounds=False), READS, 500)]
    return [*volumes(cells, known), flash(cells, known), hard_disk(cells, known, 4.0)]


READS = [cell(100, 4, depth) for depth in (1, 4)]


def test_known_capacity_is_marked_as_measured() -> None:
    for model in models(1 << 30, 480_000_000_000):
        assert capacity(model) == (480_000_000_000, KNOWN_CAPACITY)
        assert UNKNOWN_CAPACITY not in model.undetermined


@pytest.mark.parametrize("used", [1 << 30, 100 << 30, 5 << 40])
def test_unknown_capacity_is_stated_and_not_invented(used: int) -> None:
    templates = {"volume": 0, "flash": 3_840_000_000_000, "hdd": 146_000_000_000}
    for model in models(used, None):
        found, source = capacity(model)
        assert found == max(used, templates[model.kind]), model.name
        assert source.startswith("not known"), model.name
        assert ("of profile" in source) == (found > used), model.name
        assert UNKNOWN_CAPACITY in model.undetermined


@pytest.mark.parametrize("revolution_ms", [4.0, 60_000 / 5400])
@pytest.mark.parametrize("known", [146_000_000_000, 16_000_000_000_000])
def test_a_fitted_disks_cylinders_hold_its_capacity(revolution_ms: float, known: int) -> None:
    model = hard_disk([Cell("c", {}, 1 << 30, {})], known, revolution_ms)
    values = {each.key: each.start * 1.5 for each in model.parameters}
    built = model.build(values)
    track = values["media_rate"] * revolution_ms / 1000
    assert known / built["cylinders"][0] / track == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize("known", [8_000_000_000, 64 << 30, 3_840_000_000_000, 60_000_000_000_000])
def test_fitted_flash_keeps_spare_blocks_at_every_capacity(known: int) -> None:
    model = flash([Cell("c", {}, 1 << 30, {})], known)
    built = model.build({each.key: each.start for each in model.parameters})
    nand, controller = built["nand"], built["controller"]
    dies = controller["data_channels"][0] * controller["dies_per_channel"][0]
    page = compiled.size_bytes(nand["page"][0]) * nand["planes"][0]
    block = page * nand["pages_per_block"][0] * dies
    spare = known * float(built["over_provisioning"][0].removesuffix("%")) / 100
    assert spare / block > built["cleaning"]["reserve_blocks"][0] + 4


@pytest.mark.parametrize("known", [146_000_000_000, 30_000_000_000_000, 122_000_000_000_000])
def test_slowest_tracks_of_fit_hold_the_capacity(known: int) -> None:
    model = hard_disk([Cell("c", {}, 1 << 30, {})], known, 4.0)
    slowest = {each.key: each.low for each in model.parameters}
    cylinders = model.build(slowest)["cylinders"][0]
    assert known <= 64 * cylinders * slowest["media_rate"] * 0.004
