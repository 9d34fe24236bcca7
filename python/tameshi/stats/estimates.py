"""Estimates of one cell: rates, bandwidths and latencies of each stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tameshi.stats import intervals
from tameshi.stats.intervals import Interval

OPERATIONS = ("read", "write", "sync", "commit")
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
NANOSECONDS = 1e9


@dataclass(frozen=True)
class WindowData:
    """One run's window of one stream.

    `counters[metric]` holds one value for each recorded interval, `lengths_ns` their lengths in the
    same order; `latencies[operation]` the window's latency statistics in ns.
    """

    length_ns: int
    lengths_ns: Sequence[int]
    counters: Mapping[str, Sequence[float]]
    latencies: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Estimate:
    """A value and how sure it is."""

    metric: str
    subject: str
    value: float
    unit: str
    sampling: Interval


def estimates(subject: str, runs: Sequence[WindowData]) -> list[Estimate]:
    """Every metric that the stream `subject` shows in these runs of one cell."""
    found = []
    for operation in OPERATIONS:
        if not all(sum(run.counters.get(f"{operation}.count", ())) > 0 for run in runs):
            continue
        found.append(_rate(subject, operation, "count", runs))
        if operation in ("read", "write"):
            found.append(_rate(subject, operation, "bytes", runs))
        found.append(_mean_latency(subject, operation, runs))
        for name, quantile in PERCENTILES.items():
            values = [_quantile(run.latencies[operation], quantile) for run in runs]
            found.append(_over_runs(f"{operation}.latency.{name}", subject, "ns", values))
        longest = [float(run.latencies[operation]["max"]) for run in runs]
        method = f"longest of {len(runs)} runs" if len(runs) > 1 else "longest of one run"
        unbounded = intervals.none(method, len(runs))
        found.append(Estimate(f"{operation}.latency.max", subject, max(longest), "ns", unbounded))
    return found


def _rate(subject: str, operation: str, counter: str, runs: Sequence[WindowData]) -> Estimate:
    metric, unit = _rate_name(operation, counter)
    key = f"{operation}.{counter}"
    per_run = [sum(run.counters[key]) / run.length_ns * NANOSECONDS for run in runs]
    if len(runs) > 1:
        return _over_runs(metric, subject, unit, per_run)
    (run,) = runs
    batch_means = [
        sum(run.counters[key][batch]) / max(sum(run.lengths_ns[batch]), 1) * NANOSECONDS
        for batch in intervals.batches(len(run.lengths_ns))
    ]
    return Estimate(metric, subject, per_run[0], unit, _within(batch_means))


def _rate_name(operation: str, counter: str) -> tuple[str, str]:
    if counter == "bytes":
        return f"{operation}.bandwidth", "B/s"
    return (f"{operation}.iops" if operation in ("read", "write") else f"{operation}.rate"), "1/s"


def _mean_latency(subject: str, operation: str, runs: Sequence[WindowData]) -> Estimate:
    metric = f"{operation}.latency.mean"
    total, count = f"{operation}.latency_sum", f"{operation}.count"
    per_run = [sum(run.counters[total]) / sum(run.counters[count]) for run in runs]
    if len(runs) > 1:
        return _over_runs(metric, subject, "ns", per_run)
    (run,) = runs
    slices = intervals.batches(len(run.lengths_ns))
    counts = [sum(run.counters[count][batch]) for batch in slices]
    sums = [sum(run.counters[total][batch]) for batch in slices]
    batch_means = [s / n for s, n in zip(sums, counts, strict=True)] if all(counts) else []
    return Estimate(metric, subject, per_run[0], "ns", _within(batch_means))


def _within(batch_means: Sequence[float]) -> Interval:
    if not batch_means:
        return intervals.none("one run, too few intervals")
    return intervals.of_batches(batch_means)


def _over_runs(metric: str, subject: str, unit: str, values: Sequence[float]) -> Estimate:
    sampling = intervals.of_runs(values) if len(values) > 1 else intervals.none("one run")
    return Estimate(metric, subject, fmean(values), unit, sampling)


def _quantile(latencies: Mapping[str, Any], quantile: float) -> float:
    return float(next(value for q, value in latencies["quantiles"] if q == quantile))
