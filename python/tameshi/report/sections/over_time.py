"""Time series: databases by cell, and drives over the bytes written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean
from typing import Any

import polars as pl

NANOSECONDS = 1e9
GB = 1e9
QPS, HITS, READS, WRITES = ("statements", "hit_ratio", "reads", "writes")
DIRTY, AGE = ("dirty", "checkpoint_age")
UNITS = {HITS: "share", DIRTY: "bytes", AGE: "bytes"}
"""Units of quantities that are not rates."""


@dataclass(frozen=True)
class RunWindow:
    """Window of a run with its series; `cell` holds the cell's levels."""

    world: str
    cell: Sequence[str]
    window: Mapping[str, Any]
    interval_s: float
    series: pl.DataFrame


def database_series(runs: Iterable[RunWindow]) -> Iterator[dict[str, Any]]:
    """Return the mean of each cell's runs over time, with minimum and maximum.

    Times run from the start of the window's phase including its ramp, in whole intervals.
    """
    groups: dict[tuple[str, str, str], dict[str, list[dict[float, float]]]] = {}
    for run in runs:
        begin, end = run.window["phase_begin_ns"], run.window["end_ns"]
        inside = run.series.filter(pl.col("t_ns") > begin, pl.col("t_ns") - pl.col("dt_ns") < end)
        name = str(run.window["name"])
        for quantity, values in _quantities(inside, begin, run.interval_s):
            lines = groups.setdefault((run.world, name, quantity), {})
            if values:
                lines.setdefault(" ".join(run.cell) or name, []).append(values)
    for (world, phase, quantity), lines in groups.items():
        times = sorted({t for runs in lines.values() for values in runs for t in values})
        # A quantity that stays zero needs no plot.
        if any(value for runs in lines.values() for values in runs for value in values.values()):
            yield {
                "world": world,
                "name": f"{phase}, {quantity}",
                "quantity": quantity,
                "unit_key": UNITS.get(quantity, "iops"),
                "t_s": times,
                "values": {name: _over(runs, times, fmean) for name, runs in lines.items()},
                "low": {name: _over(runs, times, min) for name, runs in lines.items()},
                "high": {name: _over(runs, times, max) for name, runs in lines.items()},
                "runs": max(len(runs) for runs in lines.values()),
            }


def over_written(series: pl.DataFrame, window: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return writes per second against the bytes written since the phase began, in GB.

    None without writes. `series` are of one run; the ramp's bytes count.
    """
    during = (
        (pl.col("t_ns") > first) & (pl.col("t_ns") <= last) for first, last in window["visits"]
    )
    load = series.filter(pl.col("source") == "load", pl.any_horizontal(*during))

    def each(metric: str) -> dict[int, tuple[float, int]]:
        summed = load.filter(metric=metric).group_by("t_ns")
        rows = summed.agg(pl.col("value").sum(), pl.col("dt_ns").max()).iter_rows()
        return {t: (value, dt) for t, value, dt in rows}

    sizes, counts = each("write.bytes"), each("write.count")
    times = sorted(sizes.keys() & counts.keys())
    if not times:
        return None
    rates = [counts[t][0] / counts[t][1] * NANOSECONDS for t in times]
    written = accumulate(sizes[t][0] / GB for t in times)
    return {
        "name": window["name"],
        "over": "written",
        "unit_key": "iops",
        "t_s": list(written),
        "values": {"write": rates},
    }


def _over(
    runs: Sequence[Mapping[float, float]], times: Iterable[float], take: Any
) -> list[float | None]:
    """Return `take` of all runs' values at each time; None without a value."""
    samples = ([run[t] for run in runs if t in run] for t in times)
    return [take(values) if values else None for values in samples]


def _quantities(
    series: pl.DataFrame, begin_ns: int, interval_s: float
) -> Iterator[tuple[str, dict[float, float]]]:
    def at(t_ns: int) -> float:
        """Return the interval of a time: samples of server and disk come slightly after the
        load's."""
        nearest = math.floor((t_ns - begin_ns) / NANOSECONDS / interval_s + 0.5)
        return round(nearest * interval_s, 3)

    def rate(frame: pl.DataFrame, metric: str) -> dict[float, float]:
        sums = frame.filter(metric=metric).group_by("t_ns")
        summed = sums.agg(pl.col("value").sum(), pl.col("dt_ns").max()).sort("t_ns")
        rows = ((t, v, dt) for t, v, dt in summed.iter_rows() if dt / NANOSECONDS > interval_s / 2)
        return {at(t): value * NANOSECONDS / dt for t, value, dt in rows}

    def state(metric: str) -> dict[float, float]:
        rows = server.filter(metric=metric).select("t_ns", "value").iter_rows()
        return {at(t): value for t, value in rows}

    server = series.filter(source="server")
    disk = series.filter(source="sampler")
    yield QPS, rate(series.filter(source="load"), "statement.count")
    yield HITS, state("server.hit_ratio")
    yield READS, rate(server, "server.reads") or rate(disk, "disk.reads")
    yield WRITES, rate(server, "server.writes") or rate(disk, "disk.writes")
    yield DIRTY, state("server.dirty_bytes")
    yield AGE, state("server.checkpoint_age_bytes")
