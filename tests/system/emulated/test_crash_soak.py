"""600 power cuts and 60 kills of databases on emulated drives, also during recovery.

A run continues from the results of an earlier one of the same core, in `build/soak/crashes`.
Without `TAMESHI_GRID=full` it makes a tenth of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from crash_cases import SSD, crashes, durable, lines, pages
from making import Maker
from served import only_served_drives

from tameshi.core import compiled

ROUND = ["cut", "recovery", "cut", "cut", "kill", "recovery", "cut", "recovery"]
"""Ten cuts, three of them during a recovery, and a kill."""
ROUNDS = 10 if os.environ.get("TAMESHI_GRID") == "full" else 1
DRIVES: list[dict[str, Any]] = [
    {"drive": "nvme-tlc-1tb-consumer"},
    SSD,
    {"drive": "sas-15k-146gb"},
    {"drive": "sata-ssd-480gb"},
]
RESULTS = Path("build/soak/crashes").absolute()


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


@pytest.mark.soak
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("file_system", ["xfs", "ext4"])
@pytest.mark.parametrize("engine", ["mariadb", "postgresql", "sqlite"])
def test_durable_commits_survive_cuts_and_kills(
    make: Maker, ground: Path, engine: str, file_system: str
) -> None:
    results = RESULTS / compiled.core_hash()[:12] / f"{engine}-{file_system}.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    while (done := len(lines(results))) < ROUNDS * len(ROUND):
        turn, begun = divmod(done, len(ROUND))
        folder = ground / f"turn-{done}"
        folder.mkdir(mode=0o755)
        spec = durable(engine) | DRIVES[turn % len(DRIVES)]
        spec |= {"program": pages(engine)} if turn % 2 else {}
        crashes(*(make, folder, ROUND[begun:], results), **spec, file_system=file_system, seed=done)
        assert lines(results)[-1]["holds"], lines(results)[-1]
    found = lines(results)
    print(summary(engine, file_system, found))
    assert all(crash["holds"] for crash in found), "an earlier run failed; see " + str(results)
    assert not any(crash["stuck"] for crash in found)


def summary(engine: str, file_system: str, found: list[dict[str, Any]]) -> str:
    """Return a row of docs/validation/crashes-emulated.md."""
    cuts = [cut for crash in found for cut in crash["cuts"]]
    kills = sum(crash["how"] == "kill" for crash in found)
    mounted = sorted(cut["mounted_ns"] / 1e9 for cut in cuts)
    seconds = sum(crash["seconds"] for crash in found)
    cells = [
        *(engine, file_system, len(cuts), sum(crash["in_recovery"] for crash in found), kills),
        *(sum(crash["ledger"]["lost"] for crash in found if "ledger" in crash),),
        *(sum(cut["lost_writes"] for cut in cuts), sum(cut["torn_writes"] for cut in cuts)),
        *(f"{median(mounted):.2f}", f"{mounted[-1]:.2f}", f"{60 * len(cuts) / seconds:.0f}"),
    ]
    return f"| {' | '.join(map(str, cells))} |"
