"""300 failovers over the ways and events on served drives, resumable.

A run continues from the results of an earlier one of the same core, in `build/soak/failovers`.
Without `TAMESHI_GRID=full` it makes each combination once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from command import tameshi_process
from disks import unable
from served import left, only_hosts

from tameshi.core import compiled
from tameshi.pairs import EVENTS, WAYS
from tameshi.pairs.galera import MariaDBGalera, provider
from tameshi.pairs.trial import can_have

TRIALS = 300
DRIVES = "sata-ssd-480gb,nvme-tlc-1tb-consumer"
RESULTS = Path("build/soak/failovers").absolute()
COMBINED = [(way, event) for way in WAYS for event in EVENTS if can_have(WAYS[way], event)]
PLANTED = ("link-cut-then-kill", "split-brain")
"""Events by which a replication without a promise loses commits."""
REPETITIONS = -(-TRIALS // (2 * len(COMBINED))) if os.environ.get("TAMESHI_GRID") == "full" else 1


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("way", "event"), COMBINED, ids=[" ".join(each) for each in COMBINED])
def test_failovers_lose_only_what_no_way_promises(way: str, event: str) -> None:
    if isinstance(WAYS[way], MariaDBGalera) and not provider():
        unable("Galera's library is not installed")
    folder = RESULTS / compiled.core_hash()[:12] / f"{way}-{event}"
    with only_hosts():
        done = tameshi_process(
            *("failover", way, "--event", event, "--drive", DRIVES, "--before", "2s"),
            *("--repetitions", str(REPETITIONS), "--out", str(folder), "--json"),
        )
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads(done.stdout)
    assert results["made"] == results["planned"] == 2 * REPETITIONS
    for cell in results["cells"]:
        print(summary(cell))
        assert cell["holds"]
        # The drive of a block mirror is taken away at once: only commits before can be lost.
        planted = PLANTED[: 1 if "block-mirror" in way else 2]
        if not WAYS[way].promises and event in planted:
            assert min(cell["lost"]) > 0, "a planted loss was not found"
    assert left() == []


def summary(cell: dict[str, Any]) -> str:
    """Return a row of the soak's figures in docs/validation/pairs.md."""
    away = cell["away_ns"]
    if not away:
        return f"| {cell['way']} | {cell['event']} | {cell['drive']} | no outage |"
    times = f"{away['value'] / 1e6:.0f} ({away['low'] / 1e6:.0f}–{away['high'] / 1e6:.0f})"
    cells = [
        *(cell["way"], cell["event"], cell["drive"], cell["trials"]),
        *(f"{cell['acknowledged']:,}", f"{median(cell['lost']):,.0f}", f"{max(cell['lost']):,}"),
        *(max(cell["unexplained"]), times),
    ]
    return f"| {' | '.join(map(str, cells))} |"
