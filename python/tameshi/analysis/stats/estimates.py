"""Estimates of one cell: rates, bandwidths and latencies of each stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tameshi.analysis.stats import intervals
from tameshi.analysis.stats.intervals import Interval, digits

OPERATIONS = ("read", "write", "sync", "commit", "trim", "transaction")
MOVING = ("read", "write", "trim")
PERCENTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
NANOSECONDS = 1e9
RESOLUTION = 0.001
"""Relative resolution of a three-digit histogram: the least width of a percentile's interval."""
ONE_DEVIATION = "one_deviation"
ONE_PERCENTILE = "one_percentile"


@dataclass(frozen=True)
class WindowData:
    """Window of one stream in one run.

    `counters[metric]` holds one value per recorded interval, `lengths_ns` the lengths in the same
    order. `latencies[operation]` holds the window's latency statistics in ns; it is empty without
    histograms for this window. If recorded, it includes `intervals` (per quantile as text, `{below:
    [..], counts: [..]}` of every interval) and `curve` (`[[share, latency], ..]`, shares
    ascending).
    """

    length_ns: int
    lengths_ns: Sequence[int]
    counters: Mapping[str, Sequence[float]]
    latencies: Mapping[str, Mapping[str, Any]]
    repetition: int = 0


@dataclass(frozen=True)
class ModelInterval:
    """Model error of a figure, apart from the variation between repetitions.

    `fitted_on`: figures the model was fitted to, if they alone put it inside the validated range.
    """

    low: float
    high: float
    validated_on: str
    inside_range: bool
    fitted_on: str = ""
    of: Mapping[str, str] = field(default_factory=dict)
    """Facts that ratios need: kind of drive and digest of its storage, or the key of a
    database's facts."""

    def as_json(self) -> dict[str, Any]:
        """Return the form of results.json."""
        return {
            "low": digits(self.low),
            "high": digits(self.high),
            "validated_on": self.validated_on,
            "inside_range": self.inside_range,
            **({"fitted_on": self.fitted_on} if self.fitted_on else {}),
            **self.of,
        }


@dataclass(frozen=True)
class Estimate:
    """Value with its uncertainty.

    `sampling`: sampling error; `model`: model error. `operations`: number of operations behind a
    standard deviation or maximum, which depend on it and on the drive's size. `at_most`: arrival
    rate in open loop, the upper end of its intervals.
    """

    metric: str
    subject: str
    value: float
    unit: str
    sampling: Interval
    by_repetition: Mapping[int, float] = field(default_factory=dict)
    model: ModelInterval | None = None
    operations: int | None = None
    at_most: float | None = None


def entry(window: str, estimate: Estimate, scale: int) -> dict[str, Any]:
    """Return an estimate over a window in the form of results.json."""
    return {
        "metric": estimate.metric,
        "subject": estimate.subject,
        "window": window,
        "value": digits(estimate.value),
        "unit": estimate.unit,
        "sampling": estimate.sampling.as_json(),
        "by_repetition": {str(run): digits(v) for run, v in estimate.by_repetition.items()},
        "model": estimate.model.as_json() if estimate.model else None,
        "scale": scale,
        **({} if estimate.operations is None else {"operations": estimate.operations}),
        **({} if estimate.at_most is None else {"at_most": digits(estimate.at_most)}),
    }


