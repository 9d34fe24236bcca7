"""Families of metrics: what the runs have written, their progress, and the study's."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tameshi.core import compiled
from tameshi.monitor.run_files import NANOSECONDS, RunFiles
from tameshi.run.display import Display, Remaining

PREFIX = "tameshi_"
KEPT_SECONDS = 60.0
"""Time for which an ended run is still served: several scrapes."""
MOST_ENDED = 50
"""Ended runs that are kept at most."""
RUN = ["run", "world"]
UNITS = {"ns": ("_ns", "_seconds", 1e-9), "nJ": ("_nj", "_joules", 1e-9)}
"""Units that the format wants as seconds and joules: ending, new ending, factor."""
SERIES = ("counter", "gauge", "peak")
"""Kinds of metrics that series hold."""
QUANTILES = {"p50_ns": "0.5", "p99_ns": "0.99", "p999_ns": "0.999"}


@dataclass
class _Watched:
    """Run that is served, with its last progress."""

    label: str
    world: str
    files: RunFiles
    progress: Mapping[str, Any]
    ended_s: float | None = None

    @property
    def values(self) -> list[str]:
        return [self.label, self.world]


class Exposition(Collector):
    """Collector of a study: notes what the display gets, and reads files when it is asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, _Watched] = {}
        self._registry = {m["name"]: m for m in compiled.metrics() if m["kind"] in SERIES}
        self._kinds = {name: metric["kind"] for name, metric in self._registry.items()}
        self._planned = 0
        self._ends: dict[str, int] = {}
        self._remaining = Remaining()
        self._asked = False

    def begin(self, runs: int, total_ns: int | None) -> None:
        """Note the begin of a study, or of the next step of a search."""
        with self._lock:
            self._planned += runs
            self._remaining = Remaining(total_ns)

    def began(self, label: str, world: str, folder: Path) -> None:
        """Note the begin of a run."""
        with self._lock:
            self._runs[label] = _Watched(label, world, RunFiles(folder, self._kinds), {})

    def progress(self, label: str, stage: str, progress: Mapping[str, Any]) -> None:
        """Note the progress of a run."""
        with self._lock:
            if label in self._runs:
                self._runs[label].progress = {"stage": stage, **progress}
            if stage == "run":
                self._remaining.progress(label, int(progress.get("elapsed_ns", 0)))

    def ended(self, label: str, status: str, length_ns: int) -> None:
        """Note the end of a run; read its last lines if anybody reads them."""
        with self._lock:
            self._ends[status] = self._ends.get(status, 0) + 1
            self._remaining.ended(label, length_ns)
            run = self._runs.get(label)
            if run is None:
                return
            run.ended_s, run.progress = time.monotonic(), {}
            if self._asked:
                run.files.catch_up()
            self._forget()

    def _forget(self) -> None:
        """Drop runs that ended long ago."""
        ended = [run for run in self._runs.values() if run.ended_s is not None]
        late = time.monotonic() - KEPT_SECONDS
        surplus = len(ended) - MOST_ENDED
        for place, run in enumerate(sorted(ended, key=lambda run: run.ended_s or 0.0)):
            if place < surplus or (run.ended_s or 0.0) < late:
                del self._runs[run.label]

    def collect(self) -> Iterator[Metric]:
        """Yield all families; read what running runs have added."""
        with self._lock:
            self._asked = True
            self._forget()
            runs = list(self._runs.values())
            for run in runs:
                if run.ended_s is None:
                    run.files.catch_up()
            families = [
                *self._of_study(),
                *_of_progress(runs),
                *self._of_series(runs),
                _latencies(runs),
            ]
        yield from families

    def _of_study(self) -> Iterator[Metric]:
        planned = GaugeMetricFamily(f"{PREFIX}runs_planned", "runs that this command makes")
        planned.add_metric([], self._planned)
        yield planned
        made = CounterMetricFamily(f"{PREFIX}runs", "runs that have ended", labels=["status"])
        for status in ("complete", "partial", "failed"):
            made.add_metric([status], self._ends.get(status, 0))
        yield made
        share = GaugeMetricFamily(f"{PREFIX}progress_ratio", "completed share of the runs' time")
        share.add_metric([], self._remaining.fraction() or 0.0)
        yield share
        left_s = self._remaining.seconds()
        if left_s is not None:
            left = GaugeMetricFamily(f"{PREFIX}remaining_seconds", "time left at the pace so far")
            left.add_metric([], left_s)
            yield left

    def _of_series(self, runs: list[_Watched]) -> Iterator[Metric]:
        """Yield a family per metric of the registry that any run has recorded."""
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for run in runs:
            for values, make in (
                (run.files.counters, CounterMetricFamily),
                (run.files.states, GaugeMetricFamily),
            ):
                for (metric, subject), value in values.items():
                    name, factor = exposed(metric, self._registry[metric]["unit"])
                    if metric not in families:
                        words = self._registry[metric]["en"]
                        families[metric] = make(name, words, labels=[*RUN, "subject"])
                    families[metric].add_metric([*run.values, subject], value * factor)
        yield from families.values()


