"""Models that are fitted take nothing from their template that tells of another drive."""

from __future__ import annotations

import pytest

from tameshi.calibrate.cells import Cell
from tameshi.calibrate.models import flash


@pytest.mark.parametrize("template", ["nvme-tlc-3.84tb", "nvme-tlc-1tb-consumer"])
def test_a_fitted_drive_has_neither_the_lanes_nor_the_heat_of_its_template(template: str) -> None:
    model = flash([Cell("c", {}, 1 << 30, {})], 1 << 40, template)
    built = model.build({each.key: each.start for each in model.parameters})
    assert "pcie" not in built["link"]
    assert "thermal" not in built["power"]
    assert built["power"]["program_nj"][0] > 0
