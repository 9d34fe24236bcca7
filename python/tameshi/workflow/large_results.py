"""Results of a large study: its cells in Parquet, and a small results.json that points at them.

A group is all runs of one combination of levels in one world. Its cells are computed once, and
again if one of its runs, the study's windows or the statistics change.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from tameshi import analysis
from tameshi.analysis import left_out, streams, unknown
from tameshi.analysis.deviations import ledger
from tameshi.analysis.published import published
from tameshi.analysis.results import ENDINGS, cells_of, heading_of
from tameshi.core import compiled
from tameshi.core.environment import tameshi_version
from tameshi.core.errors import BadInput
from tameshi.core.reasons import LEVELS, Reason, kind_of, verdict
from tameshi.core.spec_types import Summary
from tameshi.record.cell_files import CELLS, ESTIMATES, CellFiles, Row, level_columns
from tameshi.record.packs import StoredRuns

LARGE_VERSION = 3
"""Version of a results.json that points at its cells."""
PART_RUNS = 256
"""Runs whose cells are computed and stored at a time."""
MOST_LEVELS = 100
"""Levels of an axis that results.json lists; of more it has the number."""
MOST_REASONS = 20
"""Reasons of the study's verdict, each once whatever its amounts are."""

Levels = tuple[str, str]
"""World, and JSON of the levels across runs."""


@dataclass(frozen=True)
class Group:
    """Runs of one combination of levels, in the order of the plan."""

    levels: Levels
    identities: tuple[str, ...]
    key: str
    """Hash of what decides the cells of the group."""


