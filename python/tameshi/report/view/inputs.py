"""Inputs of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi.report.view.cell_table import CellTable


@dataclass(frozen=True)
class ReportInputs:
    """Results of a study and their context.

    `environments`: per world, keys and values (nested ones are flattened); the key `model` names
    the device of a simulated or emulated world. `reproduce`: command lines. `percentiles`: `{world,
    phase, levels, stream, operation, percentiles: [[fraction, ns], ..]}`. `series`: `{world, name,
    unit_key, t_s: [..], values: {label: [..]}}`; `unit_key` is a measure: `iops`, `bandwidth`,
    `latency.p99` ..; with events also the cell's `levels` and `marks: [{t_s, kind}]`. `slowest`:
    `{world, phase, levels, stream, operation, latency_ns, t_ns, offset, bytes}`. `tables`: cells of
    a large study by phase, whose `results` have none.
    """

    results: dict[str, Any]
    environments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reproduce: Sequence[str] = ()
    percentiles: Sequence[Mapping[str, Any]] = ()
    series: Sequence[Mapping[str, Any]] = ()
    slowest: Sequence[Mapping[str, Any]] = ()
    tables: Sequence[CellTable] = ()