def of_phase(cell: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a cell's estimates over its phase's own window."""
    own = cell.get("phase")
    return [each for each in cell.get("estimates", ()) if each.get("window", own) == own]


def estimates(
    subject: str, runs: Sequence[WindowData], asked: Iterable[str] = ()
) -> list[Estimate]:
    """Return every metric of the stream `subject` in these runs of one cell.

    A rate counts runs without the operation as zero; a latency leaves them out. Percentiles `asked`
    for, such as `p95` or `p9999`, complement the usual ones.
    """
    metrics = []
    percentiles = PERCENTILES | {name: level_of(name) for name in asked}
    for operation in OPERATIONS:
        showing = present(operation, runs)
        if not showing:
            continue
        for counter in ("count", "bytes") if operation in MOVING else ("count",):
            metrics.append(_rate(subject, operation, counter, runs))
        metrics.append(_mean_latency(subject, operation, showing))
        timed = [run for run in showing if operation in run.latencies]
        if timed:
            for name, level in percentiles.items():
                metrics.append(_percentile(subject, operation, name, level, timed))
            metrics.append(_deviation(subject, operation, timed))
            metrics.append(_longest(subject, operation, timed))
    return metrics


def level_of(name: str) -> float:
    """Return the share of a percentile's name: two digits before the decimal point."""
    return float(f"{name[1:3]}.{name[3:] or 0}") / 100


def present(operation: str, runs: Sequence[WindowData]) -> list[WindowData]:
    """Return the runs that completed the operation at least once."""
    return [run for run in runs if sum(run.counters.get(f"{operation}.count", ())) > 0]


def rate_of(run: WindowData, key: str) -> float:
    """Return a counter per second over the window."""
    count = sum(run.counters.get(key, ()))
    return count / run.length_ns * NANOSECONDS if count else 0.0


def rate_name(operation: str, counter: str) -> tuple[str, str]:
    """Return metric and unit of a counter's rate."""
    if counter == "bytes":
        return f"{operation}.bandwidth", "B/s"
    return (f"{operation}.iops" if operation in MOVING else f"{operation}.rate"), "1/s"


def _rate(subject: str, operation: str, counter: str, runs: Sequence[WindowData]) -> Estimate:
    metric, unit = rate_name(operation, counter)
    key = f"{operation}.{counter}"
    values = {run.repetition: rate_of(run, key) for run in runs}
    if len(runs) > 1:
        return _over_runs(metric, subject, unit, values)
    (run,) = runs
    (value,) = values.values()
    sampling = intervals.within(run.counters[key], run.lengths_ns, value)
    return Estimate(metric, subject, value, unit, sampling, values)


def _mean_latency(subject: str, operation: str, runs: Sequence[WindowData]) -> Estimate:
    metric = f"{operation}.latency.mean"
    total, count = f"{operation}.latency_sum", f"{operation}.count"
    values = {run.repetition: sum(run.counters[total]) / sum(run.counters[count]) for run in runs}
    if len(runs) > 1:
        return _over_runs(metric, subject, "ns", values)
    (run,) = runs
    (value,) = values.values()
    sampling = intervals.within(run.counters[total], run.counters[count], value)
    return Estimate(metric, subject, value, "ns", sampling, values)


def _percentile(
    subject: str, operation: str, name: str, level: float, runs: Sequence[WindowData]
) -> Estimate:
    metric = f"{operation}.latency.{name}"
    values = {run.repetition: _quantile(run.latencies[operation], level) for run in runs}
    if len(runs) > 1:
        return _over_runs(metric, subject, "ns", values, RESOLUTION)
    (value,) = values.values()
    sampling = _percentile_within(runs[0].latencies[operation], level)
    return Estimate(metric, subject, value, "ns", sampling, values)


def _percentile_within(latencies: Mapping[str, Any], level: float) -> Interval:
    series = latencies.get("intervals", {}).get(str(level))
    if series is None:
        return intervals.none(ONE_PERCENTILE)
    curve = latencies["curve"]

    def value_at(share: float) -> float:
        return float(next((value for reached, value in curve if reached >= share), curve[-1][1]))

    interval = intervals.of_quantile(level, series["below"], series["counts"], value_at)
    if interval.low is None or interval.high is None:
        return interval
    value = _quantile(latencies, level)
    low, high = value * (1 - RESOLUTION), value * (1 + RESOLUTION)
    return replace(interval, low=min(interval.low, low), high=max(interval.high, high))


def _deviation(subject: str, operation: str, runs: Sequence[WindowData]) -> Estimate:
    """Return the standard deviation of single latencies, which is no error of their mean."""
    metric = f"{operation}.latency.stddev"
    values = {r.repetition: float(r.latencies[operation]["standard_deviation"]) for r in runs}
    if len(runs) > 1:
        estimate = _over_runs(metric, subject, "ns", values, RESOLUTION)
        return replace(estimate, operations=_counted(operation, runs))
    (value,) = values.values()
    sampling, count = intervals.none(ONE_DEVIATION), _counted(operation, runs)
    return Estimate(metric, subject, value, "ns", sampling, values, operations=count)


def _longest(subject: str, operation: str, runs: Sequence[WindowData]) -> Estimate:
    values = {run.repetition: float(run.latencies[operation]["max"]) for run in runs}
    unbounded = intervals.none("extreme", len(runs))
    longest, count = max(values.values()), _counted(operation, runs)
    metric = f"{operation}.latency.max"
    return Estimate(metric, subject, longest, "ns", unbounded, values, operations=count)


def _counted(operation: str, runs: Sequence[WindowData]) -> int:
    """Return operations in the windows of all runs."""
    return int(sum(sum(run.counters[f"{operation}.count"]) for run in runs))


def _over_runs(
    metric: str, subject: str, unit: str, values: Mapping[int, float], resolution: float = 0.0
) -> Estimate:
    each = list(values.values())
    sampling = intervals.of_runs(each, resolution)
    return Estimate(metric, subject, intervals.centre(each), unit, sampling, values)


def _quantile(latencies: Mapping[str, Any], level: float) -> float:
    listed = (value for reached, value in latencies["quantiles"] if reached == level)
    latency = next(listed, None)
    if latency is None:
        curve = latencies["curve"]
        latency = next((value for reached, value in curve if reached >= level), curve[-1][1])
    return float(latency)
