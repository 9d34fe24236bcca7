"""Databases on emulated drives that lose their power, also during recovery: honest drives with
durable settings lose nothing acknowledged, and each broken promise is caught.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crash_cases import (
    DURABLE,
    MANY_PAGES,
    QUICK_RECOVERY,
    SLOW_CARD,
    SSD,
    crashes,
    durable,
    pages,
)
from making import Maker
from served import only_served_drives

FOUR_CUTS = ["cut", "recovery", "cut"]
CUTS_UNTIL_CAUGHT = 10


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "spec",
    [
        {"engine": "mariadb", "settings": MANY_PAGES, "program": pages("mariadb"), **SLOW_CARD},
        {**durable("postgresql"), **SSD, "file_system": "ext4"},
        {**durable("sqlite"), "drive": "nvme-tlc-1tb-consumer"},
    ],
    ids=lambda spec: spec["engine"],
)
def test_durable_commits_survive_cuts_of_honest_drives(
    make: Maker, ground: Path, spec: dict[str, Any]
) -> None:
    found = crashes(make, ground, FOUR_CUTS, ground / "results", **spec)
    assert len(found) == len(FOUR_CUTS)
    for crash in found:
        assert crash["holds"] and not crash["stuck"], crash
    cuts = [cut for crash in found for cut in crash["cuts"]]
    assert len(cuts) == 4 and all(cut["mounted_ns"] > 0 for cut in cuts)
    assert found[-1]["ledger"]["acknowledged"] > 10 and not found[-1]["ledger"]["lost"]
    if "changes" in spec:
        assert sum(cut["torn_writes"] for cut in cuts) > 10


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({**durable("postgresql"), **SSD, "lies": ["flush"]}, id="postgresql-flush"),
        pytest.param({**durable("sqlite"), **SSD, "lies": ["flush"]}, id="sqlite-flush"),
        pytest.param(
            {
                **{"engine": "mariadb", "program": pages("mariadb"), **SLOW_CARD},
                "settings": {**MANY_PAGES, "doublewrite": "off"},
            },
            id="mariadb-doublewrite",
        ),
        *(
            pytest.param(
                {
                    **{**durable(engine), "drive": "sata-ssd-480gb"},
                    "settings": {**DURABLE[engine], **settings},
                },
                id=f"{engine}-{lie}",
            )
            for engine, lie, settings in (
                ("mariadb", "commit", {"commit": "2"}),
                ("postgresql", "commit", {"commit": "off"}),
                ("sqlite", "commit", {"commit": "OFF"}),
                ("postgresql", "fsync", {"options": {"fsync": "off", **QUICK_RECOVERY}}),
            )
        ),
    ],
)
def test_cuts_catch_a_broken_promise(make: Maker, ground: Path, spec: dict[str, Any]) -> None:
    found = crashes(make, ground, ["cut"] * CUTS_UNTIL_CAUGHT, ground / "results", **spec)
    assert not found[-1]["holds"], found
    # Lost commits, or a server that does not start: on a drive that came back.
    assert "mounted_ns" in found[-1]["cuts"][-1], found
