"""Folders of packed runs, written for those who need them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tameshi import guard
from tameshi.core.errors import BadInput
from tameshi.record import store
from tameshi.record.packs import StoredRuns, batched
from tameshi.record.transfer import write_record
from tameshi.workflow import study_folder

READ_RUNS = 64
OPTION = "--unpack"


def unpack(folder: Path, place: Path, levels: Mapping[str, str]) -> int:
    """Write the folders of packed runs with these levels to `place`; return their number.

    Raises `BadInput` if the study has no packs, or no run has the levels.
    """
    study_folder.read_summary(folder)
    runs = study_folder.read_runs(folder).runs
    if not isinstance(runs, StoredRuns):
        found = str(folder / "runs")
        raise BadInput("the records of this study are folders already", where=OPTION, found=found)
    packed = [each for each in runs.identities if each not in runs.loose]
    wanted = [each for each in packed if _matches(runs, each, levels)]
    if not wanted:
        asked = ", ".join(f"{axis}={level}" for axis, level in levels.items())
        raise BadInput("no packed run has these levels", where="--cell", found=asked)
    guard.claim_folder(place)
    for some in batched(wanted, READ_RUNS):
        for identity, run in zip(some, runs.read(some), strict=True):
            write_record(store.run_folder(place, identity), run.content or {})
    return len(wanted)


def _matches(runs: StoredRuns, identity: str, levels: Mapping[str, str]) -> bool:
    _, cell, unknown = runs.levels_of(identity)
    own = {**json.loads(cell), **json.loads(unknown)}
    return all(own.get(axis) == level for axis, level in levels.items())
