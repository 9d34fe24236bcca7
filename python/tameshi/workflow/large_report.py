"""Inputs of the report of a large study, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tameshi.analysis.results import SIMULATED
from tameshi.core.spec_types import Summary
from tameshi.record.cell_files import ESTIMATES, level_columns, scan
from tameshi.record.packs import StoredRuns
from tameshi.report.view.cell_table import CellTable, Load, SettingColumn
from tameshi.report.view.inputs import ReportInputs
from tameshi.study.settings import settings_of
from tameshi.workflow.large_gains import Cells, gains_of
from tameshi.workflow.prices import costs, read_prices

MOST_PHASES = 3
MOST_LOADS = 4
"""Loads of a phase that the report shows."""
RATES = ("iops", "rate")
LATENCIES = ("latency.p99", "latency.mean")
"""Measures of latency; the first that a load has."""
OPERATIONS = ("read", "write", "commit", "transaction", "sync", "trim")
SEPARATOR = "\t"
VALUES = ["value", "model_low", "model_high"]
"""Columns of estimates that the report reads."""
VALUE = "value_"


def large_inputs(
    folder: Path,
    study: Summary,
    text: str,
    found: dict[str, Any],
    runs: StoredRuns,
    reproduce: Sequence[str],
) -> ReportInputs:
    """Return what the report of a large study shows; `text`: the study as written."""
    environments: dict[str, Mapping[str, Any]] = {}
    for run in runs[:1]:
        shown = {k: v for k, v in run.environment.items() if k not in ("identity", "findings")}
        environments[run.spec.world.value] = shown
    return ReportInputs(
        results=found,
        environments=environments,
        reproduce=reproduce,
        tables=list(cell_tables(folder, study, text, found)),
    )


def cell_tables(
    folder: Path, study: Summary, text: str, found: Mapping[str, Any]
) -> Iterator[CellTable]:
    """Yield the cells of each phase of the first world that have estimates."""
    worlds, phases = found["worlds"], found["phases"]
    if not worlds:
        return
    axes = {axis.name: axis.levels for axis in study.axes}
    columns = {axis: next(iter(level_columns({axis: ""}))) for axis in axes}
    metrics = [f"{op}.{measure}" for op in OPERATIONS for measure in (*RATES, *LATENCIES)]
    world = SIMULATED if SIMULATED in worlds else worlds[0]
    table = scan(folder, ESTIMATES).filter(
        pl.col("world") == world,
        pl.col("window") == pl.col("phase"),
        pl.col("metric").is_in(metrics),
        # Types of transactions are parts of their program.
        ~(pl.col("metric").str.starts_with("transaction") & pl.col("subject").str.contains(r"\.")),
    )
    kept = table.select("phase", *columns.values(), "subject", "metric", *VALUES).collect()
    for phase in phases[:MOST_PHASES]:
        rows = kept.filter(pl.col("phase") == phase)
        if rows.height:
            made = _table(folder, text, phase, axes, columns, rows)
            cells = Cells(folder, world, phase, columns, made[1])
            gains = gains_of(study, cells, made[0].settings, made[0].loads)
            yield replace(made[0], gains=gains)


def _table(
    folder: Path,
    text: str,
    phase: str,
    axes: Mapping[str, Sequence[str]],
    columns: Mapping[str, str],
    rows: pl.DataFrame,
) -> tuple[CellTable, Mapping[str, Sequence[str]]]:
    """Return the cells of a phase, and the level of each by axis."""
    name = pl.concat_str("subject", "metric", separator=SEPARATOR).alias("figure")
    index = list(columns.values())
    wide = rows.with_columns(name).pivot(
        "figure", index=index or ["phase"], values=VALUES, aggregate_function="first"
    )
    wide = wide.sort(index or ["phase"])  # Parts have no order.
    levels = {axis: wide[column].to_list() for axis, column in columns.items()}
    settings = [
        SettingColumn(each.name, each.kind, _numbers(each.values, levels[each.axis]), each.words)
        for each in settings_of(text, {a: _present(axes[a], levels[a]) for a in axes})
    ]
    cost = costs(read_prices(folder), settings, levels)
    return CellTable(phase, wide.height, settings, list(_loads(wide))[:MOST_LOADS], cost), levels


def _present(levels: Sequence[str], own: Sequence[str | None]) -> list[str]:
    there = set(own)
    return [level for level in levels if level in there]


def _numbers(values: Mapping[str, float], levels: Sequence[str | None]) -> Any:
    return np.array([values.get(level or "", np.nan) for level in levels], float)


def _loads(wide: pl.DataFrame) -> Iterator[Load]:
    """Yield each operation that has a rate and a latency."""
    names = [name.removeprefix(VALUE) for name in wide.columns if name.startswith(VALUE)]
    pairs = sorted({_load_of(n) for n in names}, key=lambda p: (p[0], OPERATIONS.index(p[1])))
    for subject, operation in pairs:
        own = {m: f"{subject}{SEPARATOR}{operation}.{m}" for m in (*RATES, *LATENCIES)}
        rate = next((m for m in RATES if own[m] in names), None)
        measure = next((m for m in LATENCIES if own[m] in names), None)
        if rate and measure:
            read = {m: [_column(wide, f"{of}_{own[m]}") for of in VALUES] for m in (rate, measure)}
            (rates, *of_rate), (latencies, *of_latency) = read[rate], read[measure]
            yield Load(
                *(subject, operation, rates, latencies, measure),
                rate_metric=f"{operation}.{rate}",
                rate_model=(of_rate[0], of_rate[1]),
                latency_model=(of_latency[0], of_latency[1]),
            )


def _column(wide: pl.DataFrame, name: str) -> Any:
    return wide[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def _load_of(name: str) -> tuple[str, str]:
    subject, _, metric = name.partition(SEPARATOR)
    return subject, metric.partition(".")[0]
