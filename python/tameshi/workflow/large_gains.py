"""Gains that the question of a large study asks for, with the model's error of the median pair."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from tameshi.analysis import model_ratio
from tameshi.analysis.stats.gains import gain
from tameshi.analysis.stats.sensitivity import MOST_LEVELS
from tameshi.core.spec_types import Summary
from tameshi.record.cell_files import CELLS, FOLDER
from tameshi.report.view.cell_table import Load, LoadGain, SettingColumn

MOST_GAINS = 3
"""Gains of a load, the largest, if the study names none."""
SAME = 0.02
"""Gain of a rate, as a logarithm, below which the latency is compared: of an open loop."""
RATE = "rate"


class Asked(NamedTuple):
    """Level and its base, as the study's answer compares them."""

    axis: str
    level: str
    base: str
    at: Mapping[str, str] = {}
    metric: str | None = None
    subject: str | None = None


class Cells(NamedTuple):
    """Cells of one phase: their place in the tables, and the levels of each."""

    folder: Path
    world: str
    phase: str
    columns: Mapping[str, str]
    """Column of each axis."""
    levels: Mapping[str, Sequence[str]]
    """Level of every cell by axis."""


def gains_of(
    study: Summary, cells: Cells, settings: Sequence[SettingColumn], loads: Sequence[Load]
) -> list[LoadGain]:
    """Return the gains of each load: those that the study asks for, else the largest."""
    named = list(_asked(study, cells.levels))
    found = []
    for load in loads:
        own = [each for each in named if _is_of(each, load)]
        asked = own or list(_usual(cells.levels, settings))
        compared = [each for each in (_gain(load, one, cells) for one in asked) if each]
        if not own:
            compared.sort(key=lambda each: -abs(math.log(each.gain.ratio)))
            compared = compared[:MOST_GAINS]
        found += compared
    return _modelled(cells, found)


def _asked(study: Summary, levels: Mapping[str, Sequence[str]]) -> Iterator[Asked]:
    """Yield the comparisons of the study's answer."""
    answer = study.answer
    if answer is None:
        return
    for axis, pairs in (answer.levels or {}).items():
        for level, base in pairs.items():
            if axis in levels:
                yield Asked(axis, level, str(base), {}, answer.metric, answer.subject)
    for table in answer.table or ():
        of = table.metric or answer.metric, table.subject or answer.subject
        for axis, base in (table.base or {}).items():
            for level in dict.fromkeys(levels.get(axis, ())):
                if level != base:
                    yield Asked(axis, level, str(base), table.at or {}, *of)


def _is_of(asked: Asked, load: Load) -> bool:
    """Return whether a load has the metric that is asked for."""
    if asked.subject not in (None, load.subject):
        return False
    return asked.metric in (None, load.rate_metric, f"{load.operation}.{load.measure}")


def _usual(
    levels: Mapping[str, Sequence[str]], settings: Sequence[SettingColumn]
) -> Iterator[Asked]:
    """Yield each level of an axis with the first; of numbers, the last with the first."""
    kinds = {each.name: each.kind for each in settings}
    for axis, own in levels.items():
        there = list(dict.fromkeys(each for each in own if each is not None))
        if axis not in kinds or not len(there) >= 2:
            continue
        if kinds[axis] != "label":
            numbers = next(each for each in settings if each.name == axis)
            known = zip(map(float, numbers.values), own, strict=True)
            order = sorted({pair for pair in known if math.isfinite(pair[0])})
            yield Asked(axis, order[-1][1], order[0][1])
        elif len(there) <= MOST_LEVELS:
            yield from (Asked(axis, level, there[0]) for level in there[1:])


def _gain(load: Load, asked: Asked, cells: Cells) -> LoadGain | None:
    measures = [(RATE, load.rate), (load.measure, load.latency)]
    if asked.metric == f"{load.operation}.{load.measure}":
        measures.reverse()
    found: LoadGain | None = None
    for measure, figures in measures:
        sides = asked.level, asked.base
        made = gain(figures, cells.levels, asked.axis, sides, asked.at)
        if made is None:
            continue
        found = LoadGain(load.subject, load.operation, measure, asked.axis, *sides, made)
        if asked.metric or abs(math.log(made.ratio)) >= SAME:
            break
    return found


def _modelled(cells: Cells, gains: Sequence[LoadGain]) -> list[LoadGain]:
    """Return the gains with the error of the model, of the median pair of each."""
    rows = sorted({row for each in gains for row in each.gain.rows})
    documents = dict(zip(rows, _documents(cells, rows), strict=True))
    return [each.with_model(_model(each, documents)) for each in gains]


def _model(
    each: LoadGain, documents: Mapping[int, Mapping[str, Any] | None]
) -> tuple[float, float] | None:
    top, bottom = (_estimate(each, documents[row]) for row in each.gain.rows)
    if top is None or bottom is None:
        return None
    sides = ((of["value"], of["model"] or {}) for of in (top, bottom))
    return model_ratio.of(top["metric"], *sides)


def _estimate(each: LoadGain, document: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the estimate of a cell that a gain compares."""
    for estimate in document["estimates"] if document else ():
        operation, _, measure = estimate["metric"].partition(".")
        is_measure = (
            measure in ("iops", "rate") if each.measure == RATE else measure == each.measure
        )
        is_own = estimate["subject"] == each.subject and operation == each.operation
        if is_own and is_measure and estimate["window"] == document["phase"]:  # type: ignore[index]
            return dict(estimate)
    return None


def _documents(cells: Cells, rows: Sequence[int]) -> list[Mapping[str, Any] | None]:
    """Return some cells as results.json of a small study holds them, from the parts that have
    them."""
    if not rows:
        return []
    folder = cells.folder / FOLDER / CELLS
    wanted = pl.DataFrame(
        {
            column: [cells.levels[axis][row] for row in rows]
            for axis, column in cells.columns.items()
        }
        | {"row": list(rows)},
        schema_overrides=dict.fromkeys(cells.columns.values(), pl.String),
    )
    own = (pl.col("world") == cells.world) & (pl.col("phase") == cells.phase)
    names = list(cells.columns.values())
    place = pl.scan_parquet(folder / "*.parquet", include_file_paths="part").filter(own)
    there = place.select("part", *names).collect()
    joined = wanted.join(there, on=names, how="inner", nulls_equal=True) if names else there
    found: dict[int, Mapping[str, Any]] = {}
    for part in joined["part"].unique().to_list():
        read = pl.scan_parquet(part).filter(own).select(*names, "document")
        held = read.collect().join(wanted, on=names, how="inner", nulls_equal=True)
        for row, document in held.select("row", "document").iter_rows():
            found[row] = json.loads(document)
    return [found.get(row) for row in rows]
