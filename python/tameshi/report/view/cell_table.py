"""Cells of a large study as columns: settings, and figures of each load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tameshi.analysis.stats.gains import Gain
from tameshi.analysis.stats.sensitivity import MainEffect, main_effects
from tameshi.core.units import format_value

LABEL = "label"


@dataclass(frozen=True)
class SettingColumn:
    """Setting of each cell as a number; of words, their places in `words`."""

    name: str
    kind: str
    values: Any
    words: Sequence[str] = ()

    def shown(self, value: float) -> str:
        """Return a value in words."""
        if self.kind == LABEL:
            return self.words[int(value)]
        return f"{value:g}" if self.kind == "number" else format_value(self.kind, value)


@dataclass(frozen=True)
class Load:
    """Operation of a stream or program: its figures in each cell, NaN where there is none."""

    subject: str
    operation: str
    rate: Any
    latency: Any
    measure: str
    """Measure of the latency: `latency.p99`, or the mean if there is no percentile."""
    rate_metric: str = ""
    """Metric of the rate: `read.iops`."""
    rate_model: tuple[Any, Any] | None = None
    latency_model: tuple[Any, Any] | None = None
    """Ends of the model's error in each cell, NaN where there is none."""

    def model(self, row: int, measure: str) -> tuple[float, float] | None:
        """Return the model's error of a cell's rate or latency; None without one."""
        ends = self.rate_model if measure == "rate" else self.latency_model
        if ends is None or not all(np.isfinite(each[row]) for each in ends):
            return None
        return float(ends[0][row]), float(ends[1][row])


@dataclass(frozen=True)
class LoadGain:
    """Gain of a level of a setting over another in one figure of a load."""

    subject: str
    operation: str
    measure: str
    """`rate`, or the measure of the latency."""
    setting: str
    level: str
    base: str
    gain: Gain
    model: tuple[float, float] | None = None

    def with_model(self, model: tuple[float, float] | None) -> LoadGain:
        """Return the gain with the error of its model."""
        return replace(self, model=model)


@dataclass(frozen=True)
class CellTable:
    """Cells of one phase."""

    phase: str
    rows: int
    settings: Sequence[SettingColumn]
    loads: Sequence[Load]
    cost: Any | None = None
    """Cost of each cell, if the user gave prices."""
    gains: Sequence[LoadGain] = ()
    """Gains that the question asks for, or the largest."""

    @cached_property
    def effects(self) -> dict[tuple[str, str, str], list[MainEffect]]:
        """Effect of each setting by subject, operation and measure."""
        columns = [each.values for each in self.settings]
        found = {}
        for load in self.loads:
            for measure, values in (("rate", load.rate), (load.measure, load.latency)):
                effects = main_effects(columns, values) if columns else None
                if effects:
                    found[load.subject, load.operation, measure] = effects
        return found

    def named(self, row: int) -> list[tuple[str, str]]:
        """Return name and value of each setting of a cell."""
        return [(each.name, each.shown(each.values[row])) for each in self.settings]
