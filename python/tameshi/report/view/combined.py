"""Figures of reads and writes together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tameshi.analysis.stats import intervals
from tameshi.report.view.key_figures import MEAN
from tameshi.report.view.points import Levels, Point, View

ALL = "all"
"""Operation of a sum of several."""


def together(kinds: Sequence[Point]) -> Point:
    """Return operations of several kinds, summed in each run because they are correlated."""
    one = kinds[0]
    made = one_of(one.world, one.phase, one.levels, one.measure, sum(p.value for p in kinds))
    made = replace(made, subject=one.subject, runs=one.runs, sound=one.sound, faults=one.faults)
    runs = [run for run in one.by_repetition if all(run in p.by_repetition for p in kinds)]
    by_run = {run: sum(p.by_repetition[run] for p in kinds) for run in runs}
    if len(by_run) < 2:
        return replace(made, by_repetition=by_run)
    each = list(by_run.values())
    interval = intervals.of_runs(each)
    made = replace(made, value=intervals.centre(each), by_repetition=by_run, method=interval.method)
    return replace(made, low=interval.low, high=interval.high, degrees=interval.degrees)


def mean_latencies(view: View, world: str, phase: str) -> dict[Levels, Point]:
    """Return the mean latency of all reads and writes, weighted by their number."""
    by_levels: dict[Levels, dict[tuple[str, str], dict[str, float]]] = {}
    for point in view.in_phase(phase):
        if point.world == world and point.operation in ("read", "write"):
            stream = by_levels.setdefault(point.levels, {})
            stream.setdefault((point.subject, point.operation), {})[point.measure] = point.value
    means = {}
    for levels, streams in by_levels.items():
        known = [sums for sums in streams.values() if sums.get("iops") and MEAN in sums]
        if known:
            rate = sum(sums["iops"] for sums in known)
            mean = sum(sums["iops"] * sums[MEAN] for sums in known) / rate
            means[levels] = one_of(world, phase, levels, MEAN, mean)
    return means


def one_of(world: str, phase: str, levels: Levels, measure: str, value: float) -> Point:
    """Return a point derived from several estimates, without interval."""
    return Point(
        world=world,
        phase=phase,
        levels=levels,
        subject="",
        operation=ALL,
        measure=measure,
        value=value,
        low=None,
        high=None,
        runs=0,
        method="",
        degrees=None,
        scale=None,
        operations=None,
        model=None,
        outside_model=False,
        sound=True,
    )
