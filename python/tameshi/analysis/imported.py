"""Cells of imported runs: figures that another tool computed, in place of counters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tameshi.analysis.series import Frames, Stretch
from tameshi.analysis.stats import intervals
from tameshi.analysis.stats.estimates import Estimate, WindowData
from tameshi.analysis.stats.intervals import Interval
from tameshi.core import compiled
from tameshi.record.store import SealedRun

SUMMARY_ONLY = "summary_only"
"""Code of the method: one run, of which the other tool states the figure alone."""
RATE_OF = {"transaction.rate": "transaction.count", "statement.rate": "statement.count"}
"""Rates with the counter of their recorded intervals."""


def is_imported(runs: Sequence[SealedRun]) -> bool:
    """Return whether the runs of a cell were imported."""
    return any("imported" in run.environment for run in runs)


def imported_estimates(
    phase: str, parts: Iterable[tuple[SealedRun, Stretch]], frames: Mapping[Any, Frames]
) -> list[Estimate]:
    """Return the estimates of a cell from the figures of its runs."""
    values: dict[tuple[str, str], dict[int, float]] = {}
    operations: dict[tuple[str, str], int] = {}
    windows: dict[str, list[WindowData]] = {}
    for run, part in parts:
        repetition = run.spec.repetition
        index = next(n for n, each in enumerate(run.spec.phases) if each.name == phase)
        for figure in run.figures():
            if figure["phase"] != phase:
                continue
            key = (figure["subject"], figure["metric"])
            values.setdefault(key, {})[repetition] = figure["value"]
            if "operations" in figure:
                operations[key] = operations.get(key, 0) + figure["operations"]
        for subject in {subject for subject, _ in values}:
            window = frames[run.folder].window(repetition, index, subject, part)
            windows.setdefault(subject, []).append(window)
    units = {metric["name"]: metric["unit"] for metric in compiled.metrics()}
    return [
        Estimate(
            metric,
            subject,
            _centre(metric, list(of_runs.values())),
            units.get(metric, "ns"),
            _sampling(metric, of_runs, windows.get(subject, ())),
            of_runs,
            operations=operations.get((subject, metric)),
        )
        for (subject, metric), of_runs in values.items()
    ]


def _centre(metric: str, values: Sequence[float]) -> float:
    return max(values) if metric.endswith(".max") else intervals.centre(values)


def _sampling(metric: str, of_runs: Mapping[int, float], windows: Sequence[WindowData]) -> Interval:
    """Return the interval over runs, or within the only one if it has recorded intervals."""
    values = list(of_runs.values())
    if metric.endswith(".max"):
        return intervals.none("extreme", len(values))
    if len(values) > 1:
        return intervals.of_runs(values)
    counter = RATE_OF.get(metric, "")
    for window in windows:
        if counts := window.counters.get(counter):
            return intervals.within(counts, window.lengths_ns, values[0])
    return intervals.none(SUMMARY_ONLY)