def exposed(metric: str, unit: str) -> tuple[str, float]:
    """Return the name of a metric of the registry in the format, and the factor of its values."""
    name = PREFIX + metric.replace(".", "_")
    if unit not in UNITS:
        return name, 1.0
    ending, new, factor = UNITS[unit]
    return (name.replace(ending, "") if ending in name else name) + new, factor


def _of_progress(runs: list[_Watched]) -> Iterator[Metric]:
    """Yield the progress of current runs, whose clock is virtual in a simulated run."""
    elapsed = GaugeMetricFamily(f"{PREFIX}run_elapsed_seconds", "time of the run", labels=RUN)
    phase = GaugeMetricFamily(
        f"{PREFIX}run_phase", "number of the current phase", labels=[*RUN, "phase"]
    )
    stream = [*RUN, "subject"]
    rate = GaugeMetricFamily(
        f"{PREFIX}stream_operations_per_second", "rate in the last interval", labels=stream
    )
    bandwidth = GaugeMetricFamily(
        f"{PREFIX}stream_bytes_per_second", "bandwidth in the last interval", labels=stream
    )
    latency = GaugeMetricFamily(
        f"{PREFIX}stream_latency_seconds",
        "latency quantiles in the last interval",
        labels=[*stream, "quantile"],
    )
    for run in runs:
        progress = run.progress
        if "elapsed_ns" not in progress:
            continue
        elapsed.add_metric(run.values, progress["elapsed_ns"] / NANOSECONDS)
        doing = progress.get("doing") or {}
        number = progress.get("phase", 0)
        phase.add_metric([*run.values, str(doing.get("name", number))], number)
        for each in progress.get("streams", ()):
            values = [*run.values, each["name"]]
            rate.add_metric(values, each["operations_per_second"])
            bandwidth.add_metric(values, each["bytes_per_second"])
            for key, quantile in QUANTILES.items():
                latency.add_metric([*values, quantile], each[key] / NANOSECONDS)
    yield from (elapsed, phase, rate, bandwidth, latency)


def _latencies(runs: list[_Watched]) -> Metric:
    """Return the latency histograms of streams and programs by operation."""
    family = HistogramMetricFamily(
        f"{PREFIX}latency_seconds", "latency by operation", labels=[*RUN, "subject", "operation"]
    )
    for run in runs:
        for (stream, operation), buckets in run.files.latencies.items():
            values = [*run.values, stream, operation]
            family.add_metric(values, buckets.cumulative(), buckets.sum_s)
    return family


class WatchedDisplay:
    """Display that also tells an exposition."""

    def __init__(self, shown: Display, exposition: Exposition) -> None:
        self._shown = shown
        self._exposition = exposition

    def begin(self, runs: int, finished: int, total_ns: int | None) -> None:
        """Start a study."""
        self._exposition.begin(runs, total_ns)
        self._shown.begin(runs, finished, total_ns)

    def began(self, run: str, world: str, folder: Path) -> None:
        """Begin a run."""
        self._exposition.began(run, world, folder)
        self._shown.began(run, world, folder)

    def run(self, run: str, stage: str, progress: Mapping[str, Any]) -> None:
        """Show a run's progress."""
        self._exposition.progress(run, stage, progress)
        self._shown.run(run, stage, progress)

    def ended(self, run: str, status: str, reason: str | None, length_ns: int) -> None:
        """End a run."""
        self._exposition.ended(run, status, length_ns)
        self._shown.ended(run, status, reason, length_ns)

    def say(self, line: str) -> None:
        """Print a line."""
        self._shown.say(line)

    def close(self) -> None:
        """End the study."""
        self._shown.close()
