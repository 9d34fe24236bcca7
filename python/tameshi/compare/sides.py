"""Side of a comparison: a study folder, or a results.json alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput, unknown_version
from tameshi.record import store
from tameshi.record.store import DamagedRun, SealedRun

READABLE = (1, 2)
"""Versions of results.json that can be compared."""
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
        by_repetition = {}
        for run in self.runs:
            for index, spec in enumerate(run.spec.phases):
                same = run.spec.world.value == world and spec.name == phase
                if (
                    same
                    and not run.spec.unknown
                    and in_order({**run.spec.cell, **spec.levels}) == levels
                ):
                    by_repetition[run.spec.repetition] = (run, index)
        return by_repetition


def in_order(levels: Mapping[str, Any]) -> Levels:
    """Return levels as a value independent of the order of the axes."""
    return tuple(sorted((str(axis), str(label)) for axis, label in levels.items()))


def read_side(path: Path) -> Side:
    """Read one side; raises `BadInput` if it is no result of a study."""
    file = path / "results.json" if path.is_dir() else path
    results = _read_json(file, path)
    if isinstance(results, dict) and "tables" in results:
        raise refusal_of_large(str(file))
    if not isinstance(results, dict) or not isinstance(results.get("cells"), list):
        raise BadInput("this holds no results of a study", where=str(file), accepted=ACCEPTED)
    if results.get("schema_version") not in READABLE:
        message = "these results have a form that is not known"
        raise unknown_version(message, str(file), results.get("schema_version"), READABLE)
    return Side(str(path), results, _read_runs(file.parent))


def refusal_of_large(where: str) -> BadInput:
    """Return the refusal of results whose cells are in Parquet."""
    return BadInput(
        "these are results of a large study, whose cells are in Parquet",
        where=where,
        accepted=["results with cells in results.json"],
        hint="Join the tables in results/estimates by their levels instead.",
    )


def _read_json(file: Path, given: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except OSError:
        message = "this is no study folder and no results.json"
        raise BadInput(message, where=str(given), accepted=ACCEPTED) from None
    except ValueError as error:
        raise BadInput("this is not JSON", where=str(file), found=str(error)) from None


def _read_runs(folder: Path) -> list[SealedRun]:
    """Return the runs of a results.json; empty if it is alone."""
    try:
        order = json.loads((folder / "order.json").read_bytes())
    except (OSError, ValueError):
        return []
    runs = []
    for identity in order:
        # A damaged run has no facts; results.json lists it as excluded.
        with suppress(DamagedRun):
            run = store.read_run(store.run_folder(folder, str(identity)))
            runs += [run] if run else []
    return runs
