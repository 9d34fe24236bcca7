"""Side of a comparison: a study folder, or a results.json alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from polars.exceptions import PolarsError

from tameshi.core.errors import BadInput, unknown_version
from tameshi.record import store
from tameshi.record.cell_files import CELLS, scan
from tameshi.record.packs import Packs, StoredRuns
from tameshi.record.seal import is_packed
from tameshi.record.store import DamagedRun, SealedRun

READABLE = (1, 2)
"""Versions of results.json that can be compared, besides that of large studies."""
LARGE = 3
MOST_CELLS = 2000
"""Cells of a large study that are compared: all judgements are in memory, and in the report."""
ACCEPTED = ("a folder that `tameshi run` made", "a results.json")

Levels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Side:
    """Results, with their runs if available."""

    path: str
    results: Mapping[str, Any]
    runs: Sequence[SealedRun]

    def cells(self, world: str) -> dict[tuple[str, Levels], Mapping[str, Any]]:
        """Return the cells of one world by phase and levels."""
        return {
            (cell["phase"], in_order(cell["levels"])): cell
            for cell in self.results["cells"]
            if cell["world"] == world
        }

    def worlds(self) -> list[str]:
        """Return the side's worlds in order."""
        return list(dict.fromkeys(cell["world"] for cell in self.results["cells"]))

    def runs_of(self, world: str, phase: str, levels: Levels) -> dict[int, tuple[SealedRun, int]]:
        """Return by repetition the runs of a cell and the index of its phase in each."""
        return self._by_cell.get((world, phase, levels), {})

    @cached_property
    def _by_cell(self) -> Mapping[tuple[str, str, Levels], dict[int, tuple[SealedRun, int]]]:
        found: dict[tuple[str, str, Levels], dict[int, tuple[SealedRun, int]]] = {}
        for run in self.runs:
            if run.spec.unknown:
                continue
            for index, spec in enumerate(run.spec.phases):
                levels = in_order({**run.spec.cell, **spec.levels})
                key = (run.spec.world.value, spec.name, levels)
                found.setdefault(key, {})[run.spec.repetition] = (run, index)
        return found


def in_order(levels: Mapping[str, Any]) -> Levels:
    """Return levels as a value independent of the order of the axes."""
    return tuple(sorted((str(axis), str(label)) for axis, label in levels.items()))


def read_side(path: Path) -> Side:
    """Read one side; raises `BadInput` if it is no result of a study."""
    file = path / "results.json" if path.is_dir() else path
    results = _read_json(file, path)
    if isinstance(results, dict) and "tables" in results:
        return large_side(str(path), file.parent, results, _read_runs(file.parent))
    if not isinstance(results, dict) or not isinstance(results.get("cells"), list):
        raise BadInput("this holds no results of a study", where=str(file), accepted=ACCEPTED)
    _require_version(file, results, READABLE)
    return Side(str(path), results, _read_runs(file.parent))


def large_side(
    path: str, folder: Path, results: Mapping[str, Any], runs: Sequence[SealedRun]
) -> Side:
    """Return a side whose cells are in Parquet; raise `BadInput` for too many, or none there."""
    file = folder / "results.json"
    _require_version(file, results, (LARGE,))
    rows = results["tables"][CELLS]["rows"]
    if rows > MOST_CELLS:
        raise BadInput(
            "these are too many cells to compare one by one",
            where=str(file),
            found=f"{rows} cells",
            accepted=[f"at most {MOST_CELLS} cells"],
            hint="Join the tables in results/estimates by their levels instead.",
        )
    try:
        documents = scan(folder, CELLS).select("document").collect()["document"] if rows else ()
    except (OSError, PolarsError) as error:
        raise BadInput(
            "the tables of these results are missing or damaged",
            where=str(folder / "results"),
            found=" ".join(str(error).split()),
            hint="Bring them up to date first: `tameshi report FOLDER`.",
        ) from None
    return Side(path, {**results, "cells": list(map(json.loads, documents))}, runs)


def _require_version(file: Path, results: Mapping[str, Any], known: Sequence[int]) -> None:
    if results.get("schema_version") not in known:
        message = "these results have a form that is not known"
        raise unknown_version(message, str(file), results.get("schema_version"), known)


def _read_json(file: Path, given: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError:
        message = "this is no study folder and no results.json"
        raise BadInput(message, where=str(given), accepted=ACCEPTED) from None
    except ValueError as error:
        raise BadInput("this is not JSON", where=str(file), found=str(error)) from None


def _read_runs(folder: Path) -> Sequence[SealedRun]:
    """Return the runs of a results.json; empty if it is alone."""
    try:
        order = [str(each) for each in json.loads((folder / "order.json").read_bytes())]
    except (OSError, ValueError):
        return []
    packs = Packs(folder) if is_packed(folder) else None
    loose = {}
    for identity in order:
        if packs and identity in packs.places:
            continue
        # A damaged run has no facts; results.json lists it as excluded.
        with suppress(DamagedRun):
            if run := store.read_run(store.run_folder(folder, identity)):
                loose[identity] = run
    return StoredRuns(packs, loose, order) if packs else list(loose.values())
