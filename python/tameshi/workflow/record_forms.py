"""Form of a study's records: folders, or Parquet for many runs."""

from __future__ import annotations

from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.core.spec_types import World
from tameshi.record.seal import is_packed
from tameshi.workflow.prepare import Prepared

AUTO, FOLDERS, PARQUET = "auto", "folders", "parquet"
FORMS = (AUTO, FOLDERS, PARQUET)
"""Forms of records: `auto` chooses by the number of runs."""
OPTION = "--records"
MANY_RUNS = 2000
"""Simulated runs from which on `auto` packs records: as folders they would be 16,000 files."""


def wants_packs(asked: str, folder: Path | None) -> bool:
    """Return whether a study's records will be packed, however many runs it has; None is a new
    folder."""
    return asked == PARQUET or (asked != FOLDERS and folder is not None and is_packed(folder))


def form_of(asked: str, prepared: Prepared, folder: Path | None) -> str:
    """Return the form of a study's records; raise `BadInput` for one that it can't have.

    A folder keeps the form that it began with, except that `parquet` packs what is there; None is
    a new folder.
    """
    if asked not in FORMS:
        raise BadInput("unknown form of records", where=OPTION, found=asked, accepted=FORMS)
    has_packs = folder is not None and is_packed(folder)
    if asked == FOLDERS and has_packs:
        raise BadInput(
            "the records of this folder are in Parquet",
            where=OPTION,
            found=asked,
            accepted=[AUTO, PARQUET],
            hint="--fresh begins anew; `tameshi report --unpack DIR` writes folders of its runs.",
        )
    searches = any(planned.study.search for planned in prepared.plans.values())
    if searches and (asked == PARQUET or has_packs):
        message = "a study with a search keeps its records in folders"
        hint = "--fresh begins anew." if has_packs else ""
        raise BadInput(message, where=OPTION, found=asked, accepted=[AUTO, FOLDERS], hint=hint)
    simulated = prepared.plans.get(World.simulated)
    is_large = simulated is not None and len(simulated.runs) > MANY_RUNS
    wants = asked == PARQUET or has_packs or (asked == AUTO and is_large and not searches)
    return PARQUET if wants else FOLDERS