class LargeResults:
    """Results of a packed study: tables of cells and estimates, and the small results.json."""

    def __init__(self, folder: Path, study: Summary) -> None:
        self.study = study
        self.files = CellFiles(folder, [axis.name for axis in study.axes])
        self._signature = _signature(study)

    def groups(self, runs: StoredRuns) -> list[Group]:
        """Return the groups of runs in the order of the plan."""
        members: dict[Levels, list[str]] = {}
        for identity in runs.identities:
            world, cell, _ = runs.levels_of(identity)
            members.setdefault((world, cell), []).append(identity)
        return [
            Group(levels, tuple(each), self._key(runs, each)) for levels, each in members.items()
        ]

    def _key(self, runs: StoredRuns, identities: Sequence[str]) -> str:
        parts = [self._signature, *(f"{each} {runs.status_of(each)}" for each in identities)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def update(self, runs: StoredRuns, expected: Mapping[Levels, int] | None = None) -> list[Group]:
        """Compute what the tables lack, and drop what no run is behind; return the groups.

        With the `expected` number of runs of each group, only full groups are computed.
        """
        groups = self.groups(runs)
        if expected is not None:
            groups = [g for g in groups if len(g.identities) == expected.get(g.levels)]
        self.files.keep([group.key for group in groups])
        for some in _portions(self.missing(groups)):
            identities = [each for group in some for each in group.identities]
            read = dict(zip(identities, runs.read(identities), strict=True))
            cells: list[Row] = []
            estimates: list[Row] = []
            for group in some:
                made = self._rows(group.key, [read[each] for each in group.identities])
                cells += made[0]
                estimates += made[1]
            self.files.add(cells, estimates)
        return groups

    def missing(self, groups: Iterable[Group]) -> list[Group]:
        """Return the groups whose cells are not in the tables."""
        there = self.files.keys
        return [group for group in groups if group.key not in there]

    def _rows(self, key: str, runs: Sequence[Any]) -> tuple[list[Row], list[Row]]:
        """Return the rows of a group in both tables."""
        specs = [run.spec for run in runs]
        facts = {"streams": streams.streams(specs), "left_out": left_out.left_out(specs)}
        cells, estimates = [], []
        for cell in cells_of(self.study, runs):
            document = json.dumps(cell, ensure_ascii=False)
            begin = {"key": key, "world": cell["world"], "phase": cell["phase"]}
            begin |= level_columns(cell["levels"])
            cells.append(
                {
                    **begin,
                    "verdict": cell["verdict"]["level"],
                    **cell["runs"],
                    "reasons": json.dumps(cell["verdict"]["reasons"], ensure_ascii=False),
                    "facts": json.dumps(facts, ensure_ascii=False),
                    "sha256": hashlib.sha256(document.encode(errors="replace")).hexdigest(),
                    "document": document.encode(errors="replace").decode(),
                }
            )
            estimates += [{**begin, **_estimate(each)} for each in cell["estimates"]]
        return cells, estimates

    def document(self, runs: StoredRuns, groups: Sequence[Group]) -> dict[str, Any]:
        """Return the content of results.json; see docs/large-studies.md."""
        study = self.study
        columns = ("key", "world", "phase", "verdict", "reasons", "facts", "sha256")
        table = self.files.cells(*columns)
        level, reasons = _reasons(table)
        facts = [json.loads(each) for each in _in_order(table, groups, "facts")]
        whole = [run for run in runs if not run.spec.unknown] if study.method else []
        cells = list(self.files.documents(g.key for g in groups)) if study.published else []
        return {
            "schema_version": LARGE_VERSION,
            "study": heading_of(study),
            "axes": [_axis(axis) for axis in study.axes],
            **unknown.settings_of(study),
            "worlds": table["world"].unique(maintain_order=True).sort().to_list(),
            "phases": list(dict.fromkeys(_in_order(table, groups, "phase"))),
            "streams": streams.merged(each["streams"] for each in facts),
            "tables": {
                CELLS: {"files": self.files.files[CELLS], "rows": table.height},
                ESTIMATES: {"files": self.files.files[ESTIMATES], "rows": self._estimates()},
                "sha256": _digest(table, groups),
            },
            "runs": _runs(runs),
            "verdicts": {each: (table["verdict"] == each).sum() for each in LEVELS},
            "reasons": reasons,
            "published": published(study, cells),
            "method": ledger(study, whole),
            "searches": [],
            "left_out": left_out.merged(each["left_out"] for each in facts),
            "verdict": verdict(level, *(each["reason"] for each in reasons[:MOST_REASONS])),
        }

    def _estimates(self) -> int:
        return int(self.files.estimates().select(pl.len()).collect().item())

    def read(self, runs: StoredRuns) -> dict[str, Any]:
        """Return the content of results.json without a change to the folder.

        Raises `BadInput` if the tables lack cells.
        """
        groups = self.groups(runs)
        if self.missing(groups) or len(self.files.keys) != len(groups):
            raise BadInput(
                "the tables of these results are older than its runs",
                where="results/",
                hint="Bring them up to date first: `tameshi report FOLDER` without other options.",
            )
        return self.document(runs, groups)


def _portions(groups: Iterable[Group]) -> Iterator[list[Group]]:
    """Yield the groups in lists of few runs, which are in memory together."""
    portion: list[Group] = []
    runs = 0
    for group in groups:
        if portion and runs + len(group.identities) > PART_RUNS:
            yield portion
            portion, runs = [], 0
        portion.append(group)
        runs += len(group.identities)
    if portion:
        yield portion


@cache
def _statistics() -> str:
    """Return a hash of the code that turns records into figures."""
    (place,) = analysis.__path__
    digest = hashlib.sha256(f"{tameshi_version()} {compiled.core_hash()}".encode())
    for path in sorted(Path(place).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _signature(study: Summary) -> str:
    """Return a hash of what decides the cells of a group besides its runs."""
    parts = {"windows", "published", "search", "unknown"}
    return hashlib.sha256(
        (_statistics() + study.model_dump_json(include=parts)).encode()
    ).hexdigest()


def _estimate(each: Mapping[str, Any]) -> Row:
    """Return the columns of an estimate."""
    sampling, model = each["sampling"], each["model"] or {}
    return {
        **{name: each[name] for name in ("subject", "metric", "window", "unit", "value")},
        **{name: sampling[name] for name in ("low", "high", "runs", "method")},
        "model_low": model.get("low"),
        "model_high": model.get("high"),
    }


def _axis(axis: Any) -> dict[str, Any]:
    entry = {"name": axis.name, "varies": axis.varies.value, "count": len(axis.levels)}
    return {**entry, "levels": axis.levels if len(axis.levels) <= MOST_LEVELS else []}


def _in_order(table: pl.DataFrame, groups: Sequence[Group], column: str) -> list[str]:
    """Return the distinct values of a column, in the order of groups and of cells in a group."""
    by_key: dict[str, list[str]] = {}
    for key, value in table.select("key", column).unique(maintain_order=True).iter_rows():
        by_key.setdefault(key, []).append(value)
    found: dict[str, None] = {}
    for group in groups:
        found |= dict.fromkeys(by_key.get(group.key, ()))
    return list(found)


def _digest(table: pl.DataFrame, groups: Sequence[Group]) -> str:
    """Return the hash of all cells in the order of the plan, whatever parts hold them."""
    by_key: dict[str, list[str]] = {}
    for key, digest in table.select("key", "sha256").iter_rows():
        by_key.setdefault(key, []).append(digest)
    digest = hashlib.sha256()
    for group in groups:
        digest.update("".join(by_key.get(group.key, ())).encode())
    return digest.hexdigest()


def _reasons(table: pl.DataFrame) -> tuple[str, list[dict[str, Any]]]:
    """Return the worst level, and each kind of reason with its number of cells, the worst
    first."""
    present = set(table["verdict"].unique().to_list())
    level = next((each for each in reversed(LEVELS) if each in present), LEVELS[0])
    first: dict[str, tuple[int, Reason]] = {}
    counts: Counter[str] = Counter()
    rows = table.filter(pl.col("reasons") != "[]").sort("sha256")
    for own, text in rows.select("verdict", "reasons").iter_rows():
        rank = LEVELS.index(own)
        kinds = {kind_of(reason): reason for reason in json.loads(text)}
        counts.update(kinds.keys())
        for kind, reason in kinds.items():
            if kind not in first or first[kind][0] < rank:
                first[kind] = rank, reason
    order = sorted(first, key=lambda kind: (-first[kind][0], -counts[kind], kind))
    return level, [{"reason": first[kind][1], "cells": counts[kind]} for kind in order]


def _runs(runs: StoredRuns) -> dict[str, int]:
    counts = Counter(map(runs.status_of, runs.identities))
    return {status: counts[status] for status in ENDINGS}
